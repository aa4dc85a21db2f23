import { fieldOf, type ListedName, longest, type Resource, type ResourceName, resources } from '@masthead/contract'
import { useEffect, useId, useRef, useState } from 'react'
import { Link, type Parameters, useSetParameters } from '../address.tsx'
import { formatStatus } from '../design/formats.ts'
import { SearchIcon } from '../design/icons.tsx'
import { AccountField } from '../forms/account-field.tsx'
import { type Filter, filtersOf, firstPage, isFiltered, parametersOf } from '../records/filters.ts'
import { kinds } from '../records/kinds.ts'
import { usePublications } from '../records/publications.ts'
import { RangeChoice } from './range-choice.tsx'
import { SortChoice } from './sorting.tsx'

type Control = { filter: Filter; value: string; onChange: (value: string | undefined) => void }

/** Every filter of the list, as the contract has it. What is chosen stands in the address. */
export const Toolbar = ({
  name,
  parameters,
  children,
}: {
  name: ListedName
  parameters: Parameters
  children: React.ReactNode
}) => {
  const setParameters = useSetParameters()
  const id = useId()
  const controlOf = (filter: Filter): Control => ({
    filter,
    value: parameters[filter.name] ?? '',
    onChange: (value) => setParameters({ [filter.name]: value, ...firstPage }, { replace: true }),
  })
  const { searches, includes, usual, further } = placed(name)
  const countChosen = (among: readonly Filter[]): number =>
    among.filter((filter) => filter.parameters.some((parameter) => parameters[parameter])).length
  const chosen = countChosen(further)
  const chosenOfAll = countChosen([...usual, ...includes, ...further])
  const [isOpen, setOpen] = useState(chosen > 0)
  // Who follows a link to a filter sees it.
  useEffect(() => {
    if (chosen > 0) setOpen(true)
  }, [chosen])
  const controls = (filters: readonly Filter[]) =>
    filters.map((filter) => (
      <FilterControl key={filter.name} name={name} parameters={parameters} {...controlOf(filter)} />
    ))
  return (
    <search className="toolbar-frame" data-open={isOpen}>
      <div className="toolbar">
        {controls([...searches, ...usual])}
        {includes.length > 0 && (
          <fieldset className="bare field">
            <legend className="field-label">Also show</legend>
            <div className="flags">
              {includes.map(controlOf).map(({ filter, value, onChange }) => (
                <label key={filter.name} className="checkbox" title={filter.description}>
                  <input
                    type="checkbox"
                    checked={value === 'true'}
                    onChange={({ target: { checked } }) => onChange(checked ? 'true' : undefined)}
                  />
                  {filter.label}
                </label>
              ))}
            </div>
          </fieldset>
        )}
        <SortChoice name={name} parameters={parameters} />
        <div className="push">
          <Chosen name={name} parameters={parameters} />
          {further.length > 0 && (
            <button
              type="button"
              className="button"
              aria-expanded={isOpen}
              aria-controls={`${id}-further`}
              onClick={() => setOpen(!isOpen)}
            >
              <span className="only-wide">{chosen > 0 ? `More filters (${chosen})` : 'More filters'}</span>
              <span className="only-narrow">{chosenOfAll > 0 ? `Filters (${chosenOfAll})` : 'Filters and order'}</span>
            </button>
          )}
          {children}
        </div>
      </div>
      <div className="toolbar" id={`${id}-further`} hidden={!isOpen}>
        {isOpen && controls(further)}
      </div>
    </search>
  )
}

/** Which controls are always seen: those that people ask for most, and of which the service keeps totals. */
const placed = (name: ListedName) => {
  const filters = filtersOf(name)
  const { listing }: Resource = resources[name]
  const isUsual = ({ name: filter, kind }: Filter): boolean =>
    kinds[name].filters.includes(filter) ||
    kind === 'status' ||
    (typeof kind === 'object' && 'reference' in kind) ||
    Object.hasOwn(listing?.onlyWithout ?? {}, filter) ||
    listing?.filters.includes(filter) === true
  return {
    searches: filters.filter(({ kind }) => kind === 'search'),
    includes: filters.filter(({ kind }) => kind === 'include'),
    usual: filters.filter((filter) => isUsual(filter)),
    further: filters.filter((filter) => !isUsual(filter) && filter.kind !== 'search' && filter.kind !== 'include'),
  }
}

/** That the list is not all of it, and the way to all of it. */
const Chosen = ({ name, parameters }: { name: ListedName; parameters: Parameters }) => {
  if (!isFiltered(name, parameters)) return null
  const count = parameters.ids?.split(',').length
  const nothing = Object.fromEntries(parametersOf(name).map((parameter) => [parameter, undefined]))
  return (
    <p className="muted small all-records">
      {count !== undefined &&
        `Only ${count === 1 ? 'one record that was chosen' : `${count} records that were chosen`}. `}
      <Link to={kinds[name].list} parameters={{ ...parameters, ...nothing, ...firstPage }}>
        Clear all filters
      </Link>
    </p>
  )
}

