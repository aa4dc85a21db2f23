import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export type Account = { uid: number; gid: number }
export type Outcome = { ok: boolean; output: string }
export type Operator = {
  /** the account that owns the cluster, when it is not the one this process runs under */
  account: Account | undefined
  run(file: string, ...args: string[]): Promise<Outcome>
}

/** PostgreSQL refuses to run as root, so root hands the cluster and the commands on it to another account. */
export async function findOperator(cluster: string, pgCtl: string, say: (line: string) => void): Promise<Operator> {
  const owner = await stat(cluster).catch(() => undefined)
  const self = process.getuid?.()
  if (self !== 0) {
    if (owner && self !== undefined && owner.uid !== self) {
      throw new Error(
        `${cluster} belongs to another user (uid ${owner.uid}): run as that user, or choose another --data-dir`,
      )
    }
    return { account: undefined, run: (file, ...args) => execute(file, args) }
  }
  const isOwned = owner !== undefined && owner.uid !== 0
  const account = isOwned ? { uid: owner.uid, gid: owner.gid } : await findUnprivilegedAccount(say)
  if (account.uid === (await accountNamed(everybodys))?.uid) say(warnOfSharedAccount(cluster))
  let refusal = ''
  for (const run of waysToRunAs(account)) {
    const outcome = await run('/bin/sh', '-c', reachesBoth, pgCtl, dirname(cluster), join(pgCtl, bootstrapFile))
    if (outcome.ok) return { account, run }
    refusal ||= findCause(outcome.output)
  }
  throw new Error(
    `PostgreSQL does not run as root, and uid ${account.uid} cannot run it on ${cluster} (${refusal}): ` +
      'move the program or --data-dir to where that user can reach it, run as another user, or set DATABASE_URL',
  )
}

// Opens and executes for real, because asking by access(2) or mode bits misses capabilities, ACLs and mount options.
const reachesBoth = 'cd "$1" && : <"$2" && exec "$0" --version'
const bootstrapFile = '../../share/postgresql/postgres.bki'

function waysToRunAs(account: Account): Operator['run'][] {
  return [
    (file, ...args) => execute(file, args, account),
    // A checkout below /root is closed to every other account, unless it keeps the one capability to pass through.
    ...['dac_read_search', 'dac_override'].map((capability): Operator['run'] => {
      const prefix = [
        `--reuid=${account.uid}`,
        `--regid=${account.gid}`,
        '--clear-groups',
        // Without it access(2), which PostgreSQL asks about its own files, answers as if there were no capability.
        '--securebits=+no_setuid_fixup',
        `--inh-caps=+${capability}`,
        `--ambient-caps=+${capability}`,
        '--',
      ]
      return (file, ...args) => execute('setpriv', [...prefix, file, ...args])
    }),
  ]
}

/** One that only Masthead uses, made when it is missing. PostgreSQL needs one that has a name. */
const ownAccount = 'masthead'
/** Used by whatever else wants no privileges, all of which could read and change the data. */
const everybodys = 'nobody'

async function findUnprivilegedAccount(say: (line: string) => void): Promise<Account> {
  const found = (await accountNamed(ownAccount)) ?? (await accountNamed('postgres')) ?? (await createAccount(say))
  const account = found ?? (await accountNamed(everybodys))
  if (account) return account
  throw new Error(
    `PostgreSQL does not run as root: add a user named ${ownAccount}, run as another user, or set DATABASE_URL`,
  )
}

async function accountNamed(name: string): Promise<Account | undefined> {
  const accounts = await readFile('/etc/passwd', 'utf8').catch(() => '')
  const found = accounts.match(new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm'))
  return found && found[1] !== '0' ? { uid: Number(found[1]), gid: Number(found[2]) } : undefined
}

/** By the program that most systems have, or by BusyBox. */
async function createAccount(say: (line: string) => void): Promise<Account | undefined> {
  const ways: [file: string, ...args: string[]][] = [
    ['useradd', '--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent', '--shell', noShell],
    ['adduser', '-S', '-D', '-H', '-h', '/nonexistent', '-s', noShell],
  ]
  for (const [file, ...args] of ways) {
    const { ok } = await execute(file, [...args, ownAccount])
    // Another process may have been quicker.
    const account = await accountNamed(ownAccount)
    if (ok && account) say(`Created the system account "${ownAccount}", because PostgreSQL does not run as root`)
    if (account) return account
  }
  return undefined
}

const noShell = '/usr/sbin/nologin'

const warnOfSharedAccount = (cluster: string): string =>
  `${cluster} belongs to the account "${everybodys}", under which other programs run, too: stop Masthead, add a user named ` +
  `${ownAccount}, and give it the folder: chown -R ${ownAccount}: ${cluster}`

// A fixed environment, because PGDATA, PGPORT, LC_ALL and the like would otherwise leak into the cluster.
const env = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' }

export function execute(file: string, args: string[], account?: Account): Promise<Outcome> {
  return new Promise<Outcome>((resolve) => {
    execFile(file, args, { ...account, env, cwd: '/' }, (error, stdout, stderr) =>
      resolve({ ok: error === null, output: stderr || stdout || (error?.message ?? '') }),
    )
    // Some failures to spawn, such as EPERM without the right to change accounts, are thrown.
  }).catch((error: Error) => ({ ok: false, output: error.message }))
}

/** The line of PostgreSQL's output that tells why: the first error, or the first line when none is marked. */
export function findCause(output: string): string {
  const errors = output.match(/(?<=\b(?:FATAL|PANIC|ERROR|error):\s+)\S.*/g)
  return errors?.[0] ?? output.trim().split('\n', 1)[0] ?? ''
}
