import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { exportLimits, type ListedName } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import { totalLevel } from '../../database/tally-levels.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { instantText } from '../../records/stored-record.ts'
import { Refusal } from '../../refusal.ts'
import { beginPace, type Pace } from '../pace.ts'
import type { Selection } from './copy-out.ts'
import { beginExport, writeFiles } from './export.ts'
import {
  type Attempt,
  addChunk,
  chunkBytes,
  countBytes,
  deleteChunks,
  type ExportedPart,
  type ExportJob,
  type ExportProgress,
} from './export-jobs.ts'
import { selectionOf } from './selection.ts'

export type ExportTask = Attempt & Pick<ExportJob, 'resources' | 'filters' | 'format' | 'gzip' | 'spreadsheet'>

export type ExportResult = { files: ExportedPart[]; asOf: string }

type Following = { signal: AbortSignal; onProgress: (progress: ExportProgress) => void }

/** Writes the files of an export into the database, all of one snapshot. */
export const makeExport = async (
  tenant: TenantDatabase,
  task: ExportTask,
  { signal, onProgress }: Following,
): Promise<ExportResult> => {
  const pace = await beginPace((statement) => tenant.read.withoutTenant(statement), signal)
  const { inBulk, tenantId } = await tenant.asOfNow()
  return inBulk(async (client, query) => {
    // It may be begun anew, on another server.
    const kept = await tenant.transaction(async (query) => {
      await deleteChunks(query, task.id)
      return countBytes(query)
    })
    await beginExport(client, query)
    const asOf = await readMoment(query)
    const selections: Selection[] = []
    for (const resource of task.resources)
      selections.push(await selectionOf({ ...tenant, read: query }, resource, task.filters[resource] ?? {}))
    const expected = await expectedRecords(query, selections)
    const lines = new Map<string, number>()
    const target = new ChunkedFiles(tenant, task, pace, exportLimits.keptBytes - kept)
    const files = await writeFiles(client, query, tenantId, {
      ...task,
      selections,
      signal,
      write: (name) => target.open(name),
      onLines: (resource, count) => {
        lines.set(resource, count)
        const written = lines.values().reduce((sum, one) => sum + one, 0)
        // A record may take several lines.
        onProgress({ records: Math.min(written, expected ?? written), expected, asOf })
      },
    })
    signal.throwIfAborted()
    const parts = files.map(({ file, resource, rows }) => ({
      name: file,
      resource: resource as ListedName,
      records: rows, // as the task names them
      ...target.sizeOf(file),
    }))
    return { files: parts, asOf }
  })
}

const readMoment = async (query: TenantQuery): Promise<string> => {
  const [row] = await query.withoutTenant<{ moment: string }>({
    text: `select ${instantText('now()')} as moment`,
  })
  return row?.moment ?? ''
}

/** How many records the lists hold, which are counted; null where a condition applies that is not. */
const expectedRecords = async (query: TenantQuery, selections: readonly Selection[]): Promise<number | null> => {
  let expected = 0
  for (const { resource, classes = [], conditions } of selections) {
    if (conditions) return null
    const [row] = await query<{ count: number }>({
      text: `select coalesce(sum(count), 0)::bigint as count from tallies
        where tenant_id = $1 and resource = $2 and facet = '' and level = ${totalLevel} and class = any ($3::smallint[])`,
      values: [resource, classes],
    })
    expected += row?.count ?? 0
  }
  return expected
}

/** Stores files in chunks of one size, and no more than an export may have. */
class ChunkedFiles {
  readonly #tenant: TenantDatabase
  readonly #attempt: Attempt
  readonly #pace: Pace
  /** What other exports of the tenant leave to this one. Several may have been asked for when there was room for one. */
  readonly #room: number
  readonly #sizes = new Map<string, { bytes: number; sha256: string }>()
  #bytes = 0

  constructor(tenant: TenantDatabase, attempt: Attempt, pace: Pace, room: number) {
    this.#tenant = tenant
    this.#attempt = attempt
    this.#pace = pace
    this.#room = room
  }

  sizeOf(file: string): { bytes: number; sha256: string } {
    return this.#sizes.get(file) ?? { bytes: 0, sha256: createHash('sha256').digest('hex') }
  }

  open(file: string): Writable {
    const hash = createHash('sha256')
    let waiting: Buffer[] = []
    let waitingBytes = 0
    let number = 0
    let bytes = 0
    const store = async (content: Buffer): Promise<void> => {
      hash.update(content)
      bytes += content.length
      await this.#store(file, number++, content)
    }
    const storeFull = async (): Promise<void> => {
      let rest = Buffer.concat(waiting)
      for (; rest.length >= chunkBytes; rest = rest.subarray(chunkBytes)) await store(rest.subarray(0, chunkBytes))
      waiting = [rest]
      waitingBytes = rest.length
    }
    const storeRest = async (): Promise<void> => {
      const rest = Buffer.concat(waiting)
      if (rest.length > 0) await store(rest)
      this.#sizes.set(file, { bytes, sha256: hash.digest('hex') })
    }
    return new Writable({
      highWaterMark: chunkBytes,
      write(content: Buffer, _encoding, done) {
        waiting.push(content)
        waitingBytes += content.length
        if (waitingBytes < chunkBytes) done()
        else storeFull().then(() => done(), done)
      },
      final(done) {
        storeRest().then(() => done(), done)
      },
    })
  }

  async #store(file: string, number: number, content: Buffer): Promise<void> {
    this.#bytes += content.length
    if (this.#bytes > exportLimits.bytes) {
      const most = `${exportLimits.bytes / 2 ** 30} GiB`
      throw new Refusal(`the export has more than ${most}: compress it by \`gzip\`, or narrow it down by filters`)
    }
    if (this.#bytes > this.#room) {
      const most = `${exportLimits.keptBytes / 2 ** 30} GiB`
      throw new Refusal(`the exports of this tenant have more than ${most} together: delete some, and ask for it again`)
    }
    const chunk = { file, number, content }
    if (!(await this.#tenant.transaction((query) => addChunk(query, this.#attempt, chunk))))
      throw new Refusal('the export was deleted, or another server makes it')
    await this.#pace.rest()
  }
}
