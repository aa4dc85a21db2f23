import { link, open, rm } from 'node:fs/promises'
import { beginSnapshot } from '../database/bulk.ts'
import type { TenantDatabase } from '../database/database.ts'
import { Refusal } from '../refusal.ts'
import { type Entry, entriesAfter, noValues } from './queries.ts'

const entriesAtOnce = 1_000

/** Writes a snapshot of all entries as lines of JSON and returns their count. The file appears when it is complete. */
export const exportAudit = async (
  tenant: TenantDatabase,
  path: string,
  { signal, onEntries }: { signal: AbortSignal; onEntries: (count: number) => void },
): Promise<number> => {
  const unfinished = `${path}.${process.pid}.unfinished`
  // The log holds personal data, so only its owner may read it.
  const file = await open(unfinished, 'wx', 0o600).catch((error) => {
    throw new Refusal(`cannot write ${path}: ${error.message}; choose another file with --to`)
  })
  try {
    const count = await tenant.inBulk(async (client, query) => {
      await beginSnapshot(client, query)
      let written = 0
      for (let after: number | null = 0; after !== null; ) {
        signal.throwIfAborted()
        const entries: Entry[] = await entriesAfter(query, after, entriesAtOnce)
        await file.appendFile(entries.map((entry) => `${lineOf(entry)}\n`).join(''))
        written += entries.length
        onEntries(written)
        after = entries.at(-1)?.number ?? null
      }
      return written
    })
    await file.sync()
    // A link, unlike a rename, never replaces a file.
    await link(unfinished, path).catch((error) => {
      throw error.code === 'EEXIST' ? new Refusal(`${path} exists: choose another name`) : error
    })
    return count
  } finally {
    await file.close()
    await rm(unfinished, { force: true })
  }
}

const lineOf = ({ values, isErased, at, ...entry }: Entry): string => {
  const head = JSON.stringify({ ...entry, at, ...(isErased && { erased: true }) })
  return `${head.slice(0, -1)},${(values ?? noValues).slice(1)}`
}
