import { type ListedName, mostCounted } from '@masthead/contract'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from '../address.tsx'
import { formatDate, formatDaysAway, formatMoney, formatNumber } from '../design/formats.ts'
import { detailOf, useAccount } from '../records/account-name.tsx'
import { sumOf } from '../records/decimals.ts'
import { type Field, fieldsOf, isBlank } from '../records/fields.ts'
import type { AnyRecord } from '../records/kinds.ts'
import { addDays, useToday } from '../records/today.ts'
import { Value } from '../records/value.tsx'
import { useMasthead } from '../session.tsx'
import { layoutOf } from './layouts.ts'

/** What a reader looks for first, on top of the page. */
export const Lead = ({ name, record }: { name: ListedName; record: AnyRecord }) => {
  if (name === 'accounts') return <AccountLead accountId={String(record.accountId)} />
  if (name === 'publications') return <PublicationLead publicationId={record.id} />
  const fields = fieldsOf(name)
  const shown = layoutOf(name).lead.flatMap((one) => fields.find((field) => field.name === one) ?? [])
  if (shown.length === 0) return null
  return (
    <dl className="lead">
      {shown.map((field) => (
        <LeadField key={field.name} name={name} field={field} record={record} />
      ))}
    </dl>
  )
}

const labels: Readonly<Record<string, string>> = {
  accountId: 'For',
  publicationId: 'Title',
  expireDate: 'Until',
  totalDue: 'Owed',
  userId: 'Who',
  dueDate: 'Due',
}

type LeadFieldProps = { name: ListedName; field: Field; record: AnyRecord }

const LeadField = ({ name, field, record }: LeadFieldProps) => {
  const value = record[field.name]
  const label = name === 'contacts' && field.name === 'accountId' ? 'At' : (labels[field.name] ?? field.label)
  if (isBlank(value))
    return (
      <Fact label={label}>
        <span className="muted">{field.name === 'userId' ? 'Nobody' : '–'}</span>
      </Fact>
    )
  if (field.reference === 'accounts') return <AccountFact label={label} accountId={String(value)} />
  if (field.kind === 'date')
    return (
      <Fact label={label} detail={<Away day={String(value)} isOpen={isOpen(name, record)} />}>
        <time dateTime={String(value)}>{formatDate(String(value))}</time>
      </Fact>
    )
  const whole = field.name === 'totalDue' ? (record.total ?? record.totalNetCharge) : null
  return (
    <Fact label={label} detail={typeof whole === 'string' && `of ${formatMoney(whole)}`}>
      <Value field={field} value={value} />
    </Fact>
  )
}

/** Something is still to be done, and late when its day has passed. */
const isOpen = (name: ListedName, record: AnyRecord): boolean =>
  (name === 'invoices' && record.isOpen === 1) || (name === 'tasks' && record.doneAt === null)

const Away = ({ day, isOpen }: { day: string; isOpen: boolean }) => {
  const today = useToday()
  const isLate = today !== undefined && isOpen && day < today
  return (
    <span className={isLate ? 'late' : undefined}>
      {isLate && 'Overdue · '}
      {today ? formatDaysAway(day, today) : '…'}
    </span>
  )
}

const Fact = ({ label, detail, children }: { label: string; detail?: ReactNode; children: ReactNode }) => (
  <div className="card">
    <dt>{label}</dt>
    <dd>
      <bdi className="lead-value">{children}</bdi>
      {detail && (
        <small>
          <bdi>{detail}</bdi>
        </small>
      )}
    </dd>
  </div>
)

const AccountFact = ({ label, accountId }: { label: string; accountId: string }) => {
  const { data: account } = useAccount(accountId)
  return (
    <Fact label={label} detail={account?.company ? detailOf(account) : account?.city}>
      <Link to="/accounts/$id" id={accountId} title={account?.company ?? undefined}>
        {account?.company ?? accountId}
      </Link>
    </Fact>
  )
}

const mostSummed = 200

