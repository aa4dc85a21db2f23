import { Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type ResourceName, resourceNames, storedFieldsOf } from '@masthead/contract'
import type { Client } from 'pg'
import { type CopyToStreamQuery, to as copyTo } from 'pg-copy-streams'
import { beginSnapshot } from '../../database/bulk.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { totalLevel } from '../../database/tally-levels.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { Refusal } from '../../refusal.ts'
import { csvLine } from '../files/csv-rows.ts'
import type { FileFormat } from '../files/file-names.ts'
import { byteOrderMark } from '../files/text-encoding.ts'
import { columnsToQuote, copyOut, type Selection } from './copy-out.ts'
import { asRefusal, openExportFolder } from './export-folder.ts'

/** How records are written. */
export type FileOptions = {
  format: FileFormat
  gzip: boolean
  /** For CSV: a spreadsheet must not take a text for a formula. */
  spreadsheet: boolean
}

type ExportRequest = FileOptions & {
  folder: string
  /** Whether files of the same names may be replaced. */
  replace: boolean
  signal: AbortSignal
  /** Called often; `lines` are at least as many as the records written. */
  onProgress: (resource: ResourceName, lines: number, records: number) => void
}

type ExportedFile = { file: string; resource: ResourceName; rows: number }

/** Writes a snapshot of a tenant, one file for each resource: all of them, or none. */
export const exportRecords = async (database: TenantDatabase, request: ExportRequest): Promise<ExportedFile[]> => {
  const names = resourceNames.map((resource) => fileNameOf(resource, request))
  const folder = await openExportFolder(request.folder, names, request)
  try {
    const { inBulk, tenantId } = await database.asOfNow()
    const files = await inBulk(async (client, query) => {
      await beginExport(client, query)
      const totals = await totalsOf(query)
      return writeFiles(client, query, tenantId, {
        ...request,
        selections: resourceNames.map((resource) => ({ resource })),
        write: (name) => folder.write(name),
        onLines: (resource, lines) => request.onProgress(resource, lines, totals.get(resource) ?? 0),
      })
    })
    request.signal.throwIfAborted()
    await folder.complete()
    return files
  } catch (error) {
    if (request.signal.aborted) throw new Refusal('the export was stopped, and nothing was exported: run it again')
    throw asRefusal(request.folder, error)
  } finally {
    await folder.close()
  }
}

const fileNameOf = (resource: ResourceName, { format, gzip }: Pick<FileOptions, 'format' | 'gzip'>): string =>
  `${resource}.${format}${gzip ? '.gz' : ''}`

/** One snapshot for all files, so that whatever a record refers to is there; and `copyOut` is made to need no sort. */
export const beginExport = async (client: Client, query: TenantQuery): Promise<void> => {
  await beginSnapshot(client, query)
  await client.query('set local enable_sort = off')
}

type WriteOptions = FileOptions & {
  selections: readonly Selection[]
  /** Opens the file of this name. */
  write: (name: string) => Writable
  signal: AbortSignal
  /** Called often; the lines so far are at least as many as the records. */
  onLines: (resource: ResourceName, lines: number) => void
}

/** Writes a file for each selection, within a transaction of `beginExport`, which it ends. */
export const writeFiles = async (
  client: Client,
  query: TenantQuery,
  tenantId: string,
  writing: WriteOptions,
): Promise<ExportedFile[]> => {
  const quoted = new Map<ResourceName, string[]>()
  if (writing.format === 'csv' && !writing.spreadsheet)
    for (const { resource } of writing.selections) quoted.set(resource, await columnsToQuote(query, resource))
  const copies: { resource: ResourceName; copied: CopyToStreamQuery }[] = []
  for (const selection of writing.selections) {
    const { resource } = selection
    const copied = await writeFile(client, tenantId, { ...selection, quoted: quoted.get(resource) ?? [] }, writing)
    copies.push({ resource, copied })
  }
  await query.withoutTenant({ text: 'commit' })
  // The row count arrives after the last row.
  return copies.map(({ resource, copied }) => ({
    file: fileNameOf(resource, writing),
    resource,
    rows: copied.rowCount,
  }))
}

const totalsOf = async (query: TenantQuery): Promise<Map<string, number>> => {
  const text = `select resource, sum(count)::bigint as count from tallies
    where tenant_id = $1 and facet = '' and level = ${totalLevel} group by resource`
  const rows = await query<{ resource: string; count: number }>({ text })
  return new Map(rows.map(({ resource, count }) => [resource, count]))
}

const writeFile = async (
  client: Client,
  tenantId: string,
  { quoted, ...selection }: Selection & { quoted: readonly string[] },
  { format, gzip, spreadsheet, signal, write, onLines }: WriteOptions,
): Promise<CopyToStreamQuery> => {
  const { resource } = selection
  const copied = client.query(copyTo(copyOut(tenantId, selection, format, { forSpreadsheet: spreadsheet, quoted })))
  // The connection may emit an error even when writing has failed and nobody listens any more.
  copied.on('error', () => {})
  const names = format === 'csv' ? csvLine(storedFieldsOf(resource).map(({ name }) => name)) : ''
  // Excel recognises UTF-8 by the byte order mark.
  const header = spreadsheet ? byteOrderMark + names : names
  const counted = withHeader(header, (lines) => onLines(resource, lines))
  const file = write(fileNameOf(resource, { format, gzip }))
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
