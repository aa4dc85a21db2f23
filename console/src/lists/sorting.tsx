import { fieldOf, type ListedName } from '@masthead/contract'
import { type ReactNode, useId } from 'react'
import { Link, type Parameters, useSetParameters } from '../address.tsx'
import { labelOf } from '../records/fields.ts'
import { firstPage, sortOf, sortsOf } from '../records/filters.ts'
import { kinds } from '../records/kinds.ts'

/** How the address of a list sorts it. */
export type Sorting = { parameters: Parameters }

/** The first field of those that name a record by which the list can be sorted. */
export const titleSortOf = (name: ListedName): string | undefined =>
  kinds[name].titles.find((field) => sortsOf(name).includes(field))

type SortedHeadingProps = {
  name: ListedName
  field: string | undefined
  sorting: Sorting | undefined
  isAmount?: boolean
  description?: string
  children: ReactNode
}

/** The heading of a column; where the list can be sorted by it, a link that does so, then turns the order around, then gives it up. */
export const SortedHeading = (props: SortedHeadingProps) => {
  const { name, field, sorting, isAmount = false, description, children } = props
  const className = isAmount ? 'end' : undefined
  if (!sorting || field === undefined || !sortsOf(name).includes(field))
    return (
      <th scope="col" className={className} title={description}>
        {children}
      </th>
    )
  const sort = sortOf(name, sorting.parameters)
  const order = sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : undefined
  return (
    <th scope="col" className={className} title={description} aria-sort={order}>
      <Link
        to={kinds[name].list}
        parameters={{ ...sorting.parameters, ...firstPage, sort: nextSort(name, field, sort) }}
        className="sorts"
      >
        {children}
        <span className="sort-mark" aria-hidden="true">
          {order === 'ascending' ? '↑' : order === 'descending' ? '↓' : '↕'}
        </span>
      </Link>
    </th>
  )
}

const nextSort = (name: ListedName, field: string, sort: string | null): string | undefined => {
  const [first, second] = ordersOf(name, field)
  const usual = kinds[name].sort
  const next = sort === first ? second : sort === second && usual !== second ? usual : first
  return next === null || next === usual ? undefined : next
}

/** Names are looked up from A to Z, and the latest days and the largest amounts come first. */
const ordersOf = (name: ListedName, field: string): [string, string] =>
  isName(name, field) ? [field, `-${field}`] : [`-${field}`, field]

const isName = (name: ListedName, field: string): boolean => fieldOf(name, field).kind === 'text'

/** The same choice where a small screen has no room for headings. */
export const SortChoice = ({ name, parameters }: { name: ListedName; parameters: Parameters }) => {
  const setParameters = useSetParameters()
  const id = useId()
  const usual = kinds[name].sort
  return (
    <div className="field only-narrow">
      <label htmlFor={id}>Sort</label>
      <select
        id={id}
        className="select"
        value={sortOf(name, parameters) ?? ''}
        onChange={({ target: { value } }) =>
          setParameters({ ...firstPage, sort: value === usual ? undefined : value }, { replace: true })
        }
      >
        {usual === null && <option value="">In order of arrival</option>}
        {sortsOf(name).flatMap((field) =>
          ordersOf(name, field).map((sort) => (
            <option key={sort} value={sort}>{`${labelOf(field)}, ${wordsOf(name, field, sort)}`}</option>
          )),
        )}
      </select>
    </div>
  )
}

const wordsOf = (name: ListedName, field: string, sort: string): string => {
  const isDescending = sort.startsWith('-')
  const { kind } = fieldOf(name, field)
  if (kind === 'text') return isDescending ? 'Z to A' : 'A to Z'
  if (kind === 'date' || kind === 'timestamp') return isDescending ? 'latest first' : 'earliest first'
  return isDescending ? 'largest first' : 'smallest first'
}
