import { operator } from '../audit/author.ts'
import { audit } from '../audit/queries.ts'
import type { Database, TenantDatabase } from '../database/database.ts'
import type { TenantQuery } from '../database/tenant-query.ts'
import { shownUrl } from './addresses.ts'

/** Where a write goes: to Masthead alone, or also to the tenant's legacy system. */
export type Route = 'native' | 'legacy'

/** The lock keeps the legacy system attached until the transaction ends, so that the route holds for all of it. */
export const routeOf = async (query: TenantQuery): Promise<Route> => {
  const attached = await query({ text: 'select 1 from legacy_systems where tenant_id = $1 for key share' })
  return attached.length > 0 ? 'legacy' : 'native'
}

export type LegacySystem = { url: string; attachedAt: Date }

const wakeLater = `select wake_legacy_worker($1, 'later', now())`

/** Attaching again replaces address and secret, keeps waiting deliveries, and tries the new address at once. */
export const attachSystem = (tenant: TenantDatabase, url: string, sealedSecret: Buffer): Promise<LegacySystem> =>
  tenant.transaction(async (query) => {
    const [attached] = await query<LegacySystem>({
      text: `
        insert into legacy_systems (tenant_id, url, sealed_secret) values ($1, $2, $3)
        on conflict (tenant_id) do update
        set url = excluded.url, sealed_secret = excluded.sealed_secret, silences = 0, resumes_at = null
        returning url, attached_at as "attachedAt"`,
      values: [url, sealedSecret],
    })
    if (!attached) throw new Error('the legacy system was not stored')
    await auditOperation(query, tenant, 'attached', { url: shownUrl(url) })
    await query({ text: wakeLater })
    return attached
  })

export const auditOperation = (query: TenantQuery, { tenantId }: TenantDatabase, action: string, after: object) =>
  audit(query, operator, [{ action, resource: 'legacy_systems', recordId: tenantId, after: JSON.stringify(after) }])

/** Deletes the system with its deliveries, and returns how many those were. */
export const deleteSystem = async (query: TenantQuery): Promise<number> => {
  const deleted = await query({ text: 'delete from legacy_deliveries where tenant_id = $1 returning 1' })
  await query({ text: 'delete from legacy_systems where tenant_id = $1' })
  return deleted.length
}

export const deleteDeliveries = async (query: TenantQuery, resource: string, id: string): Promise<number> => {
  const text = 'delete from legacy_deliveries where tenant_id = $1 and resource = $2 and record_id = $3 returning 1'
  return (await query({ text, values: [resource, id] })).length
}

export type DeliveryCounts = {
  waiting: number
  failed: number
  oldestWaiting: Date | null
  lastError: string | null
  lastErrorAt: Date | null
}

export const countDeliveries = async (query: TenantQuery): Promise<DeliveryCounts> => {
  const [counts] = await query<DeliveryCounts>({
    text: `
      select count(*) filter (where failed_at is null) as waiting, count(failed_at) as failed,
        min(created_at) filter (where failed_at is null) as "oldestWaiting",
        last.error as "lastError", last.at as "lastErrorAt"
      from (select failed_at, created_at from legacy_deliveries where tenant_id = $1) as delivery
      full join (
        select last_error as error, tried_at as at from legacy_deliveries
        where tenant_id = $1 and last_error is not null order by tried_at desc limit 1
      ) as last on true
      group by last.error, last.at`,
  })
  return counts ?? { waiting: 0, failed: 0, oldestWaiting: null, lastError: null, lastErrorAt: null }
}

/** Of all tenants together, at most so many of each. */
const mostCounted = 10_000

export const countAllDeliveries = (database: Database) =>
  // With many tenants it takes a while, so it uses a connection of its own.
  database.transaction(async (query) => {
    const [counts] = await query<DeliveryCounts>({
      text: 'select waiting, failed, oldest as "oldestWaiting" from count_legacy_deliveries($1)',
      values: [mostCounted],
    })
    return counts ?? { waiting: 0, failed: 0, oldestWaiting: null }
  })

