import { isListed } from '@masthead/contract'
import '../admin/administration.css'
import type { AuditEntry } from '@masthead/client/management'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { Link, type Parameters, useParameters, useSetParameters } from '../address.tsx'
import { namesOfKinds, sentenceOf } from '../admin/audit-words.ts'
import { changesOf, Difference } from '../admin/difference.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatInstant } from '../design/formats.ts'
import { PageHead } from '../design/page-head.tsx'
import { Empty } from '../design/states.tsx'
import { beforeOf, OlderPages } from '../lists/older-pages.tsx'
import { Permitted } from '../permission.tsx'
import { kinds } from '../records/kinds.ts'
import { useManagement } from '../session.tsx'

const title = 'Audit trail'
const here = '/admin/audit'

export const Page = () => (
  <Permitted title={title} scope="audit:read">
    <Trail />
  </Permitted>
)

const Trail = () => {
  const management = useManagement()
  const parameters = useParameters()
  const asked = {
    resource: parameters.resource,
    recordId: parameters.recordId,
    includeIssued: parameters.includeIssued === 'true' || undefined,
    before: beforeOf(parameters),
  }
  const query = useQuery({
    queryKey: ['audit-entries', asked],
    queryFn: ({ signal }) => management.auditEntries.list(asked, { signal }),
    placeholderData: keepPreviousData,
  })
  return (
    <div className="page">
      <PageHead title={title}>What was done, by whom and when. Nobody can change it.</PageHead>
      <Filters parameters={parameters} />
      <Fetched query={query} what="the audit trail">
        {({ items, next }) => (
          <>
            <div className="card" aria-busy={query.isPlaceholderData}>
              {items.length === 0 ? <NothingFound /> : <Entries items={items} />}
            </div>
            <OlderPages to={here} parameters={parameters} next={next} />
          </>
        )}
      </Fetched>
    </div>
  )
}

const Filters = ({ parameters }: { parameters: Parameters }) => {
  const setParameters = useSetParameters()
  const id = useId()
  const { resource = '', recordId = '', includeIssued } = parameters
  const [text, setText] = useState(recordId)
  // Another address, another text.
  useEffect(() => setText(recordId), [recordId])
  const set = (changes: Parameters) => setParameters({ ...changes, before: undefined }, { replace: true })
  return (
    <search className="toolbar">
      <div className="field">
        <label htmlFor={`${id}-kind`}>Done to</label>
        <select
          id={`${id}-kind`}
          className="select"
          value={resource}
          onChange={({ target }) => set({ resource: target.value, recordId: undefined })}
        >
          <option value="">Anything</option>
          {Object.entries(namesOfKinds).map(([name, { many }]) => (
            <option key={name} value={name}>
              {many}
            </option>
          ))}
          {resource !== '' && !Object.hasOwn(namesOfKinds, resource) && <option value={resource}>{resource}</option>}
        </select>
      </div>
      <form
        className="field"
        onSubmit={(event) => {
          event.preventDefault()
          set({ recordId: text.trim() })
        }}
      >
        <label htmlFor={`${id}-record`}>Identifier</label>
        <input
          id={`${id}-record`}
          className="input"
          placeholder="Any"
          autoComplete="off"
          value={text}
          onChange={({ target }) => setText(target.value)}
          onBlur={() => text.trim() !== recordId && set({ recordId: text.trim() })}
        />
      </form>
      <div className="field">
        <span className="field-label">Also show</span>
        <div className="flags">
          <label className="checkbox">
            <input
              type="checkbox"
              checked={includeIssued === 'true'}
              onChange={({ target }) => set({ includeIssued: target.checked ? 'true' : undefined })}
            />
            Tokens handed to applications
          </label>
        </div>
      </div>
    </search>
  )
}

const NothingFound = () => (
  <Empty title="Nothing of this was done">
    <p>
      Every change of a record, every sign-in and all that concerns access stands here. <Link to={here}>Show all</Link>
    </p>
  </Empty>
)

const Entries = ({ items }: { items: readonly AuditEntry[] }) => (
  <ol className="trail" aria-label={title}>
    {items.map((entry) => (
      <Entry key={entry.number} entry={entry} />
    ))}
  </ol>
)

const Entry = ({ entry }: { entry: AuditEntry }) => {
  const { at, author, action, resource, recordId, before, after, isErased } = entry
  const changes = changesOf(before, after)
  return (
    <li>
      <div className="trail-line">
        <strong>{nameOf(author)}</strong> <span>{sentenceOf(action, resource)}</span> <Thing entry={entry} />
        <time dateTime={at}>{formatInstant(at)}</time>
      </div>
      <details>
        <summary>
          Details<span className="visually-hidden"> of entry {entry.number}</span>
        </summary>
        {isErased && <p className="small">What was noted of it has been erased, as the person asked.</p>}
        {changes.length > 0 && <Difference changes={changes} />}
        <p className="trail-facts">
          <span>
            {resource} <code>{recordId}</code>
          </span>
          <Link to={here} parameters={{ resource, recordId }}>
            All that was done to it
          </Link>
        </p>
        <p className="trail-facts">
          <span>By {kindsOfAuthors[author.kind] ?? author.kind}</span>
          {author.application !== null && <span>through {author.application}</span>}
          {author.address !== null && <span>from {author.address}</span>}
          {author.requestId !== null && (
            <span>
              request <code>{author.requestId}</code>
            </span>
          )}
          <span>entry {entry.number}</span>
        </p>
      </details>
    </li>
  )
}

const kindsOfAuthors: Readonly<Record<string, string>> = {
  personal: 'a personal access token',
  service: 'a service token',
  delegated: 'somebody who is signed in',
  visitor: 'a visitor of the sign-in pages',
  operator: 'the operator of the service',
  masthead: 'Masthead itself',
  import: 'an import',
}

const nameOf = ({ kind, name, address }: AuditEntry['author']): string => {
  if (kind === 'masthead') return 'Masthead'
  if (kind === 'visitor') return `A visitor from ${address}`
  if (kind === 'operator') return `Operator ${name ?? ''}`
  if (kind === 'import') return `An import of ${name ?? 'the operator'}`
  return name ?? 'Somebody who is gone'
}

/** By its name, where what was noted of it tells one; it leads to the record, where that has a page. */
const Thing = ({ entry: { action, resource, recordId, recordName, before, after } }: { entry: AuditEntry }) => {
  const name =
    recordName ?? titleIn(after) ?? titleIn(before) ?? (recordId.length > 24 ? `…${recordId.slice(-6)}` : recordId)
  // There is one at most, and the sentence names it.
  if (resource === 'legacy_systems') return null
  if (resource === 'webhook_endpoints' && action !== 'deleted')
    return (
      <Link to="/admin/webhooks/$id" id={recordId}>
        {name}
      </Link>
    )
  if (!isListed(resource)) return <span>{name}</span>
  return (
    <Link to={kinds[resource].one} id={recordId}>
      {name}
    </Link>
  )
}

const titles = ['name', 'company', 'email', 'title', 'subscriptionId', 'code', 'invoiceDescription', 'url']

const titleIn = (values: unknown): string | undefined => {
  if (typeof values !== 'object' || values === null) return undefined
  const found = titles.flatMap((title) => Object.entries(values).filter(([name]) => name === title))
  const [, text] = found.find(([, value]) => typeof value === 'string' && value !== '') ?? []
  return typeof text === 'string' ? text : undefined
}
