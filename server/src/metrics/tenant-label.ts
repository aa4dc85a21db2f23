import { createHmac, hkdfSync, type KeyObject } from 'node:crypto'

/** Labels tenants by a keyed hash: a reader of the metrics cannot identify them without the key of the installation. */
export const tenantLabels = (installationKey: KeyObject): ((tenantId: string) => string) => {
  const key = Buffer.from(hkdfSync('sha256', installationKey, 'masthead', 'tenant labels', 32))
  return (tenantId) => createHmac('sha256', key).update(tenantId).digest('hex').slice(0, 12)
}
