import { LRUCache } from 'lru-cache'
import type { Query } from './connections/connection.ts'

/**
 * Where everybody's permissions and the records of a tenant stood when the database was asked. Both are only compared: what
 * was read under another one may be out of date.
 */
export type Versions = { identity: string; records: string }

export type AskVersions = (tenantId: string | null) => Versions | Promise<Versions>

type Question = { places: Map<string, number>; answer: Promise<Answer> }
type Answer = { source: string; identity: string; versions: string }

/**
 * Asks the database what caches are compared with, in one statement for all requests of a turn of the event loop. It is the
 * only statement that names several tenants. Within `cacheMilliseconds` an answer is given again.
 */
export const versionsFrom = (query: Query, cacheMilliseconds: number): AskVersions => {
  let question: Question | null = null
  const recent = new LRUCache<string, Versions>({ max: 10_000, ttl: cacheMilliseconds, ttlResolution: 0 })

  const begin = (): Question => {
    const places = new Map<string, number>()
    const answer = new Promise<Answer>((resolve, reject) => {
      setImmediate(() => {
        question = null
        query<Answer>({ text: askVersions, values: [[...places.keys()]] }).then(([row]) => {
          if (row) resolve(row)
          else reject(new Error('the database has not been migrated'))
        }, reject)
      })
    })
    return { places, answer }
  }

  const ask = async (tenantId: string): Promise<Versions> => {
    const asked = performance.now()
    question ??= begin()
    const { places, answer } = question
    const place = places.get(tenantId) ?? places.size
    places.set(tenantId, place)
    const { source, identity, versions } = await answer
    const found = { identity: `${source} ${identity}`, records: `${source} ${versions.split(',')[place]}` }
    if (cacheMilliseconds > 0) recent.set(tenantId, found, { start: asked })
    return found
  }

  return (tenantId) => recent.get(tenantId ?? noTenant) ?? ask(tenantId ?? noTenant)
}

const noTenant = '00000000-0000-0000-0000-000000000000'

/**
 * Numbers of different servers, of a server before and after a restart, and of a table before and after a restore cannot be
 * compared, so the source of the numbers goes with them.
 */
const askVersions = `
  select extract(epoch from pg_postmaster_start_time()) || ' ' || 'heads'::regclass::oid as source,
    (select revision from identity_revision) as identity,
    array_to_string(versions_of($1::uuid[]), ',') as versions`
