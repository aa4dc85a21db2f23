import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export type Account = { uid: number; gid: number }
type Outcome = { ok: boolean; output: string }
export type Operator = {
  /** The account that owns the cluster; undefined when it is that of this process. */
  account: Account | undefined
  run: (file: string, ...args: string[]) => Promise<Outcome>
}

/** Masthead creates this account when it is missing. PostgreSQL needs an account that has a name. */
const ownAccount = 'masthead'
/** Other programs without privileges use this account too, and could read and change the data. */
const sharedAccount = 'nobody'

/** PostgreSQL refuses to run as root, so root gives the cluster and the commands on it to another account. */
export const findOperator = async (
  cluster: string,
  pgCtl: string,
  libraries: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<Operator> => {
  const environment = { ...env, ...libraries }
  if (process.getuid?.() !== 0) return { account: undefined, run: (file, ...args) => execute(file, args, environment) }
  const owner = await stat(cluster).catch(() => undefined)
  const isOwned = owner !== undefined && owner.uid !== 0
  const account = isOwned ? { uid: owner.uid, gid: owner.gid } : await findUnprivilegedAccount(say)
  if (account.uid === (await accountNamed(sharedAccount))?.uid)
    say(
      `${cluster} belongs to the account "${sharedAccount}", under which other programs run, too: stop Masthead, add a user ` +
        `named ${ownAccount}, and give it the folder: chown -R ${ownAccount}: ${cluster}`,
    )
  let refusal = ''
  for (const run of waysToRunAs(account, environment)) {
    const outcome = await run('/bin/sh', '-c', reachesBoth, pgCtl, dirname(cluster), join(pgCtl, bootstrapFile))
    if (outcome.ok) return { account, run }
    refusal ||= findCause(outcome.output)
  }
  throw new Error(
    `PostgreSQL does not run as root, and uid ${account.uid} cannot run it on ${cluster} (${refusal}): ` +
      'move the program or --data-dir to where that user can reach it, run as another user, or set DATABASE_URL',
  )
}

/** It opens and executes for real, because access(2) and mode bits miss capabilities, ACLs and mount options. */
const reachesBoth = 'cd "$1" && : <"$2" && exec "$0" --version'
const bootstrapFile = '../../share/postgresql/postgres.bki'

const waysToRunAs = ({ uid, gid }: Account, environment: NodeJS.ProcessEnv): Operator['run'][] => [
  (file, ...args) => execute(file, args, environment, { uid, gid }),
  // A checkout below /root is closed to every other account, unless it has a capability to pass through.
  ...['dac_read_search', 'dac_override'].map((capability): Operator['run'] => {
    const capabilities = [`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`]
    // Without no_setuid_fixup, access(2), which PostgreSQL calls for its own files, ignores the capability.
    const options = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--securebits=+no_setuid_fixup']
    return (file, ...args) => execute('setpriv', [...options, ...capabilities, '--', file, ...args], environment)
  }),
]

const findUnprivilegedAccount = async (say: (line: string) => void): Promise<Account> => {
  const found =
    (await accountNamed(ownAccount)) ??
    (await accountNamed('postgres')) ??
    (await createAccount(() => say(`Created ${ownAccountWords}, because PostgreSQL does not run as root`)))
  const account = found ?? (await accountNamed(sharedAccount))
  if (account) return account
  throw new Error(
    `PostgreSQL does not run as root: add a user named ${ownAccount}, run as another user, or set DATABASE_URL`,
  )
}

/** Finds the account of Masthead, or creates it. */
export const ensureOwnAccount = async (say: (line: string) => void): Promise<Account | undefined> =>
  (await accountNamed(ownAccount)) ?? (await createAccount(() => say(`Created ${ownAccountWords}`)))

const accountNamed = async (name: string): Promise<Account | undefined> => {
  const accounts = await readFile('/etc/passwd', 'utf8').catch(() => '')
  const found = accounts.match(new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm'))
  return found && found[1] !== '0' ? { uid: Number(found[1]), gid: Number(found[2]) } : undefined
}

const ownAccountWords = `the system account "${ownAccount}"`
const noShell = '/usr/sbin/nologin'

const createAccount = async (onCreated: () => void): Promise<Account | undefined> => {
  const ways: [file: string, ...args: string[]][] = [
    ['useradd', '--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent', '--shell', noShell],
    // BusyBox has only this one.
    ['adduser', '-S', '-D', '-H', '-h', '/nonexistent', '-s', noShell],
  ]
  for (const [file, ...args] of ways) {
    const { ok } = await execute(file, [...args, ownAccount])
    // Another process may have created it.
    const account = await accountNamed(ownAccount)
    if (ok && account) onCreated()
    if (account) return account
  }
  return undefined
}

/** The environment is fixed, because PGDATA, PGPORT, LC_ALL and the like would otherwise affect the cluster. */
const env = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' }

const execute = (
  file: string,
  args: string[],
  environment: NodeJS.ProcessEnv = env,
  account?: Account,
): Promise<Outcome> =>
  new Promise<Outcome>((resolve) => {
    execFile(file, args, { ...account, env: environment, cwd: '/' }, (error, stdout, stderr) =>
      resolve({ ok: error === null, output: stderr || stdout || (error?.message ?? '') }),
    )
    // Node throws some failures to spawn, such as EPERM without the right to change accounts.
  }).catch((error: Error) => ({ ok: false, output: error.message }))

/** Finds the first error in the output of PostgreSQL, or its first line when none is marked. */
export const findCause = (output: string): string => {
  const errors = output.match(/(?<=\b(?:FATAL|PANIC|ERROR|error):\s+)\S.*/g)
  return errors?.[0] ?? output.trim().split('\n', 1)[0] ?? ''
}
