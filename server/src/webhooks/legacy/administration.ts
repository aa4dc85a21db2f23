import { operator } from '../../audit/author.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { Refusal } from '../../refusal.ts'
import { shownUrl } from '../addresses.ts'
import { sealSigningSecret } from '../secret.ts'
import {
  attachSystem,
  auditSystem,
  countDeliveries,
  deleteSystem,
  findSystem,
  type LegacySystem,
  retryDeliveries,
} from './queries.ts'

/** What an operator does about a tenant's legacy system. */
export const attach = async (
  tenant: TenantDatabase,
  { url, secret, installation }: Record<'url' | 'secret' | 'installation', string>,
): Promise<LegacySystem> => {
  const system = await attachSystem(tenant, url, sealSigningSecret(installation, tenant.tenantId, secret))
  return { ...system, url: shownUrl(system.url) }
}

export const detach = (tenant: TenantDatabase, discard: boolean): Promise<{ discarded: number }> =>
  tenant.transaction(async (query) => {
    // The lock waits for writes in flight, which could still add deliveries.
    if (!(await findSystem(query, 'for update'))) throw noSystem()
    const { waiting, failed } = await countDeliveries(query)
    if (waiting + failed > 0 && !discard) {
      throw new Refusal(
        `${waiting} deliveries wait and ${failed} have failed: see \`masthead legacy status\`, or give --discard to delete them`,
      )
    }
    const discarded = await deleteSystem(query)
    await auditSystem(query, operator, tenant, 'detached', { discarded })
    return { discarded }
  })

export const status = (tenant: TenantDatabase) =>
  tenant.transaction(async (query) => {
    const [system, counts] = await Promise.all([findSystem(query), countDeliveries(query)])
    return { attached: system !== null, ...(system && { ...system, url: shownUrl(system.url) }), ...counts }
  })

export const retry = async (tenant: TenantDatabase) => {
  if (!(await findSystem(tenant.read))) throw noSystem()
  return retryDeliveries(tenant, operator)
}

const noSystem = (): Refusal =>
  new Refusal('this tenant has no legacy system attached; `masthead legacy attach` does that')
