import type { Route } from '@masthead/contract'
import { type Author, operator } from '../../audit/author.ts'
import { audit } from '../../audit/queries.ts'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { shownUrl } from '../addresses.ts'
import { wakeLater } from '../deliveries/queries.ts'

/** The endpoint of a legacy system has the id of its tenant. */
const isLegacy = 'tenant_id = $1 and id = $1'

/** The lock keeps the legacy system attached until the transaction ends, so that the route holds for all of it. */
export const routeOf = async (query: TenantQuery): Promise<Route> => {
  const attached = await query({ text: `select 1 from webhook_endpoints where ${isLegacy} for key share` })
  return attached.length > 0 ? 'legacy' : 'native'
}

export type LegacySystem = { url: string; attachedAt: Date }

/** Attaching again replaces address and secret, keeps waiting deliveries, and tries the new address at once. */
export const attachSystem = (tenant: TenantDatabase, url: string, sealedSecret: Buffer): Promise<LegacySystem> =>
  tenant.transaction(async (query) => {
    const [attached] = await query<LegacySystem>({
      text: `
        insert into webhook_endpoints (tenant_id, id, kind, url, sealed_secret) values ($1, $1, 'legacy', $2, $3)
        on conflict (tenant_id, id) do update
        set url = excluded.url, sealed_secret = excluded.sealed_secret, silences = 0, resumes_at = null, rests_until = null
        returning url, created_at as "attachedAt"`,
      values: [url, sealedSecret],
    })
    if (!attached) throw new Error('the legacy system was not stored')
    await auditSystem(query, operator, tenant, 'attached', { url: shownUrl(url) })
    await query({ text: wakeLater })
    return attached
  })

export const auditSystem = (
  query: TenantQuery,
  author: Author,
  { tenantId }: TenantDatabase,
  action: string,
  after: object,
) => audit(query, author, [{ action, resource: 'legacy_systems', recordId: tenantId, after: JSON.stringify(after) }])

export const findSystem = async (query: TenantQuery, lock: '' | 'for update' = ''): Promise<LegacySystem | null> => {
  const text = `select url, created_at as "attachedAt" from webhook_endpoints where ${isLegacy} ${lock}`
  const [system] = await query<LegacySystem>({ text })
  return system ?? null
}

/** Deletes the system with its deliveries, and returns how many of those had not been taken. */
export const deleteSystem = async (query: TenantQuery): Promise<number> => {
  const deleted = await query<{ isOpen: boolean }>({
    text: `delete from webhook_deliveries where tenant_id = $1 and endpoint_id = $1 returning settled_at is null as "isOpen"`,
  })
  await query({ text: `delete from webhook_endpoints where ${isLegacy}` })
  return deleted.filter(({ isOpen }) => isOpen).length
}

type DeliveryCounts = {
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
        (
          select event.created_at from webhook_events as event
          where event.tenant_id = $1 and event.sequence = min(delivery.sequence) filter (where failed_at is null)
        ) as "oldestWaiting",
        last.error as "lastError", last.at as "lastErrorAt"
      from (
        select sequence, failed_at from webhook_deliveries where tenant_id = $1 and endpoint_id = $1 and settled_at is null
      ) as delivery
      full join (
        select error, tried_at as at from webhook_deliveries
        where tenant_id = $1 and endpoint_id = $1 and settled_at is null and error is not null order by tried_at desc limit 1
      ) as last on true
      group by last.error, last.at`,
  })
  return counts ?? { waiting: 0, failed: 0, oldestWaiting: null, lastError: null, lastErrorAt: null }
}

const retriedAtOnce = 10_000

/** Every delivery becomes due at once, save those in flight. There may be many, so they are updated in parts. */
export const retryDeliveries = async (tenant: TenantDatabase, author: Author) => {
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
    await query({
      text: `update webhook_endpoints set silences = 0, resumes_at = null, rests_until = null where ${isLegacy}`,
    })
    await query({ text: wakeLater })
    await auditSystem(query, author, tenant, 'retried', sum)
  })
  return sum
}

const retryStatement = `
  with former as (
    select sequence, failed_at from webhook_deliveries
    where tenant_id = $1 and endpoint_id = $1 and settled_at is null and sequence > $2 order by sequence limit $3 for update
  ), changed as (
    update webhook_deliveries set failed_at = null, waiting_since = now(),
      next_attempt_at = greatest(now(), claimed_until)
    from former
    where webhook_deliveries.tenant_id = $1 and webhook_deliveries.endpoint_id = $1
      and webhook_deliveries.sequence = former.sequence
    returning webhook_deliveries.sequence, former.failed_at is not null as had_failed
  )
  select count(*) filter (where had_failed) as retried, count(*) filter (where not had_failed) as hastened,
    max(sequence) as last
  from changed`
