import type { Author } from '../../audit/author.ts'
import { audit } from '../../audit/queries.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { shownUrl } from '../addresses.ts'

export type EndpointKind = 'webhook' | 'legacy'

export type Endpoint = {
  id: string
  kind: EndpointKind
  url: string
  description: string
  events: string[]
  createdAt: Date
  disabledAt: Date | null
  disabledBecause: 'requested' | 'gone' | 'failing' | null
  failingSince: Date | null
  formerSecretUntil: Date | null
  waiting: number
  failed: number
}

/** More deliveries are not counted. */
const mostCounted = 10_000

const counted = (condition: string): string => `(
  select count(*) from (
    select from webhook_deliveries as delivery
    where delivery.tenant_id = $1 and delivery.endpoint_id = endpoint.id and ${condition} limit ${mostCounted}
  ) as counted)`

const shownEndpoints = `
  select id, kind, url, description, events, created_at as "createdAt", disabled_at as "disabledAt",
    disabled_because as "disabledBecause", failing_since as "failingSince",
    case when former_secret_until > now() then former_secret_until end as "formerSecretUntil",
    ${counted('delivery.settled_at is null and delivery.failed_at is null')} as waiting,
    ${counted('delivery.failed_at is not null')} as failed
  from webhook_endpoints as endpoint where tenant_id = $1`

export const listEndpoints = async (query: TenantQuery): Promise<Endpoint[]> =>
  (await query<Endpoint>({ text: `${shownEndpoints} order by created_at desc, id desc` })).map(withShownUrl)

export const findEndpoint = async (query: TenantQuery, id: string): Promise<Endpoint | null> => {
  const [found] = await query<Endpoint>({ text: `${shownEndpoints} and id = $2`, values: [id] })
  return found ? withShownUrl(found) : null
}

/** Only the operator knows what the address of a legacy system holds. */
const withShownUrl = (endpoint: Endpoint): Endpoint =>
  endpoint.kind === 'legacy' ? { ...endpoint, url: shownUrl(endpoint.url) } : endpoint

/** Keeps the endpoint as it is until the transaction ends; false when there is none. */
export const lockEndpoint = async (query: TenantQuery, id: string): Promise<boolean> => {
  const text = 'select 1 from webhook_endpoints where tenant_id = $1 and id = $2 for no key update'
  return (await query({ text, values: [id] })).length > 0
}

/** Lets one transaction at a time create endpoints of the tenant, so that each counts those of the one before. */
export const lockCreation = (query: TenantQuery): Promise<unknown> =>
  query({ text: `select pg_advisory_xact_lock(hashtextextended('masthead webhook endpoints ' || $1::text, 0))` })

export type EndpointFields = { url: string; events: readonly string[]; description: string }

export const insertEndpoint = (
  query: TenantQuery,
  id: string,
  { url, events, description }: EndpointFields,
  sealedSecret: Buffer,
): Promise<unknown> =>
  query({
    text: `insert into webhook_endpoints (tenant_id, id, kind, url, events, description, sealed_secret)
      values ($1, $2, 'webhook', $3, $4, $5, $6)`,
    values: [id, url, events, description, sealedSecret],
  })

/** A new address is tried at once. */
export const changeEndpoint = (
  query: TenantQuery,
  id: string,
  { url, events, description }: EndpointFields,
): Promise<unknown> =>
  query({
    text: `update webhook_endpoints set events = $4, description = $5, url = $3,
        silences = case when url = $3 then silences else 0 end, resumes_at = case when url = $3 then resumes_at end,
        rests_until = case when url = $3 then rests_until end, failing_since = case when url = $3 then failing_since end
      where tenant_id = $1 and id = $2`,
    values: [id, url, events, description],
  })

export const replaceSecret = (query: TenantQuery, id: string, sealedSecret: Buffer, hours: number): Promise<unknown> =>
  query({
    text: `update webhook_endpoints set sealed_secret = $3, former_sealed_secret = sealed_secret,
        former_secret_until = now() + $4 * interval '1 hour'
      where tenant_id = $1 and id = $2`,
    values: [id, sealedSecret, hours],
  })

/** What happens goes on to be recorded. */
export const disableEndpoint = async (
  query: TenantQuery,
  author: Author,
  id: string,
  because: NonNullable<Endpoint['disabledBecause']>,
): Promise<void> => {
  const [disabled] = await query<Pick<Endpoint, 'id' | 'url'>>({
    text: `update webhook_endpoints set disabled_at = now(), disabled_because = $3
      where tenant_id = $1 and id = $2 and disabled_at is null returning id, url`,
    values: [id, because],
  })
  if (disabled) await auditEndpoint(query, author, disabled, 'disabled', { because })
}

/** It has five days again. */
export const enableEndpoint = (query: TenantQuery, id: string): Promise<unknown> =>
  query({
    text: `update webhook_endpoints
      set disabled_at = null, disabled_because = null, failing_since = null, silences = 0, resumes_at = null, rests_until = null
      where tenant_id = $1 and id = $2`,
    values: [id],
  })

/** Longer than a part of a replay takes; a process that ends in between leaves the endpoint alone for no longer. */
const replayRest = `interval '60 seconds'`

/** Lets the endpoint alone while its deliveries are put back, so that none overtakes another. */
export const restEndpoint = (query: TenantQuery, id: string): Promise<unknown> =>
  query({
    text: `update webhook_endpoints set rests_until = greatest(rests_until, now() + ${replayRest}) where tenant_id = $1 and id = $2`,
    values: [id],
  })

/** Ends that, unless the endpoint itself asked to be left alone for longer. */
export const endRest = (query: TenantQuery, id: string): Promise<unknown> =>
  query({
    text: `update webhook_endpoints set silences = 0, resumes_at = null,
        rests_until = nullif(greatest(rests_until, now() + ${replayRest}), now() + ${replayRest})
      where tenant_id = $1 and id = $2`,
    values: [id],
  })

const deletedAtOnce = 10_000

/** Deletes some of the deliveries of an endpoint, and returns whether there may be more. */
export const deleteSomeDeliveries = async (query: TenantQuery, id: string): Promise<boolean> => {
  const deleted = await query({
    text: `delete from webhook_deliveries where tenant_id = $1 and endpoint_id = $2 and sequence in (
        select sequence from webhook_deliveries where tenant_id = $1 and endpoint_id = $2 order by sequence limit ${deletedAtOnce})
      returning 1`,
    values: [id],
  })
  return deleted.length === deletedAtOnce
}

/** Deletes the endpoint with the rest of its deliveries; returns false when it is gone already. The lock waits for writes that may add deliveries. */
export const removeEndpoint = async (query: TenantQuery, id: string): Promise<boolean> => {
  await query({ text: 'select 1 from webhook_endpoints where tenant_id = $1 and id = $2 for update', values: [id] })
  await query({ text: 'delete from webhook_deliveries where tenant_id = $1 and endpoint_id = $2', values: [id] })
  const text = 'delete from webhook_endpoints where tenant_id = $1 and id = $2 returning 1'
  return (await query({ text, values: [id] })).length > 0
}

/** Each entry contains the address, because people know the endpoint by it. */
export const auditEndpoint = (
  query: TenantQuery,
  author: Author,
  { id, url }: Pick<Endpoint, 'id' | 'url'>,
  action: string,
  facts: object = {},
) => {
  const after = JSON.stringify({ url: shownUrl(url), ...facts })
  return audit(query, author, [{ action, resource: 'webhook_endpoints', recordId: id, after }])
}
