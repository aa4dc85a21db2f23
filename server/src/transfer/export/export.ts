import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type ResourceName, resourceNames, storedFieldsOf } from '@masthead/contract'
import type { Client } from 'pg'
import { type CopyToStreamQuery, to as copyTo } from 'pg-copy-streams'
import { beginSnapshot } from '../../database/bulk.ts'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { Refusal } from '../../refusal.ts'
import { csvLine } from '../files/csv-rows.ts'
import type { FileFormat } from '../files/file-names.ts'
import { columnsToQuote, copyOut } from './copy-out.ts'
import { asRefusal, type ExportFolder, openExportFolder } from './export-folder.ts'

export type ExportRequest = {
  folder: string
  format: FileFormat
  gzip: boolean
  /** For CSV: a spreadsheet must not take a text for a formula. */
  spreadsheet: boolean
  /** Whether files of the same names may be replaced. */
  replace: boolean
  signal: AbortSignal
  /** Called often; `lines` are at least as many as the records written. */
  onProgress: (resource: ResourceName, lines: number, records: number) => void
}

export type ExportedFile = { file: string; resource: ResourceName; rows: number }

/** Writes a snapshot of a tenant, one file for each resource: all of them, or none. */
export const exportRecords = async (database: TenantDatabase, request: ExportRequest): Promise<ExportedFile[]> => {
  const names = resourceNames.map((resource) => nameOf(resource, request))
  const folder = await openExportFolder(request.folder, names, request)
  try {
    const { inBulk, tenantId } = await database.asOfNow()
    const files = await inBulk((client, query) => writeFiles(client, query, tenantId, folder, request))
    request.signal.throwIfAborted()
    await folder.complete()
    return files
  } catch (error) {
    if (request.signal.aborted) throw new Refusal('the export was stopped: nothing was exported')
    throw asRefusal(request.folder, error)
  } finally {
    await folder.close()
  }
}

const nameOf = (resource: ResourceName, { format, gzip }: ExportRequest): string =>
  `${resource}.${format}${gzip ? '.gz' : ''}`

const writeFiles = async (
  client: Client,
  query: TenantQuery,
  tenantId: string,
  folder: ExportFolder,
  request: ExportRequest,
): Promise<ExportedFile[]> => {
  // One snapshot for all files, so that whatever a record refers to is there; and `copyOut` is made to need no sort.
  await beginSnapshot(client, query)
  await client.query('set local enable_sort = off')
  const totals = await totalsOf(query)
  const quoted = new Map<ResourceName, string[]>()
  if (request.format === 'csv' && !request.spreadsheet)
    for (const resource of resourceNames) quoted.set(resource, await columnsToQuote(query, resource))
  const copies: { resource: ResourceName; copied: CopyToStreamQuery }[] = []
  for (const resource of resourceNames) {
    const copied = await writeFile(
      client,
      tenantId,
      folder,
      { resource, quoted: quoted.get(resource) ?? [] },
      totals.get(resource) ?? 0,
      request,
    )
    copies.push({ resource, copied })
  }
  await query.withoutTenant({ text: 'commit' })
  // The row count arrives after the last row.
  return copies.map(({ resource, copied }) => ({ file: nameOf(resource, request), resource, rows: copied.rowCount }))
}

const totalsOf = async (query: TenantQuery): Promise<Map<string, number>> => {
  const text = `select resource, sum(count)::bigint as count from tallies
    where tenant_id = $1 and facet = '' and level = 62 group by resource`
  const rows = await query<{ resource: string; count: number }>({ text })
  return new Map(rows.map(({ resource, count }) => [resource, count]))
}

const writeFile = async (
  client: Client,
  tenantId: string,
  folder: ExportFolder,
  { resource, quoted }: { resource: ResourceName; quoted: readonly string[] },
  total: number,
  request: ExportRequest,
): Promise<CopyToStreamQuery> => {
  const { format, gzip, spreadsheet, signal, onProgress } = request
  const copied = client.query(copyTo(copyOut(tenantId, resource, format, { forSpreadsheet: spreadsheet, quoted })))
  // The connection may emit an error even when writing has failed and nobody listens any more.
  copied.on('error', () => {})
  const names = format === 'csv' ? csvLine(storedFieldsOf(resource).map(({ name }) => name)) : ''
  // Excel recognises UTF-8 by the byte order mark.
  const header = spreadsheet ? `\uFEFF${names}` : names
  const counted = withHeader(header, (lines) => onProgress(resource, lines, total))
  const file = folder.write(nameOf(resource, request))
  // The gzip header has neither time nor name, so the same records give the same bytes.
  await pipeline(gzip ? [copied, counted, createGzip(), file] : [copied, counted, file], { signal })
  return copied
}

const lineFeed = 0x0a

const withHeader = (header: string, onLines: (lines: number) => void): Transform => {
  let lines = 0
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) lines++
      onLines(lines)
      done(null, chunk)
    },
  })
  if (header) counting.push(header)
  return counting
}
