import type { Overview } from '@masthead/client/management'
import type { ListedName } from '@masthead/contract'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, type Parameters } from '../address.tsx'
import { Bars } from '../charts/bars.tsx'
import { Columns } from '../charts/columns.tsx'
import type { Tone } from '../design/badge.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatMoney, formatMonth, formatNumber, formatShortMonth, formatStatus } from '../design/formats.ts'
import { PageHead } from '../design/page-head.tsx'
import { Loading } from '../design/states.tsx'
import { FirstSteps } from '../first-steps.tsx'
import { NewButton } from '../new-button.tsx'
import { centsOf, sumOf } from '../records/decimals.ts'
import { groupedNames, kinds } from '../records/kinds.ts'
import { pageQuery } from '../records/queries.ts'
import { addDays, monthOf, useToday } from '../records/today.ts'
import { useManagement, useMasthead, useMe } from '../session.tsx'
import { WorkToDo } from '../work/work-to-do.tsx'

/** How the business stands. */
export const Page = () => {
  const { tenant } = useMe()
  return (
    <div className="page">
      <PageHead
        title={tenant.name}
        actions={
          <>
            <NewButton what="account" />
            <NewButton what="contact" />
            <NewButton what="task" />
          </>
        }
      />
      <FirstSteps />
      <WorkToDo />
      <div className="tiles">
        {groupedNames
          .flatMap(({ names }) => names)
          .map((name) => (
            <Total key={name} name={name} />
          ))}
      </div>
      <Charts />
    </div>
  )
}

const Total = ({ name }: { name: ListedName }) => {
  const { data } = useQuery(pageQuery(useMasthead(), name, { pageSize: 1 }))
  const { plural, list } = kinds[name]
  return (
    <Link to={list} className="card tile">
      <span className="muted">{plural}</span>
      <strong className="number">{data?.total == null ? '–' : formatNumber(data.total)}</strong>
    </Link>
  )
}

const Charts = () => {
  const management = useManagement()
  const today = useToday()
  const query = useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => management.overview.get({ signal }),
    staleTime: 60_000,
  })
  if (today === undefined) return <Loading what="the figures" />
  return (
    <Fetched query={query} what="the figures">
      {({ subscriptionsByStatus, receivables, renewalsDue, subscriptionsByPublication }) => (
        <div className="charts">
          <ByStatus counted={subscriptionsByStatus} />
          <Receivables aged={receivables} today={today} />
          <RenewalsDue months={renewalsDue} today={today} />
          <ByPublication counted={subscriptionsByPublication} />
        </div>
      )}
    </Fetched>
  )
}

type ChartProps = { title: string; told: string; isEmpty?: boolean; children: ReactNode }

const Chart = ({ title, told, isEmpty = false, children }: ChartProps) => (
  <section className="card chart" aria-label={title}>
    <div className="section-head">
      <h2>{title}</h2>
      <p className="muted small">{told}</p>
    </div>
    {isEmpty ? <p className="muted">There are none yet.</p> : children}
  </section>
)

const greatest = (counted: readonly { count: number }[]): number => Math.max(1, ...counted.map(({ count }) => count))
const total = (counted: readonly { count: number }[]): number => counted.reduce((sum, { count }) => sum + count, 0)

const ByStatus = ({ counted }: { counted: Overview['subscriptionsByStatus'] }) => {
  const most = greatest(counted)
  const title = 'Subscriptions by status'
  return (
    <Chart title={title} told={`${formatNumber(total(counted))} in all`} isEmpty={counted.length === 0}>
      <Bars
        caption={title}
        head={['Status', 'Subscriptions']}
        bars={counted.map(({ status, count }) => ({
          key: status,
          label: (
            <Link to="/subscriptions" parameters={{ status }}>
              {formatStatus(status)}
            </Link>
          ),
          share: count / most,
          value: formatNumber(count),
        }))}
      />
    </Chart>
  )
}

const ByPublication = ({ counted }: { counted: Overview['subscriptionsByPublication'] }) => {
  const most = greatest(counted)
  const title = 'Subscriptions by title'
  return (
    <Chart title={title} told="Coloured: those that are active" isEmpty={counted.length === 0}>
      <Bars
        caption={title}
        head={['Title', 'Subscriptions']}
        bars={counted.map(({ publicationId, name, code, count, active }) => ({
          key: publicationId,
          label: (
            <Link to="/subscriptions" parameters={{ publicationId }}>
              {name ?? code}
            </Link>
          ),
          share: count / most,
          part: active / most,
          value: formatNumber(count),
          detail: `${formatNumber(active)} active`,
        }))}
      />
    </Chart>
  )
}

const RenewalsDue = ({ months, today }: { months: Overview['renewalsDue']; today: string }) => {
  const title = 'Renewals due'
  return (
    <Chart title={title} told={`${formatNumber(total(months))} active in twelve months`}>
      <Columns
        caption={title}
        to="/subscriptions"
        columns={months.map(({ month, count }) => ({
          key: month,
          label: formatShortMonth(month),
          fullLabel: formatMonth(month),
          count,
          parameters: renewalsOf(month, today),
        }))}
      />
    </Chart>
  )
}

/** The same records as the column counts: of the current month, only days to come. */
const renewalsOf = (month: string, today: string): Parameters => {
  const { from, to } = monthOf(`${month}-01`)
  return { status: 'active', renewalDateFrom: from > today ? from : today, renewalDateTo: to, sort: 'renewalDate' }
}

type Age = Overview['receivables'][number]['age']
const ages: Record<Age, { label: string; tone?: Tone; late?: { from?: number; to: number } }> = {
  not_due: { label: 'Not due yet' },
  '1-30': { label: '1 to 30 days late', tone: 'caution', late: { from: 30, to: 1 } },
  '31-60': { label: '31 to 60 days late', tone: 'caution', late: { from: 60, to: 31 } },
  '61-90': { label: '61 to 90 days late', tone: 'problem', late: { from: 90, to: 61 } },
  over_90: { label: 'More than 90 days late', tone: 'problem', late: { to: 91 } },
}

/** The same records as the bar sums up; an invoice that is never due is not due yet. */
const invoicesOf = (age: Age, today: string): Parameters => {
  const { late } = ages[age]
  if (!late) return { isOpen: 'true', overdue: 'false', sort: 'dueDate' }
  const from = late.from === undefined ? undefined : addDays(today, -late.from)
  return { isOpen: 'true', dueDateFrom: from, dueDateTo: addDays(today, -late.to), sort: 'dueDate' }
}

const Receivables = ({ aged, today }: { aged: Overview['receivables']; today: string }) => {
  const most = aged.map(({ totalDue }) => centsOf(totalDue)).reduce((one, other) => (one > other ? one : other), 1n)
  const title = 'Receivables by age'
  return (
    <Chart title={title} told={`${formatMoney(sumOf(aged.map(({ totalDue }) => totalDue)))} in all`}>
      <Bars
        caption={title}
        head={['Age', 'Due']}
        bars={aged.map(({ age, totalDue, count }) => ({
          key: age,
          tone: ages[age].tone,
          label: (
            <Link to="/invoices" parameters={invoicesOf(age, today)}>
              {ages[age].label}
            </Link>
          ),
          // Of a length it takes no more than a thousandth to be right.
          share: Number((centsOf(totalDue) * 1_000n) / most) / 1_000,
          value: formatMoney(totalDue),
          detail: `${formatNumber(count)} ${count === 1 ? 'invoice' : 'invoices'}`,
        }))}
      />
    </Chart>
  )
}
