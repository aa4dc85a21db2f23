import type { Account } from '@masthead/client'
import { fieldOf, type ListedName, longest, type ResourceName } from '@masthead/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useId, useRef, useState } from 'react'
import { type Parameters, useSetParameters } from '../address.tsx'
import { SearchIcon } from '../design/icons.tsx'
import { useKeys } from '../design/keys.tsx'
import { useMasthead } from '../session.tsx'
import { type Filter, filtersOf } from './filters.ts'
import { formatStatus } from './formats.ts'
import { usePublications } from './publications.ts'

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
  const filters = filtersOf(name)
  const controlOf = (filter: Filter): Control => ({
    filter,
    value: parameters[filter.name] ?? '',
    // Other filters, other pages.
    onChange: (value) => setParameters({ [filter.name]: value, page: undefined }, { replace: true }),
  })
  const controls = filters.map(controlOf)
  const searches = controls.filter(({ filter: { kind } }) => kind === 'search')
  const includes = controls.filter(({ filter: { kind } }) => kind === 'include')
  const others = controls.filter(({ filter: { kind } }) => kind !== 'search' && kind !== 'include')
  return (
    <search className="toolbar">
      {[...searches, ...others].map((control) => (
        <FilterControl key={control.filter.name} name={name} {...control} />
      ))}
      {includes.length > 0 && (
        <fieldset className="bare field">
          <legend className="field-label">Also show</legend>
          <div className="flags">
            {includes.map(({ filter, value, onChange }) => (
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
      <div className="push">{children}</div>
    </search>
  )
}

const FilterControl = ({ name, ...control }: Control & { name: ListedName }) => {
  const { kind } = control.filter
  if (typeof kind === 'object') return <ReferenceChoice reference={kind.reference} {...control} />
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
      return <TypedChoice {...control} suggestions={[]} />
  }
}

const ReferenceChoice = ({ reference, ...control }: Control & { reference: ResourceName }) => {
  if (reference === 'publications') return <PublicationChoice {...control} />
  if (reference === 'accounts') return <AccountChoice {...control} />
  return <TypedChoice {...control} suggestions={[]} />
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
  const box = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => box.current?.focus() })
  return (
    <div className="search-box">
      <SearchIcon />
      <input
        ref={box}
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
  const id = useId()
  const statuses = fieldOf(name, control.filter.name).known
  const [isTyped, setTyped] = useState(false)
  if (isTyped) return <TypedChoice {...control} suggestions={[]} focuses />
  return (
    <div className="field">
      <label htmlFor={id}>{control.filter.label}</label>
      <select
        id={id}
        className="select"
        title={control.filter.description}
        value={control.value}
        onChange={({ target }) =>
          target.value === other ? setTyped(true) : control.onChange(target.value || undefined)
        }
      >
        <option value="">Any</option>
        {[...new Set([...statuses, ...(control.value ? [control.value] : [])])].map((status) => (
          <option key={status} value={status}>
            {formatStatus(status)}
          </option>
        ))}
        <option value={other}>Other …</option>
      </select>
    </div>
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

/** The account by its identifier, or by what it is called: words find those that match. */
const AccountChoice = (control: Control) => {
  const masthead = useMasthead()
  const [words, setWords] = useState('')
  const { data } = useQuery({
    queryKey: ['accounts', 'suggested', words],
    queryFn: async ({ signal }): Promise<Account[]> =>
      (await masthead.accounts.list({ search: words, pageSize: 10 }, { signal })).items,
    enabled: words.trim() !== '',
    placeholderData: keepPreviousData,
  })
  const suggestions = (data ?? []).map(({ accountId, company }) => [accountId, company ?? ''] as const)
  return <TypedChoice {...control} suggestions={suggestions} onWords={setWords} />
}

type TypedChoiceProps = Control & {
  suggestions: readonly (readonly [string, string])[]
  onWords?: (words: string) => void
  focuses?: boolean
}

const TypedChoice = ({ filter, value, onChange, suggestions, onWords, focuses }: TypedChoiceProps) => {
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
        onChange={({ target }) => {
          setText(target.value)
          onWords?.(target.value)
        }}
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
