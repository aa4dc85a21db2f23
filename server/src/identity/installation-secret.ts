import { randomBytes } from 'node:crypto'
import { chown, link, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openDataFolder } from '../data-folder.ts'

const readSecret = (file: string): Promise<string | null> => readFile(file, 'utf8').catch(() => null)

/** The secret of an installation without MASTHEAD_SECRET: created once, and readable by its owner only. */
export const ensureSecret = async (dataDirectory: string): Promise<string> => {
  const file = join(dataDirectory, 'secret')
  const stored = await readSecret(file)
  if (stored !== null) return stored
  await openDataFolder(dataDirectory)
  // When two processes start at once, `link` lets one of them win, with a complete file.
  const draft = `${file}.${randomBytes(8).toString('hex')}`
  await writeFile(draft, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true, flag: 'wx' })
  // A command of root makes it for the service that owns the folder.
  const { uid, gid } = await stat(dataDirectory)
  if (process.getuid?.() === 0 && uid !== 0) await chown(draft, uid, gid)
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft, { force: true })
  return readFile(file, 'utf8')
}

export const findSecret = async (dataDirectory: string) => {
  const file = join(dataDirectory, 'secret')
  const secret = await readSecret(file)
  return secret === null ? null : { secret, file, isOpenToOthers: ((await stat(file)).mode & 0o077) !== 0 }
}
