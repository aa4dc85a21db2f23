import type { TenantDatabase } from '../../database/database.ts'
import { isImportLocked } from './import-lock.ts'
import { type ImportRecord, listImports, undoDays } from './journal.ts'

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

const stateOf = ({ startedAt, endedAt, undoneAt }: ImportRecord, mayRun: boolean): PastImport['state'] => {
  if (undoneAt) return 'undone'
  if (!endedAt) return mayRun ? 'running' : 'interrupted'
  return startedAt.getTime() < Date.now() - undoDays * 86_400_000 ? 'done, too old to undo' : 'done'
}
