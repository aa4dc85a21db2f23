import type { Query } from '../database/connections/statement.ts'
import type { Database } from '../database/database.ts'
import type { TenantQuery } from '../database/tenant-query.ts'
import type { Author } from './author.ts'

/** What happened to one record; `before` and `after` are JSON. */
type AuditEvent = {
  action: string
  resource: string
  recordId: string
  before?: string | null
  after?: string | null
  /** The author of this event alone, where those of one call differ. */
  author?: Author
}

/** Events that belong to no tenant are stored under this one. */
export const installation = '00000000-0000-0000-0000-000000000000'

/** The events commit with the transaction that they describe. */
export const audit = async (query: TenantQuery, author: Author | null, events: readonly AuditEvent[]) => {
  await query({ text: append, values: auditValues(author, events) })
}

const append = 'select append_to_audit($1, $2, $3)'

/** Serves transactions that belong to no tenant. */
export const auditIn = async (query: Query, tenantId: string, author: Author, events: readonly AuditEvent[]) => {
  await query({ text: append, values: [tenantId, ...auditValues(author, events)] })
}

/** An event of a user appears in the log of every tenant of which the user is a member. */
export const auditUser = async (query: Query, userId: string, author: Author, event: Omit<AuditEvent, 'recordId'>) => {
  const text = 'select tenant_id as "tenantId" from memberships where user_id = $1'
  const memberships = await query<{ tenantId: string }>({ text, values: [userId] })
  const tenants = memberships.length > 0 ? memberships : [{ tenantId: installation }]
  await auditEach(query, author, { ...event, recordId: userId }, tenants)
}

/** The same event in the logs of several tenants, where each may be about another record. */
export const auditEach = async (
  query: Query,
  author: Author,
  event: Omit<AuditEvent, 'recordId'> & { recordId?: string },
  happened: readonly ({ tenantId: string } & Partial<Pick<AuditEvent, 'recordId' | 'after'>>)[],
) => {
  const byTenant = Object.entries(Object.groupBy(happened, ({ tenantId }) => tenantId))
  const events = byTenant.map(([tenant, some = []]) => {
    const written = some.map(({ tenantId, ...own }) => encoded({ recordId: '', ...event, ...own }))
    return `{"tenant":"${tenant}","events":[${written.join(',')}]}`
  })
  await query({
    text: 'select append_to_audit(tenant, $1, events) from json_to_recordset($2) as given (tenant uuid, events json)',
    values: [JSON.stringify(author), `[${events.join(',')}]`],
  })
}

/** The last two parameters of `append_to_audit`. */
const auditValues = (author: Author | null, events: readonly AuditEvent[]): [string | null, string] => [
  author && JSON.stringify(author),
  `[${events.map(encoded).join(',')}]`,
]

/** `before` and `after` are JSON already, and must not change by a letter. */
const encoded = ({ action, resource, recordId, before, after, author }: AuditEvent): string => {
  const about = JSON.stringify({ author, action, resource, record_id: recordId })
  return `${about.slice(0, -1)},"before":${before ?? 'null'},"after":${after ?? 'null'}}`
}

/** Without the key nobody can read the entries of the record. */
export const destroyKey = async (query: TenantQuery, resource: string, recordId: string): Promise<boolean> => {
  const text = 'delete from audit_keys where tenant_id = $1 and resource = $2 and record_id = $3 returning 1'
  return (await query({ text, values: [resource, recordId] })).length > 0
}

/** Whether entries of the record can still be read. */
export const isAudited = async (query: TenantQuery, resource: string, recordId: string): Promise<boolean> => {
  const text = 'select 1 from audit_keys where tenant_id = $1 and resource = $2 and record_id = $3'
  return (await query({ text, values: [resource, recordId] })).length > 0
}

const chainedAtOnce = 2_000

/** Adds waiting entries to their chains, up to a limit, and returns whether there may be more. */
export const chainWaiting = async (database: Database): Promise<boolean> => {
  const text = 'select chain_audit($1) as chained'
  const [row] = await database.query<{ chained: number }>({ text, values: [chainedAtOnce] })
  return row?.chained === chainedAtOnce
}

