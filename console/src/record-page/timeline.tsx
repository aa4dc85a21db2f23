import type { RecordChange } from '@masthead/client/management'
import { isListed, type ListedName } from '@masthead/contract'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '../address.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatAgo, formatInstant } from '../design/formats.ts'
import { useMay } from '../permission.tsx'
import { type Field, fieldsOf, isBlank } from '../records/fields.ts'
import type { AnyRecord } from '../records/kinds.ts'
import { Value } from '../records/value.tsx'
import { useManagement } from '../session.tsx'
import { excerptsOf } from './excerpts.ts'
import { NamedReference } from './reference.tsx'

/** Every change of a record: who made it, when, and what it was before and after. */
export const Timeline = ({ name, record }: { name: ListedName; record: AnyRecord }) => {
  const management = useManagement()
  const isAdmin = useMay('audit:read')
  const query = useInfiniteQuery({
    queryKey: [name, 'history', record.id],
    queryFn: ({ signal, pageParam }) =>
      management.history.list(name, record.id, pageParam === null ? {} : { before: pageParam }, { signal }),
    initialPageParam: null as number | null, // the newest
    getNextPageParam: ({ next }) => next,
  })
  return (
    <section className="card padded section timeline" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <Fetched query={query} what="the timeline">
        {({ pages }) => {
          const changes = pages.flatMap(({ items }) => items)
          return (
            <ol className="chain">
              {changes.map((change) => (
                <Change key={change.number} name={name} change={change} />
              ))}
              {!query.hasNextPage && changes.at(-1)?.action !== 'created' && <Beginning record={record} />}
            </ol>
          )
        }}
      </Fetched>
      {(query.hasNextPage || isAdmin) && (
        <div className="with-buttons">
          {query.hasNextPage && (
            <button
              type="button"
              className="button"
              aria-disabled={query.isFetchingNextPage}
              onClick={() => query.isFetchingNextPage || query.fetchNextPage()}
            >
              Older changes
            </button>
          )}
          {isAdmin && (
            <Link to="/admin/audit" parameters={{ resource: name, recordId: record.id }} className="small">
              From where, in the audit trail
            </Link>
          )}
        </div>
      )}
    </section>
  )
}

/** What an import created is noted once for all of its records. */
const Beginning = ({ record: { createdAt } }: { record: AnyRecord }) => (
  <li>
    <p className="chain-line">
      <span>Created by an import, or before changes were noted</span>
      {typeof createdAt === 'string' && <When at={createdAt} />}
    </p>
  </li>
)

const When = ({ at }: { at: string }) => (
  <time className="muted small" dateTime={at} title={formatAgo(at)}>
    {formatInstant(at)}
  </time>
)

const Change = ({ name, change }: { name: ListedName; change: RecordChange }) => {
  const { at, action, author, before, after, isErased } = change
  const differences = differencesOf(name, before, after)
  const isNew = action === 'created'
  return (
    <li>
      <p className="chain-line">
        <span>
          <bdi>{authorOf(author)}</bdi> {words[action] ?? action.replaceAll('_', ' ')}
        </span>
        <When at={at} />
      </p>
      {isErased && <p className="muted small">What was noted has been erased.</p>}
      {differences.length > 0 &&
        (isNew ? (
          <details className="folded small">
            <summary>{differences.length === 1 ? 'With one field' : `With ${differences.length} fields`}</summary>
            <Differences differences={differences} />
          </details>
        ) : (
          <Differences differences={differences} />
        ))}
    </li>
  )
}

const words: Readonly<Record<string, string>> = {
  created: 'created it',
  updated: 'changed',
  deleted: 'deleted it',
  restored: 'restored it',
  erased: 'erased what was here before',
}

const authorOf = ({ kind, name, application }: RecordChange['author']): string => {
  if (kind === 'masthead') return 'Masthead'
  if (kind === 'operator') return 'The operator'
  if (kind === 'import') return name === null ? 'An import of the operator' : `An import by ${name}`
  if (kind === 'service') return name === null ? 'An integration' : `${name} (integration)`
  const who = name ?? 'Somebody who is gone'
  // People act through the console unless something else is said.
  return application === null || application === 'Masthead Console' ? who : `${who}, through ${application},`
}

type DifferenceOf = { field: Field; before: unknown; after: unknown }

/** When it changed is told by the line itself. */
const told = ['id', 'createdAt', 'updatedAt', 'deletedAt', 'balanceCents']

const differencesOf = (name: ListedName, before: unknown, after: unknown): DifferenceOf[] => {
  const [old, now] = [asValues(before), asValues(after)]
  return fieldsOf(name)
    .map((field) => ({ field, before: old[field.name], after: now[field.name] }))
    .filter(({ field, before, after }) => {
      if (told.includes(field.name) || (isBlank(before) && isBlank(after))) return false
      return JSON.stringify(before) !== JSON.stringify(after)
    })
}

const asValues = (given: unknown): Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null ? { ...given } : {}

const Differences = ({ differences }: { differences: readonly DifferenceOf[] }) => (
  <dl className="differences">
    {differences.map(({ field, before, after }) => {
      const [was, is] = excerptsOf(before, after)
      return (
        <div key={field.name}>
          <dt>{field.label}</dt>
          <dd>
            {!isBlank(before) && (
              <del>
                <Shown field={field} value={was} />
              </del>
            )}
            {!isBlank(before) && <span aria-hidden="true"> → </span>}
            {isBlank(after) ? (
              <span className="muted">nothing</span>
            ) : (
              <ins>
                <Shown field={field} value={is} />
              </ins>
            )}
          </dd>
        </div>
      )
    })}
  </dl>
)

const Shown = ({ field, value }: { field: Field; value: unknown }) =>
  field.reference && isListed(field.reference) ? (
    <NamedReference to={field.reference} id={String(value)} />
  ) : (
    <bdi>
      <Value field={field} value={value} />
    </bdi>
  )
