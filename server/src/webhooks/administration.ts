import { testEventType, webhookLimits } from '@masthead/contract'
import type { Author } from '../audit/author.ts'
import type { TenantDatabase } from '../database/database.ts'
import type { TenantQuery } from '../database/tenant-query.ts'
import { isUuid, newId } from '../records/identifiers.ts'
import { Refusal } from '../refusal.ts'
import { hastenStatement, wakeLater } from './deliveries/queries.ts'
import {
  auditEndpoint,
  changeEndpoint,
  deleteSomeDeliveries,
  disableEndpoint,
  type Endpoint,
  type EndpointFields,
  enableEndpoint,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  lockCreation,
  lockEndpoint,
  removeEndpoint,
  replaceSecret,
} from './endpoints/queries.ts'
import { recordEvent } from './events/queries.ts'
import { type DeliveryDetail, findDelivery, replayDeliveries, sendAgain } from './history/queries.ts'
import { newSigningSecret, sealSigningSecret } from './secret.ts'

/** What admins and operators do about the webhooks of a tenant. The legacy system is the operator's, by other commands. */
type Administration = { tenant: TenantDatabase; author: Author }

export type ShownEndpoint = Endpoint & { secret: string }

export const find = async ({ read }: TenantDatabase, id: string): Promise<Endpoint | null> =>
  isUuid(id) ? findEndpoint(read, id) : null

export const create = async (
  { tenant, author }: Administration,
  fields: EndpointFields,
  installation: string,
): Promise<ShownEndpoint> => {
  const { base64, secret } = newSigningSecret()
  const id = newId()
  const { events, description } = fields
  return tenant.transaction(async (query) => {
    await lockCreation(query)
    const webhooks = (await listEndpoints(query)).filter(({ kind }) => kind === 'webhook')
    if (webhooks.length >= webhookLimits.endpoints) {
      throw new Refusal(`a tenant has at most ${webhookLimits.endpoints} webhook endpoints: delete one first`)
    }
    await insertEndpoint(query, id, fields, sealSigningSecret(installation, tenant.tenantId, base64))
    await auditEndpoint(query, author, { id, url: fields.url }, 'created', { events, description })
    return { ...(await stored(findEndpoint(query, id))), secret }
  })
}

type EndpointChange = Partial<EndpointFields> & { isDisabled?: boolean }

/** Enabling sends what waits, also what was recorded meanwhile; it has five days again. */
export const update = (
  { tenant, author }: Administration,
  endpoint: Endpoint,
  { isDisabled, ...fields }: EndpointChange,
): Promise<Endpoint> => {
  const { id } = requireWebhook(endpoint)
  return withLocked(tenant, id, async (query) => {
    const before = await stored(findEndpoint(query, id))
    const after = { ...before, ...fields }
    if (Object.keys(fields).length > 0) {
      await changeEndpoint(query, id, after)
      const { events, description } = after
      await auditEndpoint(query, author, after, 'updated', { events, description })
    }
    if (isDisabled === true) await disableEndpoint(query, author, id, 'requested')
    if (isDisabled === false && before.disabledAt !== null) {
      await enableEndpoint(query, id)
      await query({ text: hastenStatement, values: [id] })
      await auditEndpoint(query, author, after, 'enabled')
    }
    await query({ text: wakeLater })
    return stored(findEndpoint(query, id))
  })
}

/** There may be many deliveries, so they are deleted in parts, and the endpoint last. */
export const remove = async ({ tenant, author }: Administration, endpoint: Endpoint): Promise<Endpoint> => {
  const { id } = requireWebhook(endpoint)
  await tenant.transaction((query) => disableEndpoint(query, author, id, 'requested'))
  while (await tenant.transaction((query) => deleteSomeDeliveries(query, id)));
  await tenant.transaction(async (query) => {
    if (!(await removeEndpoint(query, id))) throw isGone()
    await auditEndpoint(query, author, endpoint, 'deleted')
  })
  return endpoint
}

/** The former secret signs beside the new one for a day, so that the receiver can change over. */
export const rotateSecret = (
  { tenant, author }: Administration,
  endpoint: Endpoint,
  installation: string,
): Promise<ShownEndpoint> => {
  const { id } = requireWebhook(endpoint)
  const { base64, secret } = newSigningSecret()
  return withLocked(tenant, id, async (query) => {
    const sealed = sealSigningSecret(installation, tenant.tenantId, base64)
    await replaceSecret(query, id, sealed, webhookLimits.rotationHours)
    await auditEndpoint(query, author, endpoint, 'secret_rotated')
    return { ...(await stored(findEndpoint(query, id))), secret }
  })
}

export const sendTestEvent = ({ tenant, author }: Administration, endpoint: Endpoint): Promise<DeliveryDetail> => {
  const { id } = requireEnabled(endpoint)
  return tenant.transaction(async (query) => {
    // Each is a record of its own, so that one that failed holds no later one back.
    const event = { type: testEventType, recordId: newId(), data: { endpointId: id } }
    const sent = await recordEvent(query, event, id)
    if (sent === null) throw isGone()
    await auditEndpoint(query, author, endpoint, 'tested', { event: sent })
    return stored(findDelivery(query, id, sent))
  })
}

export const resend = (
  { tenant, author }: Administration,
  endpoint: Endpoint,
  { id: event, number }: DeliveryDetail,
): Promise<DeliveryDetail> => {
  const { id } = requireEnabled(endpoint)
  return withLocked(tenant, id, async (query) => {
    // It may have been disabled since it was found: that is how its deletion begins.
    requireEnabled(await stored(findEndpoint(query, id)))
    await sendAgain(query, id, number)
    const sent = await findDelivery(query, id, event)
    if (sent === null) throw new Refusal('this delivery has been deleted meanwhile')
    await auditEndpoint(query, author, endpoint, 'resent', { event })
    return sent
  })
}

/** Also of an endpoint that is disabled, so that all is in order before it is enabled. */
export const replay = async (
  { tenant, author }: Administration,
  endpoint: Endpoint,
  since: Date,
): Promise<{ replayed: number }> => {
  const { id } = requireWebhook(endpoint)
  const replayed = await replayDeliveries(tenant, id, since)
  await withLocked(tenant, id, (query) => auditEndpoint(query, author, endpoint, 'replayed', { since, replayed }))
  return { replayed }
}

/** Somebody else may have deleted the endpoint since it was found. */
const withLocked = <T>(tenant: TenantDatabase, id: string, work: (query: TenantQuery) => Promise<T>): Promise<T> =>
  tenant.transaction(async (query) => {
    if (!(await lockEndpoint(query, id))) throw isGone()
    return work(query)
  })

const requireWebhook = (endpoint: Endpoint): Endpoint => {
  if (endpoint.kind === 'webhook') return endpoint
  throw new Refusal('this is the legacy system of the tenant, which the operator manages by `masthead legacy`')
}

const requireEnabled = (endpoint: Endpoint): Endpoint => {
  if (requireWebhook(endpoint).disabledAt === null) return endpoint
  throw new Refusal('this endpoint is disabled, so nothing is sent to it: enable it first')
}

const isGone = (): Refusal => new Refusal('somebody has deleted this endpoint meanwhile')

export const noEndpoint = (id: string): Refusal =>
  new Refusal(`there is no webhook endpoint "${id}" in this tenant; \`masthead webhook list\` shows them`)

const stored = async <T>(found: Promise<T | null>): Promise<T> => {
  const one = await found
  if (one === null) throw new Error('what was just stored is not there')
  return one
}
