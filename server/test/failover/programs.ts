import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { say } from '../../src/commands/output.ts'
import { isAlive } from '../processes/masthead-process.ts'

export type Account = { uid: number; gid: number } | null

/** A folder and the programs that run in it. All of them end with this process, however it ends. */
export class Programs {
  readonly folder: string
  readonly #account: Account
  readonly #children = new Map<string, ChildProcess>()
  readonly #keep: boolean
  readonly #environment: NodeJS.ProcessEnv
  #hasEnded = false

  constructor({ keep }: { keep: boolean }) {
    this.#keep = keep
    this.#account = unprivilegedAccount()
    this.folder = mkdtempSync(join(tmpdir(), 'masthead-failover-'))
    this.#environment = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C.UTF-8', HOME: this.folder }
    if (this.#account) chownSync(this.folder, this.#account.uid, this.#account.gid)
    process.once('exit', () => this.end())
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        say(`${signal}: ending everything`)
        process.exit(130)
      })
    }
  }

  /** Under a name, by which its log is found too. */
  start(name: string, file: string, args: readonly string[]): void {
    const log = openSync(join(this.folder, `${name}.log`), 'a')
    const child = spawn(file, args, {
      ...this.#account,
      cwd: this.folder,
      env: this.#environment,
      stdio: ['ignore', log, log],
      // Ctrl-C is for us: they end in our order.
      detached: true,
    })
    child.once('error', (error) => {
      throw new Error(`${file} cannot be started: ${error.message}`)
    })
    this.#children.set(name, child)
  }

  /** To its end. */
  async run(file: string, args: readonly string[]): Promise<void> {
    await promisify(execFile)(file, args, { ...this.#account, cwd: this.folder, env: this.#environment })
  }

  pid(name: string): number {
    const pid = this.#children.get(name)?.pid
    if (pid === undefined) throw new Error(`${name} does not run`)
    return pid
  }

  /** The server of a data folder and its own processes. */
  postgres(dataFolder: string): number[] {
    const postmaster = Number.parseInt(readOrEmpty(join(this.folder, dataFolder, 'postmaster.pid')), 10)
    return postmaster > 0 && isAlive(postmaster) ? [postmaster, ...childrenOf(postmaster)] : []
  }

  signal(pids: readonly number[], signal: NodeJS.Signals): void {
    for (const pid of pids) {
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended by itself.
      }
    }
  }

  /** Ends all of them. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    // Those that would start PostgreSQL again go first. PostgreSQL itself frees its shared memory when it is asked to end.
    this.signal(
      [...this.#children.values()].flatMap(({ pid }) => pid ?? []),
      'SIGKILL',
    )
    const servers = readdirSync(this.folder).map((name) => this.postgres(name))
    for (const server of servers) {
      this.signal(server, 'SIGCONT')
      this.signal(server.slice(0, 1), 'SIGQUIT')
    }
    for (const deadline = Date.now() + 10_000; servers.flat().some(isAlive) && Date.now() < deadline; ) pause(50)
    this.signal(servers.flat(), 'SIGKILL')
    if (this.#keep) process.stderr.write(`The logs are in ${this.folder}\n`)
    else rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Without giving way to anything else: the process is ending. */
const pause = (milliseconds: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

const readOrEmpty = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

export const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && Number(/\) \S (\d+)/.exec(readOrEmpty(`/proc/${pid}/stat`))?.[1]) === parent)

/** PostgreSQL does not run as root. */
const unprivilegedAccount = (): Account => {
  if (process.getuid?.() !== 0) return null
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  if (!uid || !gid) throw new Error('as root this needs the user postgres, which comes with the package postgresql')
  return { uid: Number(uid), gid: Number(gid) }
}

/** Below the range from which outgoing connections take theirs. */
export const freePorts = async (count: number): Promise<number[]> => {
  const found: number[] = []
  for (let port = 20_000 + (process.pid % 10_000); found.length < count; port++)
    if (await isFree(port)) found.push(port)
  return found
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
