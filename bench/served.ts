import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

/** A service in a process of its own, on the data of a folder that is kept from run to run. */
export type Served = {
  pid: number
  origin: string
  api: string
  masthead: (...words: string[]) => string
  stop: () => Promise<void>
}

export const run = (dataDirectory: string, program: string, words: string[], input = ''): string => {
  const { status, stdout } = spawnSync(program, words, {
    env: environmentOf(dataDirectory),
    encoding: 'utf8',
    input,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} failed`)
  return stdout
}

export const serve = async (dataDirectory: string, more: Record<string, string> = {}): Promise<Served> => {
  const server = spawn('masthead', ['serve', '--port', '0', '--json'], {
    env: { ...environmentOf(dataDirectory), ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { url, api } = await firstDocument(server)
  return {
    pid: server.pid ?? 0,
    origin: url,
    api,
    masthead: (...words) => run(dataDirectory, 'masthead', words),
    stop: async () => {
      server.kill('SIGTERM')
      await once(server, 'exit')
    },
  }
}

export const environmentOf = (dataDirectory: string) => ({
  ...process.env,
  MASTHEAD_DATA_DIR: dataDirectory,
  DATABASE_URL: '',
  RATE_LIMIT: 'off',
  LOG_LEVEL: 'warn',
})

const firstDocument = async (server: ChildProcess): Promise<{ url: string; api: string }> => {
  let printed = ''
  for await (const chunk of server.stdout ?? []) {
    printed += chunk
    if (printed.endsWith('}\n')) return JSON.parse(printed)
  }
  throw new Error('the server ended before it served')
}
