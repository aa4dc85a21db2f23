import { createWriteStream, type Dirent } from 'node:fs'
import { mkdtemp, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../data-folder.ts'
import { fileTrouble } from '../../file-trouble.ts'
import { Refusal } from '../../refusal.ts'
import { importedAs } from '../files/file-names.ts'

const unfinishedPrefix = '.masthead-export-'
const abandonedAfterMilliseconds = 86_400_000

/** Nobody sees the files of an export before `complete` has put all of them in their places. */
export const openExportFolder = async (folder: string, names: readonly string[], { replace }: { replace: boolean }) => {
  try {
    // Exports hold personal data, so only their owner may read them.
    await makeFolder(folder, 0o700)
    const entries = await readdir(folder, { withFileTypes: true })
    refuseOthers(folder, entries, names, replace)
    await removeAbandoned(folder, entries)
    const unfinished = await mkdtemp(join(folder, unfinishedPrefix))
    return {
      /** Anew, when it was begun before. */
      write: (name: string) => createWriteStream(join(unfinished, name), { mode: 0o600, flush: true }),
      complete: async () => {
        // In the order of references, so that even a crash in between leaves no record that refers to nothing.
        for (const name of names) await rename(join(unfinished, name), join(folder, name))
        await rmdir(unfinished)
        await flush(folder)
      },
      // A file that was just being opened may still come up.
      close: () => rm(unfinished, { recursive: true, force: true, maxRetries: 5 }),
    }
  } catch (error) {
    throw asRefusal(folder, error)
  }
}

/** An import of the folder would take these files beside the new ones, and bring the same records twice. */
const refuseOthers = (folder: string, entries: readonly Dirent[], names: readonly string[], replace: boolean): void => {
  for (const entry of entries) {
    const resource = importedAs(entry.name)
    const ours = names.find((name) => resource && importedAs(name) === resource)
    if (ours === undefined) continue
    if (entry.name !== ours || entry.isDirectory()) {
      const beside = `${folder} holds ${entry.name}, which would be imported with the new ${ours}`
      throw new Refusal(`${beside}: remove it, or export to another folder`)
    }
    if (replace) continue
    throw new Refusal(`${folder} already holds ${ours}: --force replaces it, or export to another folder`)
  }
}

/** A killed export leaves personal data behind. */
const removeAbandoned = async (folder: string, entries: readonly Dirent[]): Promise<void> => {
  for (const entry of entries) {
    if (!entry.name.startsWith(unfinishedPrefix) || !entry.isDirectory()) continue
    const path = join(folder, entry.name)
    if (Date.now() - (await lastWritten(path)) > abandonedAfterMilliseconds) {
      await rm(path, { recursive: true, force: true })
    }
  }
}

const lastWritten = async (folder: string): Promise<number> => {
  try {
    const paths = [folder, ...(await readdir(folder)).map((name) => join(folder, name))]
    return Math.max(...(await Promise.all(paths.map(async (path) => (await stat(path)).mtimeMs))))
  } catch {
    // Another export is just completing it.
    return Date.now()
  }
}

/** Makes the new names survive a crash of the machine. */
const flush = async (folder: string): Promise<void> => {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

export const asRefusal = (folder: string, error: unknown): unknown => {
  if (error instanceof Refusal) return error
  const trouble = fileTrouble(folder, error)
  return trouble ? new Refusal(`${trouble}, and nothing was exported: choose another folder`, { cause: error }) : error
}
