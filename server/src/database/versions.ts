import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { atMost } from '../at-most.ts'
import { noTenant } from './connections/session.ts'
import type { Query } from './connections/statement.ts'
import { isShardLost } from './connections/unavailable.ts'

/**
 * Where everybody's permissions and the records of a tenant stood when the database was asked. Both are only compared: what
 * was read under another one may be out of date.
 */
export type Versions = {
  /** The history that the numbers are of: another one after a restart, a failover or a restore. */
  source: string
  identity: string
  records: string
  /** What a replica must have to answer instead; null where there is none. */
  lists: ListVersions | null
}

/** The versions of a tenant's lists in JSON, and their source, within which they can be compared. */
export type ListVersions = { versions: string; source: string }

export type AskVersions = (tenantId: string | null) => Versions | Promise<Versions>

/** `last` gives what was answered last for a tenant, however long ago. */
export type VersionsSource = AskVersions & { last: (tenantId: string) => Versions | undefined }

type Answer = ReadonlyMap<string, Versions>
type Row = { source: string; identity: string; versions: string; noted: string }
type Question = PromiseWithResolvers<Answer> & { tenants: Set<string> }

/** A note that could not be stored is tried again after so long. */
const leastMillisecondsBetweenNotes = 1_000

/**
 * Asks the database what caches are compared with. One statement is in flight at a time, for all requests of a turn of the
 * event loop or of the time that the one before it took: it is sent after they began. It is the only statement that names several
 * tenants. Within `cacheMilliseconds` an answer is given again.
 */
export const versionsFrom = (
  query: Query,
  cacheMilliseconds: number,
  noteSource: ((source: string) => Promise<void>) | null = null,
): VersionsSource => {
  let next: Question | null = null
  let isInFlight = false
  const known = new LRUCache<string, { versions: Versions; askedAt: number }>(atMost(10_000))

  const begin = (): Question => {
    if (!isInFlight) setImmediate(send)
    return { ...Promise.withResolvers<Answer>(), tenants: new Set() }
  }

  const send = (): void => {
    if (!next) return
    const { tenants, resolve } = next
    next = null
    isInFlight = true
    const answer = read([...tenants]).finally(() => {
      isInFlight = false
      send()
    })
    resolve(answer)
  }

  let isNoting = false
  const note = async (store: (source: string) => Promise<void>, source: string): Promise<void> => {
    if (isNoting) return
    isNoting = true
    await store(source)
    await delay(leastMillisecondsBetweenNotes, undefined, { ref: false })
    isNoting = false
  }

  const read = async (tenants: string[]): Promise<Answer> => {
    const askedAt = performance.now()
    const statement = noteSource ? { text: askListVersions } : { text: askVersions, onShards: askVersionsOnShards }
    const [row] = await query<Row>({ ...statement, values: [tenants] })
    if (!row) throw new Error('the database has not been migrated')
    const { source, noted } = row
    if (noteSource && source !== noted) void note(noteSource, source)
    const identity = `${source} ${row.identity}`
    const answer = new Map<string, Versions>()
    for (const [place, versions] of row.versions.split('\n').entries()) {
      const tenantId = tenants[place] ?? noTenant
      const one = {
        source,
        identity,
        records: `${source} ${versions}`,
        lists: noteSource ? { versions, source } : null,
      }
      answer.set(tenantId, one)
      known.set(tenantId, { versions: one, askedAt })
    }
    return answer
  }

  const ask = (tenantId: string): Promise<Versions> => {
    next ??= begin()
    const { tenants, promise } = next
    tenants.add(tenantId)
    const one = (answer: Answer): Versions => {
      const versions = answer.get(tenantId)
      if (!versions) throw new Error('the database gave no version of a tenant')
      return versions
    }
    return promise.then(one, (error) => {
      // Of several tenants, one may be on a shard whose server is away.
      if (!isShardLost(error) || tenants.size === 1) throw error
      return read([tenantId]).then(one)
    })
  }

  const recentOrAsked: AskVersions = (tenantId) => {
    const { versions, askedAt } = (cacheMilliseconds > 0 && known.get(tenantId ?? noTenant)) || {}
    return versions && performance.now() < (askedAt ?? 0) + cacheMilliseconds ? versions : ask(tenantId ?? noTenant)
  }
  return Object.assign(recentOrAsked, { last: (tenantId: string) => known.get(tenantId)?.versions })
}

/**
 * Numbers of different servers, of a server before and after a restart, and of a table before and after a restore cannot be
 * compared, so the source of the numbers goes with them. The path of a table names its database, and changes where the table
 * is made or emptied anew.
 */
const source = `
    extract(epoch from pg_postmaster_start_time()) || ' ' || pg_relation_filepath('heads') || ' ' || pg_relation_filepath('identity_revision')`

const askVersions = `
  select ${source} as source, (select revision from identity_revision) as identity,
    array_to_string(versions_of($1::uuid[]), E'\\n') as versions, '' as noted`

const askVersionsOnShards = askVersions.replace('versions_of(', 'versions_on_shards(')

const askListVersions = `
  select ${source} as source, (select revision from identity_revision) as identity,
    array_to_string(list_versions_of($1::uuid[]), E'\\n') as versions, (select source from installation) as noted`

/** Replicas that follow the primary get the note with all else. */
export const noteSource = async (query: Query, source: string): Promise<void> => {
  await query({ text: 'update installation set source = $1 where source <> $1', values: [source] })
}
