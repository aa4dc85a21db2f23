import '../admin/administration.css'
import './record-page.css'
import { type ListedName, type Resource, resources } from '@masthead/contract'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, usePathId } from '../address.tsx'
import { shownErrorOf } from '../design/fetched.tsx'
import { PageHead } from '../design/page-head.tsx'
import { Loading, Trouble } from '../design/states.tsx'
import { Marks } from '../lists/record-table.tsx'
import { type AnyRecord, kinds, titleOf } from '../records/kinds.ts'
import { recordQuery } from '../records/queries.ts'
import { Status } from '../records/value.tsx'
import { useVisit } from '../records/visits.ts'
import { useMasthead } from '../session.tsx'
import { AccountTasks } from './account-tasks.tsx'
import { Facts } from './facts.tsx'
import { headingOf } from './heading.ts'
import { layoutOf } from './layouts.ts'
import { Lead } from './lead.tsx'
import { RawRecord } from './raw-record.tsx'
import { RelatedRecords } from './related-records.tsx'
import { Timeline } from './timeline.tsx'

type RecordPageProps = {
  name: ListedName
  /** Buttons in the head. */
  actions?: (record: AnyRecord) => ReactNode
  /** What follows its facts. */
  children?: (record: AnyRecord) => ReactNode
}

/** A page with one record: what matters first, all its facts, what happened to it, and the records that belong to it. */
export const RecordPage = ({ name, actions, children }: RecordPageProps) => {
  const id = usePathId()
  const masthead = useMasthead()
  const query = useQuery(recordQuery(masthead, name, id))
  const { data: record, refetch } = query
  const error = shownErrorOf(query)
  useVisit(name, record?.id)
  const { plural, list, singular } = kinds[name]
  const crumbs = <Link to={list}>{plural}</Link>
  if (error)
    return (
      <div className="page">
        <PageHead title={`This ${singular} cannot be shown`} crumbs={crumbs} />
        <Trouble error={error} onRetry={() => refetch()} />
      </div>
    )
  if (!record)
    return (
      <div className="page">
        <Loading what={`the ${singular}`} />
      </div>
    )
  const { status } = record
  const layout = layoutOf(name)
  const tasksOf = layout.tasksOf === undefined ? undefined : record[layout.tasksOf]
  return (
    // What was begun for a record, such as a task for its account, is not about the next one.
    <div key={record.id} className="page">
      <PageHead
        title={headingOf(name, record)}
        crumbs={crumbs}
        marks={
          <>
            {typeof status === 'string' && status !== '' && <Status status={status} />}
            <Marks record={record} />
          </>
        }
        actions={actions?.(record)}
      >
        {numberOf(name, record)}
      </PageHead>
      <Lead name={name} record={record} />
      <div className="record-body">
        <Facts name={name} record={record} />
        <div className="record-side">
          {typeof tasksOf === 'string' && (
            <AccountTasks
              key={tasksOf}
              accountId={tasksOf}
              heading={name === 'accounts' ? 'Tasks' : 'Tasks for the account'}
            />
          )}
          <Timeline name={name} record={record} />
        </div>
      </div>
      {children?.(record)}
      {layout.related(record).map((related) => (
        <RelatedRecords key={related.heading} {...related} />
      ))}
      <RawRecord name={name} record={record} />
    </div>
  )
}

/** The number by which people know it, where its title is another. */
const numberOf = (name: ListedName, record: AnyRecord): string | null => {
  const { businessIdentifier }: Resource = resources[name]
  const number = businessIdentifier === undefined ? null : record[businessIdentifier]
  return typeof number === 'string' && number !== titleOf(name, record) ? number : null
}
