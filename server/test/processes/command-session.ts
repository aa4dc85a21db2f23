import { fork } from 'node:child_process'
import { once } from 'node:events'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Environment, Outcome } from './masthead-process.ts'

export type Run = (args: readonly string[], environment: Environment, input?: string) => Promise<Outcome>
/** What the process of a session is sent. */
export type GivenCommand = { args: readonly string[]; environment: Environment; input: string }

/**
 * Runs one command after another in one process, because to start a process takes longer than most commands. For commands
 * of which another test shows that they run as processes of their own.
 */
export const openSession = (): Run => {
  const { PATH = '', HOME = '' } = process.env
  const file = fileURLToPath(new URL('command-session-process.ts', import.meta.url))
  const child = fork(file, { env: { PATH, HOME }, execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  // Some commands listen to other signals.
  after(() => child.kill('SIGKILL'))
  const leaves = once(child, 'close').then(() => Promise.reject(new Error('the process of the session has ended')))
  leaves.catch(() => {})
  const run = async (given: GivenCommand): Promise<Outcome> => {
    child.send(given)
    const [outcome] = await Promise.race([once(child, 'message'), leaves])
    return outcome
  }
  let last: Promise<unknown> = Promise.resolve()
  return (args, environment, input = '') => {
    const outcome = last.then(() => run({ args, environment, input }))
    last = outcome.catch(() => {})
    return outcome
  }
}
