import type { Stats } from 'node:fs'
import { access, constants, mkdir, readdir, readFile, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf, messageOf } from './error-message.ts'
import { fileTrouble } from './file-trouble.ts'
import { Refusal } from './refusal.ts'

/** What is wrong with a folder, and what to do about it. */
type FolderTrouble = {
  found: string
  todo: string
  /** It is not there, and cannot be made. */
  isMissing?: true
}

const chooseAnother = 'choose another folder by --data-dir or MASTHEAD_DATA_DIR'
const mountOrChoose = `mount what it leads to, or ${chooseAnother}`

/**
 * Makes a folder and those above it, one at a time: with `recursive`, Node tries for ever where the system cannot make a folder although
 * the one above is there, as in /proc.
 */
export const makeFolder = async (folder: string, mode = 0o777): Promise<void> => {
  const isFolder = async (path: string) => (await stat(path).catch(() => null))?.isDirectory() ?? false
  if (await isFolder(folder)) return
  try {
    await mkdir(folder, { mode })
  } catch (error) {
    // Another process may have made it by now.
    if (await isFolder(folder)) return
    const above = dirname(resolve(folder))
    // Windows has roots that are not there: drives.
    if (codeOf(error) !== 'ENOENT' || above === resolve(folder) || (await isFolder(above))) throw error
    await makeFolder(above, mode)
    await makeFolder(folder, mode)
  }
}

/** Makes the data folder where it is missing. Returns the real path, because a running server is recognised by the path of its folder. */
export const openDataFolder = async (dataDirectory: string): Promise<string> => {
  const trouble = await folderTrouble(dataDirectory)
  if (trouble) throw folderRefusal(trouble)
  try {
    await makeFolder(dataDirectory)
    return await realpath(dataDirectory)
  } catch (error) {
    const folder = resolve(dataDirectory)
    const found = fileTrouble(folder, error) ?? `${folder} cannot be used: ${messageOf(error)}`
    throw folderRefusal({ found, todo: chooseAnother }, error)
  }
}

export const folderRefusal = ({ found, todo }: FolderTrouble, cause?: unknown): Refusal =>
  new Refusal(`${found}: ${todo}`, { cause })

/** Says why this user cannot keep data in the folder, as far as that can be told without making it. */
export const folderTrouble = async (dataDirectory: string): Promise<FolderTrouble | null> => {
  const folder = resolve(dataDirectory)
  const link = await brokenLink(folder)
  if (link) return { found: link, todo: mountOrChoose }
  try {
    const { path, stats, isHidden } = await nearest(folder)
    const trouble = (what: string, todo: string): FolderTrouble => {
      if (path === folder) return { found: what, todo }
      if (isHidden) return { found: `${folder} cannot be reached, because ${what}`, todo }
      return { found: `${folder} cannot be made, because ${what}`, todo, isMissing: true }
    }
    if (!stats.isDirectory()) return trouble(`${path} is a file, not a folder`, chooseAnother)
    const { R_OK, W_OK, X_OK } = constants
    try {
      await access(path, path === folder ? R_OK | W_OK | X_OK : W_OK | X_OK)
      return null
    } catch (error) {
      if (codeOf(error) === 'EROFS')
        return trouble(`${path} is on a read-only disk`, `mount it for writing, or ${chooseAnother}`)
      // Windows, and attributes of a folder that bind its owner and root too.
      if (process.getuid === undefined || codeOf(error) === 'EPERM')
        return trouble(`${path} cannot be written to`, chooseAnother)
      const { found, todo } = await closed(path, stats.uid)
      return trouble(found, todo)
    }
  } catch (error) {
    return { found: `${folder} cannot be used: ${messageOf(error)}`, todo: chooseAnother }
  }
}

/** Says whether the data folder holds a database, or why this user cannot use what it holds. It makes nothing. */
export const findCluster = async (dataDirectory: string): Promise<'none' | 'there' | FolderTrouble> => {
  const trouble = await folderTrouble(dataDirectory)
  if (trouble) return trouble
  const folder = join(resolve(dataDirectory), 'postgres')
  const link = await brokenLink(folder)
  if (link) return { found: link, todo: mountOrChoose }
  const stats = await stat(folder).catch(() => null)
  if (!stats) return 'none'
  if (!stats.isDirectory()) return { found: `${folder} is a file, not a folder`, todo: chooseAnother }
  const self = process.getuid?.()
  // PostgreSQL runs only as the owner of its files, and root can be any owner.
  if (self !== undefined && self !== 0 && self !== stats.uid) return await closed(folder, stats.uid)
  const names = await readdir(folder).catch(() => null)
  if (names === null) return await closed(folder, stats.uid)
  if (names.length === 0) return 'none'
  if ((await readClusterVersion(folder)) !== null) return 'there'
  const restore = 'restore a backup into an empty folder by `masthead restore`'
  return names.includes('PG_VERSION')
    ? { found: `${join(folder, 'PG_VERSION')} is damaged: it holds no version of PostgreSQL`, todo: restore }
    : {
        found: `${folder} is no data folder of PostgreSQL: it has no file PG_VERSION`,
        todo: `${chooseAnother}; if a database was there, ${restore}`,
      }
}

/** The major version of the PostgreSQL that made the folder; null where its file does not tell. */
export const readClusterVersion = async (folder: string): Promise<string | null> => {
  const text = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')
  return /^\d{1,3}(?=\n?$)/.exec(text)?.[0] ?? null
}

/** The folder, or the first above it that this user can see, and whether it hides what is in it. */
const nearest = async (path: string, isHidden = false): Promise<{ path: string; stats: Stats; isHidden: boolean }> => {
  const link = await brokenLink(path)
  if (link) throw new Error(link)
  try {
    return { path, stats: await stat(path), isHidden }
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'EACCES'].includes(codeOf(error)) || dirname(path) === path) throw error
    return nearest(dirname(path), isHidden || codeOf(error) === 'EACCES')
  }
}

/** Says so of a link that leads nowhere, as to a disk that is not mounted: nothing can be made in its place. */
const brokenLink = async (path: string): Promise<string | null> => {
  const target = await readlink(path).catch(() => null)
  if (target === null || (await stat(path).catch(codeOf)) !== 'ENOENT') return null
  return `${path} is a link to ${target}, which is not there`
}

/** The folder is there, but this user may not use it. */
const closed = async (folder: string, uid: number): Promise<FolderTrouble> => {
  if (uid === process.getuid?.())
    return { found: `${folder} does not let its owner read and write it`, todo: `run \`chmod u+rwx '${folder}'\`` }
  const accounts = await readFile('/etc/passwd', 'utf8').catch(() => '')
  const name = new RegExp(`^([^:\n]+):[^:\n]*:${uid}:`, 'm').exec(accounts)?.[1]
  const sudo = `sudo --preserve-env=MASTHEAD_DATA_DIR${uid === 0 ? '' : ` -u ${name ?? `'#${uid}'`}`}`
  return {
    found: `${folder} belongs to another user (${name ?? `uid ${uid}`})`,
    todo: `run this command as that user (\`${sudo} masthead …\`), or ${chooseAnother}`,
  }
}
