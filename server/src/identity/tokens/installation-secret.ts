import { randomBytes } from 'node:crypto'
import { chown, link, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { openDataFolder } from '../../data-folder.ts'

type SecretConfig = Pick<Config, 'secret' | 'dataDirectory'>

/** The secret of an installation: MASTHEAD_SECRET, or one that is made and stored. */
export const installationSecret = async ({ secret, dataDirectory }: SecretConfig): Promise<string> =>
  secret ?? (await ensureSecret(dataDirectory))

/** With an outside issuer there may be none, and none is made before it is needed. */
export const findInstallationSecret = async ({ secret, dataDirectory }: SecretConfig): Promise<string | null> =>
  secret ?? (await findSecret(dataDirectory))?.secret ?? null

const readSecret = (file: string): Promise<string | null> => readFile(file, 'utf8').catch(() => null)

/** Without MASTHEAD_SECRET: created once, and readable by its owner only. */
const ensureSecret = async (dataDirectory: string): Promise<string> => {
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
