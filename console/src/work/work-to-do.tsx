import './work-to-do.css'
import type { ListedName } from '@masthead/contract'
import { mostCounted } from '@masthead/contract'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, type Parameters } from '../address.tsx'
import { formatNumber } from '../design/formats.ts'
import type { Path } from '../paths.ts'
import { queryOf } from '../records/filters.ts'
import { kinds } from '../records/kinds.ts'
import { pageQuery } from '../records/queries.ts'
import { useToday } from '../records/today.ts'
import { useManagement, useMasthead, useMe } from '../session.tsx'
import { endpointsQuery } from '../webhooks/queries.ts'
import { MyTasks } from './my-tasks.tsx'

/** What waits for somebody, each with the way to the list of it. */
export const WorkToDo = () => {
  const isAdmin = useMe().tenant.role === 'admin'
  return (
    <section aria-labelledby="to-do">
      <h2 id="to-do" className="visually-hidden">
        To do
      </h2>
      <ul className="work">
        <Listed name="invoices" label="Overdue invoices" parameters={{ overdue: 'true', sort: 'dueDate' }} isBad />
        <Listed
          name="subscriptions"
          label="Renewals in the next 30 days"
          parameters={{ status: 'active', renewalDate: 'next-30-days', sort: 'renewalDate' }}
        />
        <Listed
          name="subscriptions"
          label="Subscriptions in grace"
          parameters={{ status: 'grace', sort: 'expireDate' }}
        />
        <MyTasks>
          {(parameters, more) => <Listed name="tasks" label="My open tasks" parameters={parameters} more={more} />}
        </MyTasks>
        {isAdmin && <Imports />}
        {isAdmin && <Deliveries />}
      </ul>
    </section>
  )
}

type ListedProps = {
  name: ListedName
  label: string
  parameters: Parameters
  /** None is how it should be. */
  isBad?: boolean
  more?: ReactNode
}

/** How many records a list has. */
const Listed = ({ name, label, parameters, isBad = false, more }: ListedProps) => {
  const today = useToday()
  const query = { ...queryOf(name, parameters, today), pageSize: 1 }
  const { data, error } = useQuery({ ...pageQuery(useMasthead(), name, query), enabled: today !== undefined })
  const count = data && (data.total ?? Number.POSITIVE_INFINITY)
  return (
    <Item
      to={kinds[name].list}
      label={label}
      parameters={parameters}
      count={count}
      isBad={isBad}
      more={more}
      error={error}
    />
  )
}

/** Only those that are neither completed nor undone are still somebody's work. */
const Imports = () => {
  const management = useManagement()
  const { data, error } = useQuery({
    queryKey: ['imports'],
    queryFn: ({ signal }) => management.imports.list({ signal }),
  })
  const count = data?.items.filter(({ state }) => state === 'interrupted').length
  return (
    <Item
      to="/admin/imports"
      label="Interrupted imports"
      count={count}
      error={error}
      parameters={{ state: 'interrupted' }}
      isBad
    />
  )
}

const Deliveries = () => {
  const management = useManagement()
  const { data, error } = useQuery({ ...endpointsQuery(management), refetchInterval: false })
  const failing = data?.items.filter(({ failed }) => failed > 0)
  const count = failing?.reduce((sum, { failed }) => sum + failed, 0)
  const label = 'Failed deliveries'
  const [only, second] = failing ?? []
  if (only && !second)
    return (
      <Item
        to="/admin/webhooks/$id"
        id={only.id}
        label={label}
        count={count}
        error={error}
        parameters={{ state: 'failed' }}
        isBad
      />
    )
  return <Item to="/admin/webhooks" label={label} count={count} error={error} parameters={{}} isBad />
}

type ItemProps = {
  to: Path
  id?: string
  label: string
  parameters: Parameters
  count: number | undefined
  error: unknown
  isBad?: boolean
  more?: ReactNode
}

const Item = ({ to, id, label, parameters, count, error, isBad = false, more }: ItemProps) => (
  <li className="card work-item" data-bad={isBad && count !== undefined && count > 0}>
    <Link to={to} {...(id !== undefined && { id })} parameters={parameters} className="work-link">
      <span className="muted">{label}</span> <strong className="number">{error ? 'unknown' : wordsOf(count)}</strong>
    </Link>
    {more}
  </li>
)

const wordsOf = (count: number | undefined): string => {
  if (count === undefined) return '–'
  return Number.isFinite(count) ? formatNumber(count) : `${formatNumber(mostCounted)}+`
}
