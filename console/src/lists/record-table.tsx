import type { ListedName } from '@masthead/contract'
import { useNavigate } from '@tanstack/react-router'
import { type MouseEvent, type RefObject, useMemo, useRef } from 'react'
import { Link } from '../address.tsx'
import { Badge } from '../design/badge.tsx'
import { useKeys } from '../design/keys.tsx'
import { AccountNames } from '../records/account-names.tsx'
import { type Field, fieldsOf, isBlank } from '../records/fields.ts'
import { type AnyRecord, isDeleted, kinds, titleOf } from '../records/kinds.ts'
import { Value } from '../records/value.tsx'
import { useLeftRow } from './left-row.ts'
import { ChooseAll, ChooseRow, type Selection } from './selection.tsx'
import { SortedHeading, type Sorting, titleSortOf } from './sorting.tsx'

/** Numbers are compared by their ends. */
const isAmount = ({ kind }: Field): boolean => ['money', 'number', 'integer'].includes(kind)
/** What is short, and is read at one glance. */
const isShort = ({ kind, known, reference }: Field): boolean =>
  reference === null && (kind !== 'text' || known.length > 0)

type RecordTableProps = {
  name: ListedName
  records: readonly AnyRecord[]
  /** The fields to show beside the title. */
  shown: readonly string[]
  /** What the table is called, for who does not see it. */
  caption: string
  /** The records are those of the page before. */
  isWaiting?: boolean
  /** The table that a page is about: keys move in it, and who comes back finds the row that they left. */
  isMain?: boolean
  /** The headings sort, where the list can. */
  sorting?: Sorting
  /** Rows can be chosen. */
  selection?: Selection | undefined
}

/** Records in rows; the title leads to the record, and so does a click anywhere in the row. */
export const RecordTable = ({
  name,
  records,
  shown,
  caption,
  isWaiting = false,
  isMain = false,
  sorting,
  selection,
}: RecordTableProps) => {
  const fields = useMemo(() => shownFields(name, shown), [name, shown])
  const body = useRef<HTMLTableSectionElement>(null)
  useKeys(isMain ? rowKeys(body) : {})
  const leave = useLeftRow(isMain, body)
  const open = useOpenRow(name, leave)
  return (
    <AccountNames records={shown.includes('accountId') && name !== 'accounts' ? records : []}>
      <table className="records" data-waiting={isWaiting} aria-busy={isWaiting}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {selection && <ChooseAll records={records} {...selection} />}
            <SortedHeading field={titleSortOf(name)} name={name} sorting={sorting}>
              {kinds[name].titleLabel}
            </SortedHeading>
            {fields.map((field) => (
              <SortedHeading
                key={field.name}
                field={field.name}
                isAmount={isAmount(field)}
                description={field.description}
                name={name}
                sorting={sorting}
              >
                {field.label}
              </SortedHeading>
            ))}
          </tr>
        </thead>
        <tbody ref={body} data-wraps>
          {records.map((record) => (
            <tr
              key={record.id}
              data-id={record.id}
              data-gone={isDeleted(record)}
              data-chosen={selection?.chosen.has(record.id)}
              onClick={(event) => open(event, record.id)}
            >
              {selection && <ChooseRow record={record} title={titleOf(name, record)} {...selection} />}
              <td className="title-cell">
                <Link to={kinds[name].one} id={record.id} className="title-link" onClick={() => leave(record.id)}>
                  <bdi>{titleOf(name, record)}</bdi>
                </Link>
                <span className="marks">
                  <Marks record={record} />
                </span>
              </td>
              {fields.map((field) => (
                <Cell key={field.name} field={field} value={record[field.name]} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </AccountNames>
  )
}

/** In the order in which they were chosen. */
const shownFields = (name: ListedName, shown: readonly string[]): Field[] => {
  const fields = fieldsOf(name)
  return shown.flatMap((one) => fields.find((field) => field.name === one) ?? [])
}

const Cell = ({ field, value }: { field: Field; value: unknown }) => {
  const isNote = field.content === 'notes'
  return (
    <td
      className={isBlank(value) ? 'blank' : isAmount(field) ? 'end' : isShort(field) ? 'short' : undefined}
      data-label={field.label}
      // Notes may be pages long. What is too much for the cell can still be read.
      title={isNote && typeof value === 'string' && value.length > longNote ? value : undefined}
    >
      {isNote ? (
        <span className="note">
          <Value field={field} value={value} />
        </span>
      ) : (
        <Value field={field} value={value} />
      )}
    </td>
  )
}

const longNote = 60

/** What sets a record apart from those that lists show by themselves. */
export const Marks = ({ record }: { record: AnyRecord }) => (
  <>
    {isDeleted(record) && <Badge tone="problem">Deleted</Badge>}
    {record.hideContact === true && <Badge tone="caution">Hidden</Badge>}
    {record.subsOnly === true && <Badge>Subscriptions only</Badge>}
    {typeof record.doneAt === 'string' && <Badge tone="good">Done</Badge>}
    {record.doNotEmail === true && <Badge>No e-mail</Badge>}
  </>
)

const useOpenRow = (name: ListedName, leave: (id: string) => void) => {
  const navigate = useNavigate()
  return (event: MouseEvent, id: string) => {
    const isOnControl = event.target instanceof Element && event.target.closest('a, button, input, label')
    // Who marks text in a row does not want to leave it.
    if (isOnControl || getSelection()?.isCollapsed === false) return
    leave(id)
    // The address of the link, because that also names the tenant.
    const link = event.currentTarget.querySelector<HTMLAnchorElement>('.title-link')
    if (link && (event.metaKey || event.ctrlKey)) window.open(link.href)
    else navigate({ to: kinds[name].one, params: { id } })
  }
}

const rowKeys = (body: RefObject<HTMLTableSectionElement | null>) => {
  const move = (step: number) => () => {
    const links = [...(body.current?.querySelectorAll<HTMLElement>('.title-link') ?? [])]
    const at = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement))
    const next = at === -1 && step < 0 ? links.length - 1 : at + step
    links[Math.min(Math.max(next, 0), links.length - 1)]?.focus()
  }
  return { j: move(1), ArrowDown: move(1), k: move(-1), ArrowUp: move(-1) }
}
