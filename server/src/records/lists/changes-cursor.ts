import { isListed, type ListedName } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import { sealProgress } from './cursor.ts'
import { type ListHead, pointAt } from './timelines.ts'

/** The cursor of `/changes` after which everything comes that is written from now on. */
export const changesCursorNow = async (tenant: TenantDatabase): Promise<string> => {
  const heads = await tenant.read<ListHead & { resource: ListedName }>({
    text: `select resource, version, array_to_string(timelines, ' ') as timelines from heads where tenant_id = $1`,
  })
  const points = heads
    .filter(({ resource }) => isListed(resource))
    .map((head) => [head.resource, pointAt(head, head.version)] as const)
  return sealProgress(await tenant.cursorKey(), tenant.tenantId, new Map(points))
}
