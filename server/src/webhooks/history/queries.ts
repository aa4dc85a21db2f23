import { type DeliveryState, webhookLimits } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { shownUrl } from '../addresses.ts'
import { wakeLater } from '../deliveries/queries.ts'
import { endRest, restEndpoint } from '../endpoints/queries.ts'

type Delivery = {
  id: string
  endpointId: string
  number: number
  type: string
  recordId: string
  state: DeliveryState
  createdAt: Date
  attempts: number
  triedAt: Date | null
  nextAttemptAt: Date | null
  status: number | null
  error: string | null
  durationMs: number | null
}

/** The address is shown without its query. */
export type DeliveryDetail = Delivery & { request: { url: string; body: string }; response: string | null }

const isState: Record<DeliveryState, string> = {
  waiting: 'delivery.settled_at is null and delivery.failed_at is null',
  delivered: 'delivery.settled_at is not null and delivery.failed_at is null',
  failed: 'delivery.failed_at is not null',
}

const shown = `event.id, delivery.endpoint_id as "endpointId", delivery.sequence as number, event.type, event.record_id as "recordId",
  case when ${isState.waiting} then 'waiting' when ${isState.failed} then 'failed' else 'delivered' end as state,
  event.created_at as "createdAt", delivery.attempts, delivery.tried_at as "triedAt",
  case when ${isState.waiting} then delivery.next_attempt_at end as "nextAttemptAt",
  delivery.status, delivery.error, delivery.duration_ms as "durationMs"`

const ofEndpoint = `webhook_deliveries as delivery
  join webhook_events as event on event.tenant_id = $1 and event.sequence = delivery.sequence
  where delivery.tenant_id = $1 and delivery.endpoint_id = $2`

/** The newest come first. */
export const listDeliveries = (
  query: TenantQuery,
  endpointId: string,
  { before = Number.MAX_SAFE_INTEGER, state, most }: { before?: number; state?: DeliveryState; most: number },
): Promise<Delivery[]> =>
  query<Delivery>({
    text: `select ${shown} from ${ofEndpoint} and delivery.sequence < $3 and ${state ? isState[state] : 'true'}
      order by delivery.sequence desc limit $4`,
    values: [endpointId, before, most],
  })

const idShape = /^msg_[0-9a-f]{32}$/

/** The delivery of the event with this `webhook-id`, with what was sent and answered. */
export const findDelivery = async (
  query: TenantQuery,
  endpointId: string,
  id: string,
): Promise<DeliveryDetail | null> => {
  if (!idShape.test(id)) return null
  const [found] = await query<Delivery & { url: string; sent: string; response: string | null }>({
    text: `select ${shown}, event.body as sent, delivery.response, (
        select url from webhook_endpoints where tenant_id = $1 and id = $2
      ) as url
      from ${ofEndpoint} and event.id = $3`,
    values: [endpointId, id],
  })
  if (!found) return null
  const { url, sent, response, ...delivery } = found
  return { ...delivery, request: { url: shownUrl(url), body: sent }, response }
}

/** As it stands in a list. */
export const withoutDetail = ({ request: _request, response: _response, ...delivery }: DeliveryDetail): Delivery =>
  delivery

const isInFlight = '(claimed_until is not null and claimed_until > now())'

/**
 * All delays begin anew. An attempt in flight goes on, but its result counts no more, because the endpoint may be sent earlier ones after it:
 * it is sent again when its claim has ended.
 */
const putAgain = `settled_at = null, failed_at = null, waiting_since = now(),
  attempts = attempts + ${isInFlight}::integer, attempts_before = attempts + ${isInFlight}::integer,
  next_attempt_at = greatest(now(), claimed_until)`

/** It is sent at once, unless an earlier one of its record waits. */
export const sendAgain = async (query: TenantQuery, endpointId: string, number: number): Promise<void> => {
  await query({
    text: `update webhook_deliveries set ${putAgain} where tenant_id = $1 and endpoint_id = $2 and sequence = $3`,
    values: [endpointId, number],
  })
  await query({ text: wakeLater })
}

const replayedAtOnce = 1_000

/**
 * Every delivery of an event from this moment on is sent again, in order. Returns how many. The newest are put back first: where it is
 * interrupted, what was put back still ends at the latest state of each record.
 */
export const replayDeliveries = async (
  tenant: Pick<TenantDatabase, 'transaction'>,
  endpointId: string,
  since: Date,
): Promise<number> => {
  const [bounds] = await tenant.transaction(async (query) => {
    await restEndpoint(query, endpointId)
    return query<{ first: number | null; last: number | null }>({
      text: `select min(sequence) as first, max(sequence) as last from webhook_events where tenant_id = $1 and created_at >= $2`,
      values: [since],
    })
  })
  let replayed = 0
  for (let last = bounds?.last ?? null; last !== null; ) {
    const values: unknown[] = [endpointId, bounds?.first, last, replayedAtOnce]
    const [part] = await tenant.transaction(async (query) => {
      await restEndpoint(query, endpointId)
      return query<{ count: number; first: number | null }>({ text: replayStatement, values })
    })
    replayed += part?.count ?? 0
    last = part?.first == null ? null : part.first - 1
  }
  await tenant.transaction(async (query) => {
    await endRest(query, endpointId)
    await query({ text: wakeLater })
  })
  return replayed
}

const replayStatement = `
  with again as (
    update webhook_deliveries set ${putAgain}
    where tenant_id = $1 and endpoint_id = $2 and sequence in (
      select sequence from webhook_deliveries
      where tenant_id = $1 and endpoint_id = $2 and sequence >= $3 and sequence <= $4 order by sequence desc limit $5)
    returning sequence
  )
  select count(*) as count, min(sequence) as first from again`

const deletedAtOnce = 1_000

/** Deletes what is kept no longer, in parts. What a legacy system has not taken stays until it has, or an operator discards it. */
export const deleteOldEvents = async (tenant: TenantDatabase): Promise<void> => {
  for (let after: number | null = 0; after !== null; ) {
    const begin: number = after
    after = await tenant.transaction(async (query) => {
      const [part] = await query<{ last: number | null }>({
        text: `select max(sequence) filter (where created_at < now() - interval '${webhookLimits.keptDays} days') as last from (
            select sequence, created_at from webhook_events where tenant_id = $1 and sequence > $2 order by sequence limit $3
          ) as oldest`,
        values: [begin, deletedAtOnce],
      })
      if (part?.last == null) return null
      await deletePart(query, begin, part.last)
      return part.last
    })
  }
}

const deletePart = async (query: TenantQuery, after: number, last: number): Promise<void> => {
  await query({
    text: `delete from webhook_deliveries as delivery using webhook_endpoints as endpoint
      where delivery.tenant_id = $1 and endpoint.tenant_id = $1 and delivery.endpoint_id = endpoint.id
        and delivery.sequence > $2 and delivery.sequence <= $3 and (endpoint.kind = 'webhook' or delivery.settled_at is not null)`,
    values: [after, last],
  })
  await query({
    text: `delete from webhook_events as event
      where event.tenant_id = $1 and event.sequence > $2 and event.sequence <= $3 and not exists (
        select from webhook_endpoints as endpoint join webhook_deliveries as delivery
          on delivery.tenant_id = $1 and delivery.endpoint_id = endpoint.id and delivery.sequence = event.sequence
        where endpoint.tenant_id = $1)`,
    values: [after, last],
  })
}
