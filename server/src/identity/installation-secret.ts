import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The secret of an installation that was given none: made once, kept beside its data, readable by its owner only. */
export const keptSecret = async (dataDirectory: string): Promise<string> => {
  const file = join(dataDirectory, 'secret')
  const kept = await readFile(file, 'utf8').catch(() => null)
  if (kept !== null) return kept
  await mkdir(dataDirectory, { recursive: true })
  // Written aside and linked, so that of two processes that start at once one wins, with a whole file.
  const draft = `${file}.${randomBytes(8).toString('hex')}`
  await writeFile(draft, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true, flag: 'wx' })
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft, { force: true })
  return readFile(file, 'utf8')
}

export type FoundSecret = { secret: string; file: string; isOpenToOthers: boolean }

/** The one that is kept, if there is one; makes none. */
export const findSecret = async (dataDirectory: string): Promise<FoundSecret | null> => {
  const file = join(dataDirectory, 'secret')
  const secret = await readFile(file, 'utf8').catch(() => null)
  return secret === null ? null : { secret, file, isOpenToOthers: ((await stat(file)).mode & 0o077) !== 0 }
}
