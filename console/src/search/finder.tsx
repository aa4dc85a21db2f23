import './finder.css'
import { fieldOf, type ListedName } from '@masthead/contract'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Dialog } from '../design/dialog.tsx'
import { formatDate, formatMoney, formatStatus } from '../design/formats.ts'
import { SearchIcon } from '../design/icons.tsx'
import { isComposing } from '../design/keys.tsx'
import { usePaused } from '../design/paused.ts'
import { Trouble } from '../design/states.tsx'
import { Marks } from '../lists/record-table.tsx'
import { AccountNames, useAccountName } from '../records/account-names.tsx'
import { type AnyRecord, kinds, titleOf } from '../records/kinds.ts'
import { usePublicationName } from '../records/publications.ts'
import { type Group, useFound, useRecent } from './found.ts'

type Choice = { key: string; name: ListedName; record: AnyRecord | null; group: Group }

/** One search over all records (the combobox of the ARIA practices, always open). */
export const Finder = ({ onClose }: { onClose: () => void }) => {
  const [text, setText] = useState('')
  const words = usePaused(text).trim()
  const recent = useRecent()
  const { groups: found, isSearching, isOutdated, error } = useFound(words)
  const groups = words === '' ? recent : found
  const choices = groups.flatMap(choicesOf)
  const [wanted, setAt] = useState(0)
  const at = Math.min(wanted, choices.length - 1)
  const active = choices[at]
  const navigate = useNavigate()
  const id = useId()
  const box = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The dialog has given the focus to its first button.
    box.current?.focus()
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one may be out of sight
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [active?.key])
  const open = ({ name, record, group }: Choice) => {
    onClose()
    if (record) navigate({ to: kinds[name].one, params: { id: record.id } })
    else navigate({ to: kinds[name].list, search: group.all ?? {} })
  }
  const isTyping = text.trim() !== words
  const press = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && choices.length > 0) setAt((at + step + choices.length) % choices.length)
    // Who types and presses Enter at once does not mean what is still shown of other words.
    else if (event.key === 'Enter' && active && !isTyping && !isOutdated) open(active)
    else return
    event.preventDefault()
  }
  const isWaiting = isTyping || isOutdated || (isSearching && choices.length === 0)
  const status = statusOf(words, isWaiting, choices.length)
  return (
    <Dialog title="Search" isWide onClose={onClose}>
      <div className="finder">
        <div className="search-box">
          <SearchIcon />
          <input
            ref={box}
            className="input"
            role="combobox"
            aria-label="Search everything"
            aria-expanded={choices.length > 0}
            aria-autocomplete="list"
            aria-controls={`${id}-found`}
            aria-activedescendant={active && `${id}-${at}`}
            placeholder="Name, e-mail address, or number"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={({ target }) => {
              setText(target.value)
              setAt(0)
            }}
            onKeyDown={press}
          />
        </div>
        {error !== null && <Trouble error={error} />}
        <AccountNames records={groups.flatMap(({ name, records }) => (name === 'accounts' ? [] : records))}>
          <div id={`${id}-found`} ref={list} className="found" role="listbox" aria-label="Found" tabIndex={-1}>
            {choices.map((choice, index) => (
              <Option
                key={choice.key}
                id={`${id}-${index}`}
                choice={choice}
                words={words}
                isFirst={choice.group.label !== choices[index - 1]?.group.label}
                isActive={index === at}
                onPoint={() => setAt(index)}
                onOpen={() => open(choice)}
              />
            ))}
          </div>
        </AccountNames>
        <output className={choices.length === 0 ? 'muted' : 'visually-hidden'}>{status}</output>
      </div>
    </Dialog>
  )
}

const choicesOf = (group: Group): Choice[] => [
  ...group.records.map((record) => ({ key: `${group.name} ${record.id}`, name: group.name, record, group })),
  ...(group.all ? [{ key: `${group.name} all`, name: group.name, record: null, group }] : []),
]

const statusOf = (words: string, isWaiting: boolean, count: number): string => {
  if (isWaiting) return 'Searching …'
  if (words === '') return count === 0 ? 'Records that you open are offered here the next time.' : ''
  if (count > 0) return count === 1 ? 'One found' : `${count} found`
  return 'Nothing matches. Subscriptions and invoices are found by their identifiers, and by the names of their customers.'
}

type OptionProps = {
  id: string
  choice: Choice
  words: string
  /** The first of its group is below its name. */
  isFirst: boolean
  isActive: boolean
  onPoint: () => void
  onOpen: () => void
}

const Option = ({ id, choice: { name, record, group }, words, isFirst, isActive, onPoint, onOpen }: OptionProps) => {
  const { Icon, plural, singular } = kinds[name]
  return (
    <>
      {isFirst && (
        <div className="found-heading" role="presentation">
          {group.label}
        </div>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys act on the box, which keeps the focus */}
      <div
        id={id}
        className="found-option"
        role="option"
        tabIndex={-1}
        aria-selected={isActive}
        onMouseDown={(event) => event.preventDefault()}
        onMouseMove={() => isActive || onPoint()}
        onClick={onOpen}
      >
        <Icon />
        {record ? (
          <span className="grow">
            <span className="visually-hidden">{singular} </span>
            <strong>
              <bdi>{titleOf(name, record)}</bdi>
            </strong>{' '}
            <Marks record={record} />
            <Detail name={name} record={record} />
          </span>
        ) : (
          <span className="grow">{`All ${plural.toLowerCase()} with “${words}”`}</span>
        )}
      </div>
    </>
  )
}

/** What tells records of one name apart. */
const Detail = ({ name, record }: { name: ListedName; record: AnyRecord }) => {
  const parts: ReactNode[] = [
    name !== 'accounts' && <Customer key="customer" id={textOf(record.accountId)} />,
    name === 'accounts' && textOf(record.accountId),
    textOf(record.city),
    textOf(record.email),
    typeof record.publicationId === 'string' && <Title key="title" id={record.publicationId} />,
    typeof record.status === 'string' && formatStatus(record.status),
    ...['expireDate', 'dueDate'].map((field) => dayOf(name, record, field)),
    typeof record.total === 'string' && formatMoney(record.total),
  ]
  const given = parts.filter((part) => part !== false && part !== '')
  return (
    <span className="found-detail muted small">
      {given.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one record keep their places
        <span key={index}>{part}</span>
      ))}
    </span>
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

const dayOf = (name: ListedName, record: AnyRecord, field: string): string => {
  const day = textOf(record[field])
  return day && `${fieldOf(name, field).name === 'dueDate' ? 'due' : 'expires'} ${formatDate(day)}`
}

const Customer = ({ id }: { id: string }) => {
  const name = useAccountName(id)
  return name === undefined ? id : `${name}, ${id}`
}

const Title = ({ id }: { id: string }) => usePublicationName(id) ?? ''
