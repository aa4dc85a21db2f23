import { LRUCache } from 'lru-cache'
import type { Query } from './connections/connection.ts'

/**
 * Where everybody's permissions and the records of a tenant stood when the database was asked. Both are only compared: what
 * was read under another one may be out of date.
 */
export type Versions = { identity: string; records: string }

export type AskVersions = (tenantId: string | null) => Versions | Promise<Versions>

type Answer = { identity: string; records: string[] }
type Question = PromiseWithResolvers<Answer> & { places: Map<string, number> }

/**
 * Asks the database what caches are compared with. One statement is in flight at a time, for all requests of a turn of the
 * event loop or of the time that the one before it took: it is sent after they began. It is the only statement that names several
 * tenants. Within `cacheMilliseconds` an answer is given again.
 */
export const versionsFrom = (query: Query, cacheMilliseconds: number): AskVersions => {
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

  const read = async (tenants: string[]): Promise<Answer> => {
    const [row] = await query<{ source: string; identity: string; versions: string }>({
      ...{ text: askVersions, values: [tenants] },
    })
    if (!row) throw new Error('the database has not been migrated')
    const { source, identity, versions } = row
    return {
      identity: `${source} ${identity}`,
      records: versions.split(',').map((version) => `${source} ${version}`),
    }
  }

  const ask = (tenantId: string): Promise<Versions> => {
    const start = performance.now()
    next ??= begin()
    const { places, promise } = next
    const place = places.get(tenantId) ?? places.size
    places.set(tenantId, place)
    return promise.then(({ identity, records }) => {
      const versions = { identity, records: records[place] ?? '' }
      if (cacheMilliseconds > 0) recent.set(tenantId, versions, { start })
      return versions
    })
  }

  return (tenantId) => recent.get(tenantId ?? noTenant) ?? ask(tenantId ?? noTenant)
}

const noTenant = '00000000-0000-0000-0000-000000000000'

/**
 * Numbers of different servers, of a server before and after a restart, and of a table before and after a restore cannot be
 * compared, so the source of the numbers goes with them.
 */
const askVersions = `
  select pg_postmaster_start_time() || ' ' || 'heads'::regclass::oid as source,
    (select revision from identity_revision) as identity,
    array_to_string(versions_of($1::uuid[]), ',') as versions`
