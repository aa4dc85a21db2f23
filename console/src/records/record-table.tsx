import type { ListedName } from '@masthead/contract'
import { useNavigate } from '@tanstack/react-router'
import { type MouseEvent, type RefObject, useMemo, useRef } from 'react'
import { Link } from '../address.tsx'
import { Badge } from '../design/badge.tsx'
import { useKeys } from '../design/keys.tsx'
import { type Field, fieldsOf } from './fields.ts'
import { type AnyRecord, kinds, titleOf } from './kinds.ts'
import { Value } from './value.tsx'

/** Numbers are compared by their ends. */
const isAmount = ({ kind }: Field): boolean => ['money', 'number', 'integer'].includes(kind)

type RecordTableProps = {
  name: ListedName
  records: readonly AnyRecord[]
  /** The fields to show beside the title. */
  shown: readonly string[]
  /** What the table is called, for who does not see it. */
  caption: string
  /** The records are those of the page before. */
  isWaiting?: boolean
  /** Keys move in the main table of a page, not in those beside it. */
  takesKeys?: boolean
}

/** Records in rows; the first cell leads to the record, and so does a click anywhere in the row. */
export const RecordTable = ({
  name,
  records,
  shown,
  caption,
  isWaiting = false,
  takesKeys = false,
}: RecordTableProps) => {
  const fields = useMemo(() => shownFields(name, shown), [name, shown])
  const body = useRef<HTMLTableSectionElement>(null)
  useKeys(takesKeys ? rowKeys(body) : {})
  const open = useOpenRow(name)
  return (
    <table className="records" data-waiting={isWaiting} aria-busy={isWaiting}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{kinds[name].titleLabel}</th>
          {fields.map((field) => (
            <th key={field.name} scope="col" className={isAmount(field) ? 'end' : undefined} title={field.description}>
              {field.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {records.map((record) => (
          <tr key={record.id} data-gone={isGone(record)} onClick={(event) => open(event, record.id)}>
            <td>
              <Link to={kinds[name].one} id={record.id} className="title-link">
                {titleOf(name, record)}
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
  )
}

/** In the order in which they were chosen. */
const shownFields = (name: ListedName, shown: readonly string[]): Field[] => {
  const fields = fieldsOf(name)
  return shown.flatMap((one) => fields.find((field) => field.name === one) ?? [])
}

const Cell = ({ field, value }: { field: Field; value: unknown }) => {
  const isBlank = value === null || value === ''
  return (
    <td
      className={isBlank ? 'blank' : isAmount(field) ? 'end' : undefined}
      data-label={field.label}
      // What is too long for the cell can still be read.
      title={field.kind === 'text' && typeof value === 'string' && value.length > 24 ? value : undefined}
    >
      <Value field={field} value={value} />
    </td>
  )
}

const isGone = (record: AnyRecord): boolean => typeof record.deletedAt === 'string'

/** What sets a record apart from those that lists show by themselves. */
export const Marks = ({ record }: { record: AnyRecord }) => (
  <>
    {isGone(record) && <Badge tone="problem">Deleted</Badge>}
    {record.hideContact === true && <Badge tone="caution">Hidden</Badge>}
    {record.subsOnly === true && <Badge>Subscriptions only</Badge>}
    {record.doNotEmail === true && <Badge>No e-mail</Badge>}
  </>
)

const useOpenRow = (name: ListedName) => {
  const navigate = useNavigate()
  return (event: MouseEvent, id: string) => {
    const isOnLink = event.target instanceof Element && event.target.closest('a, button')
    // Who marks text in a row does not want to leave it.
    if (isOnLink || getSelection()?.isCollapsed === false) return
    if (event.metaKey || event.ctrlKey) window.open(kinds[name].one.replace('$id', encodeURIComponent(id)))
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
