import { identifiersOf, type ListedName } from '@masthead/contract'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, usePathId } from '../address.tsx'
import { CopyButton } from '../design/copy-button.tsx'
import { PageHead } from '../design/page-head.tsx'
import { Loading, Trouble } from '../design/states.tsx'
import { useMasthead } from '../session.tsx'
import { fieldsOf, isStatus } from './fields.ts'
import { relatedTo } from './filters.ts'
import { type AnyRecord, kinds, titleOf } from './kinds.ts'
import { recordQuery } from './queries.ts'
import { Marks } from './record-table.tsx'
import { RelatedRecords } from './related-records.tsx'
import { Status, Value } from './value.tsx'

type RecordPageProps = {
  name: ListedName
  /** Buttons in the head. */
  actions?: (record: AnyRecord) => ReactNode
  /** What follows them. */
  children?: (record: AnyRecord) => ReactNode
}

/** A page with one record: all its fields, and the records that belong to it. */
export const RecordPage = ({ name, actions, children }: RecordPageProps) => {
  const id = usePathId()
  const masthead = useMasthead()
  const { data: record, error, refetch } = useQuery(recordQuery(masthead, name, id))
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
  return (
    <div className="page">
      <PageHead
        title={titleOf(name, record)}
        crumbs={crumbs}
        marks={
          <>
            {typeof status === 'string' && status !== '' && <Status status={status} />}
            <Marks record={record} />
          </>
        }
        actions={actions?.(record)}
      />
      <Properties name={name} record={record} />
      {relatedTo(name).map((related) => (
        <RelatedRecords
          key={`${related.name} ${related.field}`}
          {...related}
          value={String(record[identifiersOf(name).canonical.name])}
          showsLeftOut={kinds[name].showsLeftOut}
        />
      ))}
      {children?.(record)}
    </div>
  )
}

const isLong = (value: unknown): boolean => typeof value === 'string' && value.length > 80

/** Every field of the record; those that hold nothing stand together at the end. */
const Properties = ({ name, record }: { name: ListedName; record: AnyRecord }) => {
  // The status stands beside the title.
  const all = fieldsOf(name).filter((field) => !isStatus(field))
  // What the service makes is of less interest than the rest.
  const fields = [...all.filter((field) => field.default === null), ...all.filter((field) => field.default !== null)]
  const isBlank = (field: string) => record[field] === null || record[field] === ''
  const blank = fields.filter((field) => isBlank(field.name))
  return (
    <section className="card" aria-label="Details">
      <dl className="properties">
        {fields
          .filter((field) => !isBlank(field.name))
          .map((field) => (
            <div key={field.name} className={isLong(record[field.name]) ? 'wide' : undefined}>
              <dt title={field.description}>{field.label}</dt>
              <dd className={field.name === 'id' ? 'with-button' : undefined}>
                <Value field={field} value={record[field.name]} />
                {field.name === 'id' && <CopyButton text={record.id} label="Copy the id" />}
              </dd>
            </div>
          ))}
        {blank.length > 0 && (
          <div className="wide">
            <dt>Not filled</dt>
            <dd className="muted">{blank.map(({ label }) => label).join(', ')}</dd>
          </div>
        )}
      </dl>
    </section>
  )
}
