import type { Export, ExportInput, Masthead } from '@masthead/client'
import { type ListedName, mostIds, resources } from '@masthead/contract'
import { fetchPage } from '../records/queries.ts'

export type ExportFilters = Readonly<Record<string, string | boolean>>
export type Exported = { records: number; content: Blob }

export type Progress =
  | { step: 'finding' | 'waiting' }
  | { step: 'writing'; records: number; expected: number | null }
  | { step: 'loading'; bytes: number; of: number }

/** A search of a whole list has no bound, so an export takes no words: only the records that they find, by their identifiers. */
export class TooManyFound extends Error {
  readonly most = mostIds
}

const lookMilliseconds = 700

/** Has the service make the file, and brings it. What is no longer wanted is cancelled there, too. */
export const makeExport = async (
  masthead: Masthead,
  name: ListedName,
  filters: ExportFilters,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Exported> => {
  onProgress({ step: 'finding' })
  const found = filters.search === undefined ? filters : await foundBy(masthead, name, filters, signal)
  if (found === null) return { records: 0, content: new Blob([]) }
  // The filters were read by the contract of the list, which an export shares.
  const asked = { resources: [name], filters: { [name]: found }, format: 'csv', spreadsheet: true } as ExportInput
  let job = await masthead.exports.create(asked, { signal })
  try {
    while (job.state === 'waiting' || job.state === 'running') {
      onProgress(
        job.state === 'waiting'
          ? { step: 'waiting' }
          : { step: 'writing', records: job.records, expected: job.expected },
      )
      await pause(signal)
      job = await masthead.exports.get(job.id, { signal })
    }
  } catch (error) {
    // A page that was closed needs no file. Where this fails, the service deletes the file after a day.
    if (signal.aborted) masthead.exports.delete(job.id).catch(() => {})
    throw error
  }
  return load(masthead, job, onProgress, signal)
}

const load = async (
  masthead: Masthead,
  { id, state, files, records, problem }: Export,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Exported> => {
  const [file] = files
  if (state !== 'done' || !file) throw new Error(problem ?? 'The export was deleted before it could be downloaded.')
  const parts: BlobPart[] = []
  let bytes = 0
  for await (const part of masthead.exports.download(id, file.name, { signal })) {
    parts.push(new Uint8Array(part))
    bytes += part.length
    onProgress({ step: 'loading', bytes, of: file.bytes })
  }
  return { records, content: new Blob(parts, { type: 'text/csv' }) }
}

/** The same records by their identifiers; null when there are none. */
const foundBy = async (
  masthead: Masthead,
  name: ListedName,
  filters: ExportFilters,
  signal: AbortSignal,
): Promise<ExportFilters | null> => {
  const { items, nextCursor } = await fetchPage(masthead, name, { ...filters, pageSize: mostIds }, signal)
  if (nextCursor !== null) throw new TooManyFound()
  // A list leaves some records out also when they are named.
  const includes = Object.keys(resources[name].listing.leftOutUnless).filter((include) => filters[include] === true)
  if (items.length === 0) return null
  return { ids: items.map(({ id }) => id).join(), ...Object.fromEntries(includes.map((include) => [include, true])) }
}

const pause = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, lookMilliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
