import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import '../requests/judged-responses.ts'

/** The command line as an operator runs it: processes of their own, with nothing of our environment but the path. */
export type Environment = Readonly<Record<string, string>>
export type Outcome = { code: number | null; stdout: string; stderr: string }

const main = fileURLToPath(new URL('../../src/main.js', import.meta.url))
/** Where it keeps what is its own, unless a test says otherwise: not in the folder of whoever runs the tests. */
export const dataDirectory = mkdtempSync(join(tmpdir(), 'masthead-data-'))
const children = new Set<ChildProcess>()
// Also when the file ends without its hooks.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(dataDirectory, { recursive: true, force: true })
})

type Output = 'pipe' | number

export const spawnMasthead = (
  args: readonly string[],
  environment: Environment,
  stdout: Output = 'pipe',
  stderr: Output = 'pipe',
  program = main,
) => {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH, HOME, MASTHEAD_DATA_DIR: dataDirectory, ...environment },
    stdio: ['pipe', stdout, stderr],
  })
  children.add(child)
  const said = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text) => (said.stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text) => (said.stderr += text))
  // A command that fails early does not read what it is given.
  child.stdin?.on('error', () => {})
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      children.delete(child)
      resolve({ code, ...said })
    })
  })
  return { child, said, ended }
}

/** `program` is the main file of another version, where it is not to be this one. */
export const runMasthead = (
  args: readonly string[],
  environment: Environment,
  input = '',
  program?: string,
): Promise<Outcome> => {
  const { child, ended } = spawnMasthead(args, environment, 'pipe', 'pipe', program)
  child.stdin?.end(input)
  return ended
}

export type Announced = {
  url: string
  api: string
  docs: string
  metrics?: string
  tenant?: string
  token?: string
  curl?: string
  email?: string
  password?: string
}
export type Serving = {
  pid: number
  announced: Announced
  said: { stdout: string; stderr: string }
  ended: Promise<Outcome>
  /** Asks it to stop, and says how it ended. */
  stop: () => Promise<Outcome>
  kill: () => Promise<Outcome>
}

/** `masthead serve --json`, from the moment that it says where it serves. */
export const startServing = async (
  args: readonly string[],
  environment: Environment,
  stderr?: Output,
  program?: string,
): Promise<Serving> => {
  const { child, said, ended } = spawnMasthead(['serve', '--json', ...args], environment, 'pipe', stderr, program)
  let over = false
  ended.then(
    () => (over = true),
    () => (over = true),
  )
  await until('the service says where it serves', () => over || said.stdout.endsWith('}\n'), 120_000)
  const { pid } = child
  if (over || pid === undefined) throw new Error(`the service did not start: ${said.stderr}`)
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  const announced: Announced = JSON.parse(said.stdout)
  return { pid, announced, said, ended, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') }
}

/** A folder for embedded PostgreSQL that goes with the test file, whatever still runs in it. */
export const temporaryDataDirectory = async (): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'masthead-test-'))
  const directory = join(home, 'data')
  after(async () => {
    await Promise.all(
      [...children].map((child) => {
        const gone = new Promise((resolve) => child.once('close', resolve))
        child.kill('SIGKILL')
        return gone
      }),
    )
    const postmaster = postmasterOf(directory)
    if (postmaster !== undefined && isAlive(postmaster)) {
      process.kill(postmaster, 'SIGQUIT')
      await until('PostgreSQL has ended', () => !isAlive(postmaster))
    }
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  })
  return directory
}

/** The process that runs PostgreSQL in the folder; there is none once it was stopped. */
export const postmasterOf = (dataDirectory: string): number | undefined => {
  try {
    return Number.parseInt(readFileSync(join(dataDirectory, 'postgres/postmaster.pid'), 'utf8'), 10)
  } catch {
    return undefined
  }
}

export const isAlive = (pid: number): boolean => {
  try {
    // One that has ended but was not reaped yet can still be signalled.
    const isZombie = process.platform === 'linux' && /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    return process.kill(pid, 0) && !isZombie
  } catch {
    return false
  }
}

export const accepts = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 })
    const answer = (accepted: boolean) => {
      socket.destroy()
      resolve(accepted)
    }
    socket
      .once('connect', () => answer(true))
      .once('error', () => answer(false))
      .once('timeout', () => answer(false))
  })

/**
 * Waits for what can be seen, however busy the machine is: only what will never come is given up. It looks less often as
 * time passes, because to look takes the time of what it waits for.
 */
export const until = async (what: string, condition: () => boolean | Promise<boolean>, milliseconds = 50_000) => {
  const deadline = Date.now() + milliseconds
  for (let pause = 10; !(await condition()); pause = Math.min(1.5 * pause, 60)) {
    if (Date.now() > deadline) throw new Error(`not within ${milliseconds / 1_000} s: ${what}`)
    await delay(pause)
  }
}

/** Does not start more processes at once than a small machine can run. */
export const severalAtOnce = async <T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  most = 3,
): Promise<void> => {
  const waiting = items.values()
  await Promise.all(
    Array.from({ length: most }, async () => {
      for (const item of waiting) await work(item)
    }),
  )
}
