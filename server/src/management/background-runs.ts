import type { TenantDatabase } from '../database/database.ts'
import type { HandlerResult } from '../operation-call.ts'
import { Problem } from '../problem.ts'
import { reserveTenant } from '../transfer/runs/import-runner.ts'
import type { ImportRun } from '../transfer/runs/runs.ts'
import { json } from './responses.ts'

/** Begins a run that goes on after the call and releases the tenant when it ends. */
export const beginRun = async (
  { tenantId }: TenantDatabase,
  begin: (release: () => void) => Promise<ImportRun>,
): Promise<HandlerResult> => {
  const release = reserveTenant(tenantId)
  if (!release)
    throw new Problem('conflict', 'An import or undo of this organisation is running: wait until it has ended.')
  try {
    return json(await begin(release))
  } catch (error) {
    release()
    throw error
  }
}
