import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

/**
 * Goes on in the Node 24 that came along, because that is the one that Masthead is tested with. Returns where there is none and the running
 * Node is newer, and ends the process where it is older. Node 20 must be able to read this file.
 */
export const continueInOwnNode = async () => {
  if (!isMainThread) return
  const program = findOwnNode()
  if (program) await continueIn(program)
  if (Number.parseInt(process.versions.node, 10) > 24) return
  process.stderr.write(
    `masthead: this is Node ${process.versions.node}, and Masthead needs 24.7 or newer: ${remedy()}\n`,
  )
  process.exit(1)
}

const findOwnNode = () => {
  const isWindows = process.platform === 'win32'
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
    return isMusl() ? undefined : join(folder, 'bin', isWindows ? 'node.exe' : 'node')
  } catch {
    return undefined
  }
}

/** What comes along is made for the GNU C library, which Alpine Linux lacks. */
const isMusl = () => {
  if (process.platform !== 'linux') return false
  process.report.excludeNetwork = true
  return !JSON.stringify(process.report.getReport()).includes('"glibcVersionRuntime"')
}

const remedy = () => {
  if (process.platform === 'darwin') return 'install it from nodejs.org, because npm has none for macOS'
  if (isMusl()) return 'install it and set DATABASE_URL to a PostgreSQL, because what npm has needs the GNU C library'
  return 'install it and set DATABASE_URL to a PostgreSQL, or install Masthead again without --omit=optional'
}

/** @param {string} program */
const continueIn = async (program) => {
  const words = [...process.execArgv, ...process.argv.slice(1)]
  // Node 22.15 and newer can become another program, except on Windows.
  if (process.execve && process.platform !== 'win32') process.execve(program, [program, ...words])
  const child = spawn(program, words, { stdio: 'inherit' })
  // Ctrl-C reaches every process of a terminal by itself, and a second signal would cut the stop short.
  const isTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'])
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !isTerminal) child.kill(signal)
    })
  const [code, signal] = await new Promise((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`masthead: ${program} cannot be run (${error.message}): ${remedy()}\n`)
      resolve([1])
    })
    child.once('exit', (...ended) => resolve(ended))
  })
  process.exit(signal ? 128 + constants.signals[signal] : code)
}