/** Counts entries that are not in their chains yet, up to ten thousand. */
export const countWaiting = async (query: Query): Promise<number> => {
  const [row] = await query<{ waiting: number }>({
    text: 'select count(*)::integer as waiting from (select from audit_waiting limit 10000) as counted',
  })
  return row?.waiting ?? 0
}

/** Keeps others from adding to chains until the transaction ends. */
export const lockChains = (query: Query): Promise<unknown> =>
  query({ text: `select pg_advisory_xact_lock(hashtextextended('masthead audit', 0))` })

export type Verdict = {
  entries: number
  /** Not in the chain yet. */
  waiting: number
  /** The end of the chain; null when it is empty. */
  last: { sequence: number; hash: string } | null
  /** The first place at which the chain does not hold; null when it does. */
  broken: { number: number | null; sequence: number | null; at: Date | null; reason: string } | null
}

export const verifyChain = async (query: TenantQuery): Promise<Verdict> => {
  const [counts] = await query<Omit<Verdict, 'last' | 'broken'>>({
    text: `select (select count(*) from audit_entries where tenant_id = $1) as entries,
      (select count(*) from audit_waiting where tenant_id = $1) as waiting`,
  })
  const [last] = await query<{ sequence: number; hash: string }>({
    text: `select sequence, encode(hash, 'hex') as hash from audit_links
      where tenant_id = $1 order by sequence desc limit 1`,
  })
  const [broken] = await query<NonNullable<Verdict['broken']>>({ text: firstBroken })
  return { entries: counts?.entries ?? 0, waiting: counts?.waiting ?? 0, last: last ?? null, broken: broken ?? null }
}

const digest = `audit_digest($1, ${['number', 'at', 'author', 'action', 'resource', 'record_id', 'sealed'].map((column) => `entry.${column}`).join(', ')})`

const firstBroken = `
  select * from (
    select link.number, link.sequence, entry.at, case
      when link.sequence <> link.place then 'a link of the chain before this one is missing'
      when entry.number is null then 'the entry is missing'
      when link.hash <> sha256(coalesce(link.before, audit_beginning($1)) || ${digest})
        then 'the entry or its link was changed'
    end as reason
    from (
      select number, sequence, hash, lag(hash) over chain as before, row_number() over chain as place
      from audit_links where tenant_id = $1 window chain as (order by sequence)
    ) as link
    left join audit_entries as entry on entry.tenant_id = $1 and entry.number = link.number
    union all
    select number, null, at, 'the entry is not in the chain'
    from audit_entries as entry
    where entry.tenant_id = $1
      and not exists (select from audit_links where tenant_id = $1 and audit_links.number = entry.number)
      and not exists (select from audit_waiting where tenant_id = $1 and audit_waiting.number = entry.number)
  ) as places
  where reason is not null
  order by number, sequence limit 1`

export const isInChain = async (query: TenantQuery, hash: string): Promise<boolean> => {
  const text = `select 1 from audit_links where tenant_id = $1 and hash = decode($2, 'hex')`
  return (await query({ text, values: [hash] })).length > 0
}

export type Entry = {
  number: number
  /** Its place in the chain; null while it waits for one. */
  sequence: number | null
  hash: string | null
  at: Date
  author: Author
  action: string
  resource: string
  recordId: string
  /** JSON of what was before and after; null where there was nothing to tell, or it was erased. */
  values: string | null
  isErased: boolean
}

/** What stands for the values of an entry that has none. */
export const noValues = '{"before":null,"after":null}'

export const entriesAfter = (query: TenantQuery, after: number, most: number): Promise<Entry[]> =>
  query<Entry>({
    text: `
      select entry.number, link.sequence, encode(link.hash, 'hex') as hash, entry.at, entry.author, entry.action,
        entry.resource, entry.record_id as "recordId", opened.plain as "values",
        entry.sealed is not null and opened.plain is null as "isErased"
      from (
        select * from audit_entries where tenant_id = $1 and number > $2 order by number limit $3
      ) as entry
      left join audit_links as link on link.tenant_id = $1 and link.number = entry.number
      left join audit_keys as held on held.tenant_id = $1 and held.resource = entry.resource and held.record_id = entry.record_id
      left join lateral (select audit_open(entry.sealed, held.key) as plain) as opened on true
      order by entry.number`,
    values: [after, most],
  })