type FilterControlProps = Control & { name: ListedName; parameters: Parameters }

const FilterControl = ({ name, parameters, ...control }: FilterControlProps) => {
  const { kind } = control.filter
  if (typeof kind === 'object')
    return 'range' in kind ? (
      <RangeChoice filter={control.filter} range={kind.range} parameters={parameters} />
    ) : (
      <ReferenceChoice reference={kind.reference} {...control} />
    )
  switch (kind) {
    case 'search':
      return <SearchBox {...control} />
    case 'status':
      return <StatusChoice name={name} {...control} />
    case 'either':
      return (
        <Choice
          {...control}
          options={[
            ['true', 'Yes'],
            ['false', 'No'],
          ]}
        />
      )
    default:
      return <TypedChoice {...control} />
  }
}

const ReferenceChoice = ({ reference, ...control }: Control & { reference: ResourceName }) => {
  if (reference === 'publications') return <PublicationChoice {...control} />
  if (reference === 'accounts') return <AccountChoice {...control} />
  return <TypedChoice {...control} />
}

const pauseMilliseconds = 200

/** What is typed goes into the address when the typing pauses, and what the address says stands in the box. */
const useTyped = (value: string, onChange: Control['onChange']) => {
  const [text, setText] = useState(value)
  const sent = useRef(value)
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setText(value)
  }, [value])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      latest.current(text || undefined)
    }, pauseMilliseconds)
    return () => clearTimeout(timer)
  }, [text])
  return [text, setText] as const
}

const SearchBox = ({ filter: { description }, value, onChange }: Control) => {
  const [text, setText] = useTyped(value, onChange)
  return (
    <div className="search-box">
      <SearchIcon />
      <input
        type="search"
        className="input"
        aria-label="Search"
        placeholder="Search"
        title={description}
        maxLength={longest.search}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || text !== '') return
          event.currentTarget.blur()
        }}
      />
    </div>
  )
}

const Choice = ({
  filter,
  value,
  onChange,
  options,
}: Control & { options: readonly (readonly [string, string])[] }) => {
  const id = useId()
  const isKnown = value === '' || options.some(([one]) => one === value)
  return (
    <div className="field">
      <label htmlFor={id}>{filter.label}</label>
      <select
        id={id}
        className="select"
        title={filter.description}
        value={value}
        onChange={({ target }) => onChange(target.value || undefined)}
      >
        <option value="">Any</option>
        {options.map(([one, label]) => (
          <option key={one} value={one}>
            {label}
          </option>
        ))}
        {!isKnown && <option value={value}>{value}</option>}
      </select>
    </div>
  )
}

const StatusChoice = ({ name, ...control }: Control & { name: ListedName }) => {
  const statuses = fieldOf(name, control.filter.name).known
  const [isTyped, setTyped] = useState(false)
  if (isTyped) return <TypedChoice {...control} focuses />
  const offered = new Set([...statuses, ...(control.value ? [control.value] : [])])
  return (
    <Choice
      {...control}
      onChange={(value) => (value === other ? setTyped(true) : control.onChange(value))}
      options={[...[...offered].map((status) => [status, formatStatus(status)] as const), [other, 'Other …']]}
    />
  )
}

/** Statuses are an open set. */
const other = '…'

const PublicationChoice = (control: Control) => {
  const { publications, areAll } = usePublications()
  if (!areAll && publications.length > 0)
    return <TypedChoice {...control} suggestions={publications.map(({ code, name }) => [code, name ?? ''])} />
  return <Choice {...control} options={publications.map(({ id, name, code }) => [id, name ?? code])} />
}

const AccountChoice = ({ filter: { label }, value, onChange }: Control) => (
  <AccountField label={label} value={value} onChange={(chosen) => onChange(chosen || undefined)} isFilter />
)

type TypedChoiceProps = Control & {
  suggestions?: readonly (readonly [string, string])[]
  focuses?: boolean
}

const TypedChoice = ({ filter, value, onChange, suggestions = [], focuses }: TypedChoiceProps) => {
  const [text, setText] = useTyped(value, onChange)
  const id = useId()
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (focuses) box.current?.focus()
  }, [focuses])
  return (
    <div className="field">
      <label htmlFor={id}>{filter.label}</label>
      <input
        id={id}
        ref={box}
        className="input"
        list={`${id}-list`}
        title={filter.description}
        placeholder="Any"
        autoComplete="off"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <datalist id={`${id}-list`}>
        {suggestions.map(([one, label]) => (
          <option key={one} value={one}>
            {label}
          </option>
        ))}
      </datalist>
    </div>
  )
}
