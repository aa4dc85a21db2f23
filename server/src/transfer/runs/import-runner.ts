import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TenantDatabase } from '../../database/database.ts'
import type { ImportProgress } from '../import/import.ts'
import { type BackgroundJob, type Ending, runInBackground } from './background-job.ts'
import { type RunWork, runApart } from './run-process.ts'
import { endRun, failRun, type RunResult, storeProgress } from './runs.ts'
import { toldInConsole } from './told-in-console.ts'

const busyTenants = new Map<string, () => void>()

/** A tenant has one run at a time in this thread. Returns what releases it, or null when another run has it. */
export const reserveTenant = (tenantId: string): (() => void) | null => {
  if (busyTenants.has(tenantId)) return null
  const release = () => {
    if (busyTenants.get(tenantId) === release) busyTenants.delete(tenantId)
  }
  busyTenants.set(tenantId, release)
  return release
}

const largeBytes = 1_000_000

export const beginImportRun = (tenant: TenantDatabase, work: RunWork, ending: Ending): void => {
  const { connection, tenantId } = tenant
  const { run } = work
  const job: BackgroundJob<ImportProgress, RunResult> = {
    id: run.id,
    isLarge: run.kind === 'undo' || run.bytes > largeBytes,
    work: async (following) => {
      await using folder = await mkdtempDisposable(join(tmpdir(), 'masthead-import-'))
      const onProgress = ({ step, done, of, rows }: ImportProgress) => following.onProgress({ step, done, of, rows })
      return await runApart({ ...work, connection, tenantId, folder: folder.path }, { ...following, onProgress })
    },
    note: (query, progress) => storeProgress(query, run.id, progress),
    end: (query, result) => endRun(query, run.id, result),
    cancel: (query) => endRun(query, run.id, { state: 'cancelled' }),
    fail: (query, reason) => failRun(query, run.id, reason),
    reasonOf: (refusal) => toldInConsole(refusal, run.fileName),
  }
  runInBackground(tenant, job, ending)
}