type ShownEntry = Pick<Entry, 'number' | 'at' | 'action' | 'resource' | 'recordId' | 'values' | 'isErased'> & {
  /** Whom or what the identifier stands for, where it is that of a user or of a consent. */
  recordName: string | null
  author: { kind: string } & Record<'name' | 'application' | 'address' | 'requestId', string | null>
}

/** What an entry tells, and the names of its author. */
const openedAndNamed = `left join audit_keys as held on held.tenant_id = $1 and held.resource = entry.resource and held.record_id = entry.record_id
      left join lateral (select audit_open(entry.sealed, held.key) as plain) as opened on true
      left join users on users.id = (entry.author ->> 'user')::uuid
      left join former_users as former on former.id = (entry.author ->> 'user')::uuid
      left join applications on applications.id = entry.author ->> 'application'
      left join access_tokens as tokens on tokens.id = case when entry.author ->> 'kind' = 'service' then (entry.author ->> 'token')::uuid end`

/** The newest entries first, with the names of authors and of the people they concern. */
export const entriesBefore = (
  query: TenantQuery,
  given: { before?: number; resource?: string; recordId?: string; includeIssued?: boolean; most: number },
) =>
  query<ShownEntry>({
    text: `
      select entry.number, entry.at, entry.action, entry.resource, entry.record_id as "recordId",
        coalesce(subject.email, former_subject.email, allowed.name) as "recordName",
        opened.plain as "values", entry.sealed is not null and opened.plain is null as "isErased",
        json_build_object('kind', entry.author ->> 'kind', 'address', entry.author ->> 'address',
          'requestId', entry.author ->> 'requestId',
          'application', coalesce(applications.name, entry.author ->> 'application'),
          'name', coalesce(users.email, former.email, tokens.service, entry.author ->> 'name', entry.author ->> 'operator')
        ) as author
      from (
        select * from audit_entries
        where tenant_id = $1 and number < $2 and ($3::text is null or resource = $3)
          and ($4::text is null or record_id = $4) and ($6 or action not in ('token_issued', 'opened'))
        order by number desc limit $5
      ) as entry
      ${openedAndNamed}
      left join lateral (
        select case when entry.resource in ('members', 'users', 'sign_ins') and entry.record_id <> 'unknown'
          then entry.record_id::uuid end as id
      ) as person on true
      left join users as subject on subject.id = person.id
      left join former_users as former_subject on former_subject.id = person.id
      left join consents on entry.resource = 'consents' and consents.grant_id = entry.record_id
      left join applications as allowed on allowed.id = consents.application_id
      order by entry.number desc`,
    values: [
      given.before ?? Number.MAX_SAFE_INTEGER,
      given.resource ?? null,
      given.recordId ?? null,
      given.most,
      given.includeIssued ?? false,
    ],
  })

/** A change of a record, for callers who may read that record: without the operator's name, addresses and requests. */
export type RecordChange = Pick<ShownEntry, 'number' | 'at' | 'action' | 'values' | 'isErased'> & {
  author: { kind: string; name: string | null; application: string | null }
}

/** What was done to one record, the newest first. */
export const changesOfRecord = (
  query: TenantQuery,
  given: { resource: string; recordId: string; before?: number | undefined; most: number },
) =>
  query<RecordChange>({
    text: `
      select entry.number, entry.at, entry.action, opened.plain as "values",
        entry.sealed is not null and opened.plain is null as "isErased",
        json_build_object(
          'kind', case when entry.author ->> 'import' is null then entry.author ->> 'kind' else 'import' end,
          'name', coalesce(users.email, former.email, tokens.service), 'application', applications.name
        ) as author
      from (
        select * from audit_entries
        where tenant_id = $1 and record_id = $2 and resource = $3 and number < $4
        order by number desc limit $5
      ) as entry
      ${openedAndNamed}
      order by entry.number desc`,
    values: [given.recordId, given.resource, given.before ?? Number.MAX_SAFE_INTEGER, given.most],
  })