export const findSystem = async (query: TenantQuery, lock: '' | 'for update' = ''): Promise<LegacySystem | null> => {
  const text = `select url, attached_at as "attachedAt" from legacy_systems where tenant_id = $1 ${lock}`
  const [system] = await query<LegacySystem>({ text })
  return system ?? null
}

const retriedAtOnce = 10_000

/** Every delivery becomes due at once, save those in flight. There may be many, so they are updated in parts. */
export const retryDeliveries = async (tenant: TenantDatabase): Promise<{ retried: number; hastened: number }> => {
  const sum = { retried: 0, hastened: 0 }
  type Part = typeof sum & { last: number | null }
  for (let after: number | null = 0; after !== null; ) {
    const values: unknown[] = [after, retriedAtOnce]
    const [part]: Part[] = await tenant.transaction((query) => query<Part>({ text: retryStatement, values }))
    sum.retried += part?.retried ?? 0
    sum.hastened += part?.hastened ?? 0
    after = part?.last ?? null
  }
  await tenant.transaction(async (query) => {
    await query({ text: 'update legacy_systems set silences = 0, resumes_at = null where tenant_id = $1' })
    await query({ text: wakeLater })
    await auditOperation(query, tenant, 'retried', sum)
  })
  return sum
}

const retryStatement = `
  with former as (
    select sequence, failed_at from legacy_deliveries
    where tenant_id = $1 and sequence > $2 order by sequence limit $3 for update
  ), changed as (
    update legacy_deliveries set failed_at = null, waiting_since = now(),
      next_attempt_at = case when claimed_until > now() then next_attempt_at else now() end
    from former where legacy_deliveries.tenant_id = $1 and legacy_deliveries.sequence = former.sequence
    returning legacy_deliveries.sequence, former.failed_at is not null as had_failed
  )
  select count(*) filter (where had_failed) as retried, count(*) filter (where not had_failed) as hastened,
    max(sequence) as last
  from changed`

/** A delivery whose attempt has begun, and its target. */
export type Claimed = {
  sequence: number
  attempt: number
  id: string
  body: string
  url: string
  sealedSecret: Buffer
}

/** A legacy system counts as away after so many attempts in a row without a response. */
const silencesUntilAway = 3
/** A claim outlasts an attempt, so that no delivery has two attempts in flight. */
const claimSeconds = 20
/** No system is left alone for longer, so a later time stems from a clock that was set back since. */
const longestRest = `interval '2 minutes'`
const deliveryLifetime = `interval '3 days'`

/**
 * Begins an attempt of the delivery that has been due for longest, the first of its record, if there is one. A system
 * that is away is tried by one at a time.
 */
export const claimDelivery = (tenant: TenantDatabase): Promise<Claimed | null> =>
  tenant.transaction(async (query) => {
    const [system] = await query<{ url: string; sealedSecret: Buffer; silences: number }>({
      text: `select url, sealed_secret as "sealedSecret", silences from legacy_systems
        where tenant_id = $1
          and (resumes_at is null or resumes_at <= now() or resumes_at > now() + ${longestRest}) for no key update`,
    })
    if (!system) return null
    const { silences, ...target } = system
    const [delivery] = await query<Omit<Claimed, 'url' | 'sealedSecret'>>({ text: claimStatement })
    if (!delivery) return null
    if (silences >= silencesUntilAway) {
      await query({
        text: `update legacy_systems set resumes_at = now() + interval '${claimSeconds} seconds' where tenant_id = $1`,
      })
    }
    return { ...delivery, ...target }
  })

/** Fronts: those before which nothing of the same record waits or failed. */
const isFront = (name: string): string => `not exists (
    select from legacy_deliveries as earlier
    where earlier.tenant_id = $1 and earlier.resource = ${name}.resource and earlier.record_id = ${name}.record_id and earlier.sequence < ${name}.sequence)`

const claimStatement = `
  update legacy_deliveries set attempts = attempts + 1, tried_at = now(),
    next_attempt_at = now() + interval '${claimSeconds} seconds', claimed_until = now() + interval '${claimSeconds} seconds'
  where tenant_id = $1 and sequence = (
    select due.sequence from legacy_deliveries as due
    where due.tenant_id = $1 and due.failed_at is null and due.next_attempt_at <= now() and ${isFront('due')}
    order by due.next_attempt_at, due.sequence limit 1
    for update)
  returning sequence, attempts as attempt, id, body`

