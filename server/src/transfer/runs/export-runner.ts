import type { TenantDatabase } from '../../database/database.ts'
import {
  countRecords,
  type ExportJob,
  type ExportProgress,
  endExport,
  failExport,
  listAbandoned,
  storeProgress,
  takeExport,
} from '../export/export-jobs.ts'
import type { ExportResult } from '../export/export-work.ts'
import { type BackgroundJob, runInBackground } from './background-job.ts'
import { runApart } from './run-process.ts'

type Onwards = { onError: (error: unknown) => void }

/** Makes the files in a process of their own, unless another node does. */
export const beginExportRun = (tenant: TenantDatabase, job: ExportJob, { onError }: Onwards): void =>
  tenant.whenStored((after) => {
    if (!after) return
    void after
      .transaction(async (query) => {
        const attempt = await takeExport(query, job.id)
        return attempt === null ? null : { attempt, isLarge: (await countRecords(query, job.resources)) > largeRecords }
      })
      .then((taken) => {
        if (taken) run(after, job, taken, onError)
      })
      .catch(onError)
  })

/** Callers ask for an export again and again, so one of their requests notices when the node that made it is gone. */
export const beginAbandoned = async (tenant: TenantDatabase, onwards: Onwards): Promise<void> => {
  for (const job of await listAbandoned(tenant.read)) beginExportRun(tenant, job, onwards)
}

const largeRecords = 20_000

const run = (
  tenant: TenantDatabase,
  job: ExportJob,
  { attempt, isLarge }: { attempt: number; isLarge: boolean },
  onError: Onwards['onError'],
): void => {
  const { connection, tenantId } = tenant
  const { id, resources, filters, format, gzip, spreadsheet } = job
  const task = { id, attempt, resources, filters, format, gzip, spreadsheet }
  const background: BackgroundJob<ExportProgress, ExportResult | null> = {
    id,
    isLarge,
    work: (following) => runApart({ export: task, connection, tenantId }, following),
    note: async (query, progress) => !(await storeProgress(query, task, progress)),
    end: async (query, result) => {
      if (result) await endExport(query, task, result)
    },
    cancel: async () => {},
    fail: (query, reason) => failExport(query, task, reason),
    reasonOf: ({ sentence }) => sentence,
  }
  runInBackground(tenant, background, { onError, release: () => {} })
}
