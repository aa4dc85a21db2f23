import { type exportJobs, exportLimits } from '@masthead/contract'
import { LRUCache } from 'lru-cache'
import { atMost } from '../../at-most.ts'
import type { Caller } from '../../audit/author.ts'
import { audit } from '../../audit/queries.ts'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import type { Principal } from '../../identity/principal.ts'
import type { FileResponse, HandlerResult, Handlers } from '../../operation-call.ts'
import { invalidProperty, Problem } from '../../problem.ts'
import {
  chunkBytes,
  createExport,
  deleteExport,
  type ExportedPart,
  type ExportJob,
  findExport,
  listExports,
  readChunk,
} from '../../transfer/export/export-jobs.ts'
import { cancelHere } from '../../transfer/runs/background-job.ts'
import { beginAbandoned, beginExportRun } from '../../transfer/runs/export-runner.ts'
import { readableLists, requireReadable } from '../readable-lists.ts'
import { requireFilters } from './rules.ts'

export const handlers: Handlers<typeof exportJobs> = {
  CreateExport: async ({ tenant, principal, writer, body, onError }) => {
    const { resources, filters = {}, format = 'csv', gzip = false, spreadsheet = false } = body
    requireReadable(principal, resources)
    if (spreadsheet && format !== 'csv')
      throw invalidProperty('spreadsheet', 'conflicts', '`spreadsheet` is for the format `csv`.')
    await requireFilters(tenant, resources, filters)
    const job = await tenant.transaction(async (query) => {
      const created = await createExport(query, { resources, filters, format, gzip, spreadsheet })
      if (typeof created === 'string') throw tooMany(created)
      // Its filters may name a person, whose erasure would not reach them here.
      const after = JSON.stringify({ resources, format, gzip, spreadsheet })
      await audit(query, writer.author, [{ action: 'created', resource: 'exports', recordId: created.id, after }])
      return created
    })
    await beginAbandoned(tenant, { onError })
    beginExportRun(tenant, job, { onError })
    return shown(job, `/exports/${job.id}`)
  },

  GetExports: async ({ tenant, principal, onError }) => {
    await beginAbandoned(tenant, { onError })
    const jobs = await listExports(tenant.read, readableLists(principal))
    return { body: JSON.stringify({ items: jobs.map(withoutInternals) }) }
  },

  GetExport: async ({ tenant, principal, params: { exportId }, onError }) => {
    const job = await exportOf(tenant.read, principal, exportId)
    if (job.isAbandoned) beginExportRun(tenant, job, { onError })
    return shown(job)
  },

  DownloadExport: async ({ tenant, principal, author, params: { exportId, fileName } }) => {
    const job = await exportOf(tenant.read, principal, exportId)
    const part = job.files.find(({ name }) => name === fileName)
    if (!part) throw new Problem('not_found', 'This export has no such file, or is not done.')
    return { body: '', file: fileOf(tenant, job, part, author) }
  },

  DeleteExport: async ({ tenant, principal, writer, params: { exportId } }) => {
    const job = await tenant.transaction(async (query) => {
      const { id } = await exportOf(query, principal, exportId)
      if (await deleteExport(query, id))
        await audit(query, writer.author, [{ action: 'deleted', resource: 'exports', recordId: id }])
      return exportOf(query, principal, id)
    })
    cancelHere(job.id)
    return shown(job)
  },
}

/** Finds an export, also that of another user: who may read its lists may read all that it contains. */
const exportOf = async (query: TenantQuery, principal: Principal, id: string): Promise<ExportJob> => {
  const job = await findExport(query, id)
  // An export is deleted after a day.
  if (!job) throw new Problem('not_found', `There is no export "${id.slice(0, 100)}" in this tenant.`)
  requireReadable(principal, job.resources)
  return job
}

const withoutInternals = ({ isAbandoned: _, ...job }: ExportJob) => job

const shown = (job: ExportJob, location?: string): HandlerResult => ({
  body: JSON.stringify(withoutInternals(job)),
  location,
})

const retrySeconds = 10

const tooMany = (what: 'too many at once' | 'too many kept'): Problem =>
  new Problem(
    'too_many_requests',
    what === 'too many at once'
      ? `${exportLimits.atOnce} exports of this tenant wait or are being made: wait until one is done, or delete one.`
      : 'Too many exports of this tenant are kept, or too large ones: delete some, or wait until the oldest is gone.',
    { headers: { 'retry-after': String(retrySeconds) } },
  )

const mediaTypes = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' } as const

/** Files that somebody downloads from this thread. */
const downloads = new LRUCache<string, true>(atMost(10_000))

/**
 * An entry for each download from its first byte. A part that goes on with one that this thread has noted has none of its own; any other
 * part has, or who leaves out the first byte would take the rest unseen.
 */
const noteDownload = async (tenant: TenantDatabase, { id }: ExportJob, file: string, from: number, author: Caller) => {
  const key = `${author.token} ${id} ${file}`
  if (from > 0 && downloads.has(key)) return
  const event = { action: 'downloaded', resource: 'exports', recordId: id, after: JSON.stringify({ file }) }
  await tenant.transaction((query) => audit(query, author, [event]))
  downloads.set(key, true)
}

const fileOf = (
  tenant: TenantDatabase,
  job: ExportJob,
  { name, bytes, sha256 }: ExportedPart,
  author: Caller,
): FileResponse => ({
  name,
  bytes,
  etag: `"${sha256}"`,
  mediaType: job.gzip ? 'application/gzip' : mediaTypes[job.format],
  read: async function* (from, to) {
    for (let at = from; at < to; ) {
      const number = Math.floor(at / chunkBytes)
      const chunk = await readChunk(tenant.read, job.id, name, number)
      const content = chunk?.subarray(at - number * chunkBytes, to - number * chunkBytes)
      // It was deleted meanwhile; the caller sees that the file ends too early.
      if (!content?.length) throw new Problem('not_found', 'The export was deleted.')
      if (at === from) await noteDownload(tenant, job, name, from, author)
      yield content
      at += content.length
    }
  },
})