/** What an account owes, until when it subscribes, and what is to be done for it. */
const AccountLead = ({ accountId }: { accountId: string }) => {
  const masthead = useMasthead()
  const today = useToday() ?? ''
  const { data: open } = useQuery({
    queryKey: ['invoices', 'open', accountId],
    queryFn: ({ signal }) =>
      masthead.invoices
        .list({ accountId, isOpen: true, sort: 'dueDate', pageSize: mostSummed }, { signal })
        .then(({ items, total }) => ({ items, total })),
  })
  const { data: active } = useQuery({
    queryKey: ['subscriptions', 'active', accountId],
    queryFn: ({ signal }) =>
      masthead.subscriptions
        .list({ accountId, status: 'active', sort: '-expireDate', pageSize: 1 }, { signal })
        .then(({ items: [last], total }) => ({ until: last?.expireDate ?? null, total })),
  })
  const { data: tasks } = useQuery({
    queryKey: ['tasks', 'open', accountId],
    queryFn: ({ signal }) =>
      masthead.tasks
        .list({ accountId, open: true, sort: 'dueDate', pageSize: 1 }, { signal })
        .then(({ items: [next], total }) => ({ next: next?.dueDate ?? null, total })),
  })
  const areAll = open && open.total === open.items.length
  const overdue = open?.items.filter(({ dueDate }) => dueDate !== null && dueDate < today).length ?? 0
  return (
    <dl className="lead">
      <Fact
        label="Owes"
        detail={
          open && (
            <Link to="/invoices" parameters={{ accountId, isOpen: 'true', sort: 'dueDate' }}>
              <span className={overdue > 0 ? 'late' : undefined}>
                {counted(open.total, 'open invoice')}
                {overdue > 0 && `, ${formatNumber(overdue)} overdue`}
              </span>
            </Link>
          )
        }
      >
        {/* Of more than a page there is no sum. */}
        {open ? (areAll ? formatMoney(sumOf(open.items.map(({ totalDue }) => totalDue ?? '0.00'))) : '–') : '…'}
      </Fact>
      <Fact
        label="Subscribes until"
        detail={
          active && (
            <Link to="/subscriptions" parameters={{ accountId, status: 'active', sort: '-expireDate' }}>
              {counted(active.total, 'active subscription')}
            </Link>
          )
        }
      >
        {active ? active.until ? <time dateTime={active.until}>{formatDate(active.until)}</time> : '–' : '…'}
      </Fact>
      <Fact
        label="Next task"
        detail={
          tasks && (
            <Link to="/tasks" parameters={{ accountId, open: 'true', sort: 'dueDate' }}>
              {counted(tasks.total, 'open task')}
            </Link>
          )
        }
      >
        {tasks ? tasks.next ? <time dateTime={tasks.next}>{formatDate(tasks.next)}</time> : '–' : '…'}
      </Fact>
    </dl>
  )
}

const renewalDays = 30

/** How many read a title, and how many of them are about to stop. */
const PublicationLead = ({ publicationId }: { publicationId: string }) => {
  const today = useToday()
  const active = { publicationId, status: 'active' }
  return (
    <dl className="lead">
      <CountFact label="Active subscriptions" parameters={active} />
      {today && (
        <CountFact
          label={`End within ${renewalDays} days`}
          parameters={{ ...active, expireDateFrom: today, expireDateTo: addDays(today, renewalDays - 1) }}
        />
      )}
    </dl>
  )
}

const CountFact = ({ label, parameters }: { label: string; parameters: Readonly<Record<string, string>> }) => {
  const masthead = useMasthead()
  const { data } = useQuery({
    queryKey: ['subscriptions', 'count', parameters],
    queryFn: ({ signal }) =>
      masthead.subscriptions.list({ ...parameters, pageSize: 1 }, { signal }).then(({ total }) => ({ total })),
  })
  return (
    <Fact label={label}>
      <Link to="/subscriptions" parameters={parameters}>
        {data ? (data.total === null ? `More than ${formatNumber(mostCounted)}` : formatNumber(data.total)) : '…'}
      </Link>
    </Fact>
  )
}

const counted = (total: number | null, what: string): string => {
  if (total === null) return `More than ${formatNumber(mostCounted)} ${what}s`
  return total === 1 ? `1 ${what}` : `${total === 0 ? 'No' : formatNumber(total)} ${what}s`
}
