import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { GivenCommand } from './command-session.ts'
import type { Outcome } from './masthead-process.ts'

/** Gives each command what belongs to its process: arguments, environment, input, output and exit code. */

const main = fileURLToPath(new URL('../../src/main.js', import.meta.url))
const ownEnvironment = { ...process.env }
/** Thrown where the process would end. What is printed after it would not have been. */
const exit = Symbol('exit')
const streams = ['stdout', 'stderr'] as const

let said = { stdout: '', stderr: '' }
let code = 0
let hasEnded = false
for (const name of streams) {
  process[name].write = (text: string | Uint8Array) => {
    if (!hasEnded) said[name] += String(text)
    return true
  }
}
process.exit = (exitCode) => {
  if (!hasEnded) code = Number(exitCode ?? 0)
  hasEnded = true
  throw exit
}

let count = 0
const run = async ({ args, environment, input }: GivenCommand): Promise<Outcome> => {
  said = { stdout: '', stderr: '' }
  hasEnded = false
  process.argv = [process.execPath, main, ...args]
  process.env = { ...ownEnvironment, ...environment }
  process.exitCode = 0
  Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true })
  count++
  // Another address, so that the file runs again, while those that it imports are there already.
  await import(`../../src/commands/command-line.ts?${count}`)
  if (!hasEnded) code = Number(process.exitCode)
  process.exitCode = 0
  for (const name of streams) process[name].removeAllListeners('error')
  for (const event of process.eventNames()) if (/^SIG/.test(String(event))) process.removeAllListeners(event)
  return { code, ...said }
}

process.on('message', async (given: GivenCommand) => process.send?.(await run(given)))