/** The legacy system has it. */
export const settleDelivered = (tenant: TenantDatabase, { sequence, attempt }: Claimed): Promise<void> =>
  tenant.transaction(async (query) => {
    const [system] = await query<{ silences: number }>({
      text: 'select silences from legacy_systems where tenant_id = $1 and silences > 0 for no key update',
    })
    if (system) {
      await query({ text: 'update legacy_systems set silences = 0, resumes_at = null where tenant_id = $1' })
      // What found it away need not wait out its own pause.
      if (system.silences >= silencesUntilAway) await query({ text: hastenStatement })
    }
    await query({
      text: 'delete from legacy_deliveries where tenant_id = $1 and sequence = $2 and attempts = $3',
      values: [sequence, attempt],
    })
  })

const hastenStatement = `
  update legacy_deliveries set next_attempt_at = now()
  where tenant_id = $1 and failed_at is null and next_attempt_at > now() and (claimed_until is null or claimed_until <= now())`

/** `error` is one line that can be shown; `silent` says that the legacy system was not there at all. */
export type Failure = { error: string; silent: boolean }

export const settleFailed = (
  tenant: TenantDatabase,
  { sequence, attempt }: Claimed,
  { error, silent }: Failure,
  pauseMilliseconds: number,
): Promise<void> =>
  tenant.transaction(async (query) => {
    const [system] = silent ? await query<{ isAway: boolean }>({ text: silenceStatement }) : []
    await query({
      text: `update legacy_deliveries set last_error = $4, claimed_until = null,
          next_attempt_at = now() + $5 * interval '1 millisecond',
          failed_at = case when waiting_since <= now() - ${deliveryLifetime} then now() end
        where tenant_id = $1 and sequence = $2 and attempts = $3`,
      values: [sequence, attempt, error, pauseMilliseconds],
    })
    // Most deliveries to a system that is away are never tried, and expire all the same.
    if (system?.isAway) await query({ text: giveUpStatement, values: [error] })
  })

const silenceStatement = `
  update legacy_systems set silences = silences + 1, resumes_at = case when silences + 1 >= ${silencesUntilAway} then
    now() + least(2 * 2 ^ least(silences + 1 - ${silencesUntilAway}, 10), 60) * (0.75 + random() / 2) * interval '1 second' end
  where tenant_id = $1
  returning silences >= ${silencesUntilAway} as "isAway"`

const giveUpStatement = `
  update legacy_deliveries set failed_at = now(), last_error = $2, tried_at = now()
  where tenant_id = $1 and sequence in (
    select sequence from legacy_deliveries
    where tenant_id = $1 and failed_at is null and waiting_since <= now() - ${deliveryLifetime} and (claimed_until is null or claimed_until <= now())
    limit 1000)`

/** We aborted the attempt, so it does not count, and another worker can begin at once. */
export const putBack = (tenant: TenantDatabase, { sequence, attempt }: Claimed): Promise<void> =>
  tenant.transaction(async (query) => {
    await query({
      text: `update legacy_deliveries set claimed_until = null, next_attempt_at = now()
        where tenant_id = $1 and sequence = $2 and attempts = $3`,
      values: [sequence, attempt],
    })
    await query({ text: wakeLater })
  })

/** Wakes a worker when the next delivery is due, if any waits that nothing holds back. */
export const wakeWhenDue = (tenant: TenantDatabase): Promise<unknown> =>
  tenant.transaction((query) => query({ text: 'select wake_legacy_worker_when_due($1)' }))

export const wakeWhereDue = (database: Database): Promise<unknown> =>
  database.transaction((query) => query({ text: 'select wake_legacy_worker_where_due()' }))

/** Nobody takes jobs of a process that was killed once others have replaced them. */
export const completeSpentJobs = (database: Database): Promise<unknown> =>
  database.transaction((query) =>
    query({
      text: `
        select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs
        where task_identifier = 'legacy' and key is null and (locked_at is null or locked_at < now() - interval '4 hours')`,
    }),
  )
