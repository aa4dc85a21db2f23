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
export async function findOperator(cluster: string, pgCtl: string): Promise<Operator> {
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
  const account = owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : await findUnprivilegedAccount()
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

async function findUnprivilegedAccount(): Promise<Account> {
  const accounts = await readFile('/etc/passwd', 'utf8').catch(() => '')
  for (const name of ['postgres', 'nobody']) {
    const found = accounts.match(new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm'))
    if (found && found[1] !== '0') return { uid: Number(found[1]), gid: Number(found[2]) }
  }
  throw new Error(
    'PostgreSQL does not run as root: add a user named postgres, run as another user, or set DATABASE_URL',
  )
}

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
