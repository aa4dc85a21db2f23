import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { dataDirectory, type Environment, type Outcome } from './masthead-process.ts'

export type Run = (args: readonly string[], environment: Environment, input?: string) => Promise<Outcome>
/** What the process of a session is sent. */
export type GivenCommand = { args: readonly string[]; environment: Environment; input: string }

/** Sessions that carry out nothing at the moment. They end with the process of the tests. */
const idle: Session[] = []

/**
 * Runs commands in processes that stay, because to start a process takes longer than most commands: one after another in
 * the same one, side by side in as many. For commands of which another test shows that they run as processes of their own.
 */
export const runInSession: Run = async (args, environment, input = '') => {
  const { child, run } = idle.pop() ?? startSession()
  // A session that has nothing to do does not keep the process of the tests from ending.
  child.ref()
  child.channel?.ref()
  const outcome = await run({ args, environment, input })
  child.unref()
  child.channel?.unref()
  idle.push({ child, run })
  return outcome
}

type Session = ReturnType<typeof startSession>

const startSession = () => {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const file = fileURLToPath(new URL('command-session-process.ts', import.meta.url))
  const child = fork(file, {
    env: { PATH, HOME, NODE_COMPILE_CACHE, MASTHEAD_DATA_DIR: dataDirectory },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  // Some commands listen to other signals.
  process.once('exit', () => child.kill('SIGKILL'))
  const leaves = once(child, 'close').then(() => Promise.reject(new Error('the process of the session has ended')))
  leaves.catch(() => {})
  const run = async (given: GivenCommand): Promise<Outcome> => {
    child.send(given)
    const [outcome] = await Promise.race([once(child, 'message'), leaves])
    return outcome
  }
  return { child, run }
}
