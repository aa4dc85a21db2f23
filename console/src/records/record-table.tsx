import { useNavigate } from '@tanstack/react-router'
import { columnVisibilityFeature, createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table'
import { type MouseEvent, useMemo, useRef } from 'react'
import { Link } from '../address.tsx'
import { Badge } from '../design/badge.tsx'
import { useKeys } from '../design/keys.tsx'
import { type Field, fieldsOf, type ListedName } from './fields.ts'
import { type AnyRecord, kinds, titleOf } from './kinds.ts'
import { Value } from './value.tsx'

const features = tableFeatures({ columnVisibilityFeature })
const column = createColumnHelper<typeof features, AnyRecord>()

const columnsOf = (name: ListedName) =>
  column.columns(
    fieldsOf(name).map((field) =>
      column.display({ id: field.name, cell: ({ row }) => <Value field={field} value={row.original[field.name]} /> }),
    ),
  )

/** Numbers are compared by their ends. */
const isAmount = ({ kind }: Field): boolean => kind === 'money' || kind === 'number'
const isShort = ({ kind }: Field): boolean =>
  isAmount({ kind } as Field) || kind === 'date' || kind === 'instant' || kind === 'status'

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
  const fields = useMemo(() => new Map(fieldsOf(name).map((field) => [field.name, field])), [name])
  const columns = useMemo(() => columnsOf(name), [name])
  const columnVisibility = useMemo(
    () => Object.fromEntries([...fields.keys()].map((field) => [field, shown.includes(field)])),
    [fields, shown],
  )
  const table = useTable({ features, columns, data: records, state: { columnVisibility }, getRowId: ({ id }) => id })
  const body = useRef<HTMLTableSectionElement>(null)
  const move = useRowKeys(body, takesKeys)
  const open = useOpenRow(name)
  const classOf = (id: string) => {
    const field = fields.get(id)
    return field && isAmount(field) ? 'end' : field && isShort(field) ? 'nowrap' : undefined
  }
  useKeys(move)
  return (
    <table className="records" data-waiting={isWaiting} aria-busy={isWaiting}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{titleLabels[name]}</th>
          {table.getVisibleLeafColumns().map(({ id }) => (
            <th key={id} scope="col" className={classOf(id)} title={fields.get(id)?.description}>
              {fields.get(id)?.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {table.getRowModel().rows.map((row) => (
          <tr key={row.id} data-gone={isGone(row.original)} onClick={(event) => open(event, row.id)}>
            <td>
              <span>
                <Link to={kinds[name].one} id={row.id} className="title-link">
                  {titleOf(name, row.original)}
                </Link>
                <span className="marks">
                  <Marks record={row.original} />
                </span>
              </span>
            </td>
            {row.getVisibleCells().map((cell) => {
              const { id } = cell.column
              const isBlank = [null, undefined, ''].includes(row.original[id] as null) // compared, whatever it is
              return (
                <td key={id} className={isBlank ? 'blank' : classOf(id)} data-label={fields.get(id)?.label}>
                  <table.FlexRender cell={cell} />
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const titleLabels: Record<ListedName, string> = {
  accounts: 'Company',
  contacts: 'Name',
  publications: 'Name',
  subscriptions: 'Subscription',
  invoices: 'Invoice',
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

const useRowKeys = (body: React.RefObject<HTMLTableSectionElement | null>, isOn: boolean) => {
  if (!isOn) return {}
  const move = (step: number) => () => {
    const links = [...(body.current?.querySelectorAll<HTMLElement>('.title-link') ?? [])]
    const at = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement))
    const next = at === -1 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1)
    links[next]?.focus()
  }
  return { j: move(1), ArrowDown: move(1), k: move(-1), ArrowUp: move(-1) }
}
