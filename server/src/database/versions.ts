import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Query } from './connections/connection.ts'
import { isShardLost } from './connections/unavailable.ts'

/**
 * Where everybody's permissions and the records of a tenant stood when the database was asked. Both are only compared: what
 * was read under another one may be out of date.
 */
export type Versions = {
  identity: string
  records: string
  /** What a replica must have to answer instead; null where there is none. */
  lists: ListVersions | null
}

/** The versions of a tenant's lists in JSON, and their source, within which they can be compared. */
export type ListVersions = { versions: string; source: string }

export type AskVersions = (tenantId: string | null) => Versions | Promise<Versions>

type Answer = { identity: string; records: string[]; lists: ListVersions[] }
type Row = { source: string; identity: string; versions: string; noted: string }
type Question = PromiseWithResolvers<Answer> & { places: Map<string, number> }

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
): AskVersions => {
  let next: Question | null = null
  let isInFlight = false
  const recent = new LRUCache<string, Versions>({ max: 10_000, ttl: cacheMilliseconds, ttlResolution: 0 })

  const begin = (): Question => {
    if (!isInFlight) setImmediate(send)
    return { ...Promise.withResolvers<Answer>(), places: new Map() }
  }

  const send = (): void => {
    if (!next) return
    const { places, resolve } = next
    next = null
    isInFlight = true
    const answer = read([...places.keys()]).finally(() => {
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
    const statement = noteSource ? { text: askListVersions } : { text: askVersions, onShards: askVersionsOnShards }
    const [row] = await query<Row>({ ...statement, values: [tenants] })
    if (!row) throw new Error('the database has not been migrated')
    const { source, identity, versions, noted } = row
    if (noteSource && source !== noted) void note(noteSource, source)
    const each = versions.split('\n')
    return {
      identity: `${source} ${identity}`,
      records: each.map((version) => `${source} ${version}`),
      lists: noteSource ? each.map((versions) => ({ versions, source })) : [],
    }
  }

  const ask = (tenantId: string): Promise<Versions> => {
    const start = performance.now()
    next ??= begin()
    const { places, promise } = next
    const place = places.get(tenantId) ?? places.size
    places.set(tenantId, place)
    // Of several tenants, one may be on a shard whose server is away.
    const answered = promise.catch((error) => {
      if (!isShardLost(error) || places.size === 1) throw error
      return read([tenantId]).then(({ records, ...same }) => ({
        ...same,
        records: Array(place).fill('').concat(records),
      }))
    })
    return answered.then(({ identity, records, lists }) => {
      const versions = { identity, records: records[place] ?? '', lists: lists[place] ?? null }
      if (cacheMilliseconds > 0) recent.set(tenantId, versions, { start })
      return versions
    })
  }

  return (tenantId) => recent.get(tenantId ?? noTenant) ?? ask(tenantId ?? noTenant)
}

const noTenant = '00000000-0000-0000-0000-000000000000'

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
