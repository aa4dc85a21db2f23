import type { TenantDatabase } from '../../database/database.ts'
import { isImportLocked } from './import-lock.ts'
import { type ImportRecord, isRecent, listImports } from './journal.ts'

type PastImport = ImportRecord & {
  runId: string | null
  state: 'running' | 'interrupted' | 'done' | 'undone' | 'done, too old to undo'
}

/** Lists the newest import first. One that never ended is running, or else was interrupted. */
export const listPastImports = (tenant: TenantDatabase): Promise<PastImport[]> =>
  tenant.transaction(async (query) => {
    const isLocked = await isImportLocked(query)
    const imports = await listImports(query)
    return imports.map((past, index) => ({ ...past, state: stateOf(past, isLocked && index === 0) }))
  })

const stateOf = (past: ImportRecord, mayRun: boolean): PastImport['state'] => {
  if (past.undoneAt) return 'undone'
  if (!past.endedAt) return mayRun ? 'running' : 'interrupted'
  return isRecent(past) ? 'done' : 'done, too old to undo'
}
