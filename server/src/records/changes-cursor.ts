import { createHmac } from 'node:crypto'
import type { TenantDatabase } from '../database/database.ts'

/** The cursor of `/changes` after which everything comes that is written from now on. */
export const changesCursorNow = async (tenant: TenantDatabase): Promise<string> => {
  const key = await tenant.cursorKey()
  const context = JSON.stringify([tenant.tenantId, 'changes'])
  return createHmac('sha256', key).update(context).update('\n').digest().subarray(0, 12).toString('base64url')
}
