import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

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

/** Its log goes to `stderr`. */
export const serve = async (
  dataDirectory: string,
  more: Record<string, string> = {},
  stderr: 'inherit' | 'ignore' = 'inherit',
  words: readonly string[] = [],
): Promise<Served> => {
  const server = spawn('masthead', ['serve', '--port', '0', '--json', ...words], {
    env: { ...environmentOf(dataDirectory), ...more },
    stdio: ['ignore', 'pipe', stderr],
  })
  const { url, api } = await firstDocument<{ url: string; api: string }>(server)
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
  WORKERS: '1',
  ALLOW_PRIVATE_ADDRESSES: 'true',
})

/** How the superuser of the embedded server connects while it runs: by what the folder of the cluster says. */
export const superuserOf = async (dataDirectory: string) => {
  const folder = `${dataDirectory}/postgres`
  const read = (name: string) => readFile(`${folder}/${name}`, 'utf8')
  const [, , , port = '', socket, address = ''] = (await read('postmaster.pid')).split('\n')
  const PGPASSWORD = (await read('masthead-password')).trim()
  return { PGHOST: socket ? folder : address, PGPORT: port, PGUSER: 'postgres', PGDATABASE: 'masthead', PGPASSWORD }
}

export const postmasterOf = async (dataDirectory: string): Promise<number> =>
  Number.parseInt(await readFile(`${dataDirectory}/postgres/postmaster.pid`, 'utf8'), 10)

export const connectAsSuperuser = async (dataDirectory: string): Promise<pg.Client> => {
  const { PGHOST, PGPORT, PGUSER, PGDATABASE, PGPASSWORD } = await superuserOf(dataDirectory)
  const client = new pg.Client({
    host: PGHOST,
    port: Number(PGPORT),
    user: PGUSER,
    database: PGDATABASE,
    password: PGPASSWORD,
  })
  await client.connect()
  return client
}

/** A limit or a peer, in a process of its own, with PostgreSQL's superuser. */
export type Rival = { child: ChildProcess; pid: number; origin: string; stop: () => Promise<void> }

/** A program that prints its origin, and ends when its input does. */
export const startProgram = async (dataDirectory: string, program: string, words: string[]): Promise<Rival> => {
  const env = { ...process.env, ...(await superuserOf(dataDirectory)) }
  const child = spawn(program, words, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const { origin } = await firstDocument<{ origin: string }>(child)
  return {
    child,
    pid: child.pid ?? 0,
    origin,
    stop: async () => {
      child.stdin.end()
      await ended
    },
  }
}

export const startRival = async (dataDirectory: string, file: string): Promise<Rival> => {
  const env = { ...process.env, ...(await superuserOf(dataDirectory)), NODE_ENV: 'production' }
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { env })
  const ended = once(child, 'exit')
  const announced = await Promise.race([once(child, 'message'), ended.then(() => null)])
  if (!announced) throw new Error(`${file} ended before it served`)
  const [{ origin }] = announced as [{ origin: string }] // what announced.ts sends
  return {
    child,
    pid: child.pid ?? 0,
    origin,
    stop: async () => {
      child.disconnect()
      await ended
    },
  }
}

const firstDocument = async <T>(server: ChildProcess): Promise<T> => {
  let printed = ''
  for await (const chunk of server.stdout ?? []) {
    printed += chunk
    if (printed.endsWith('}\n')) return JSON.parse(printed)
  }
  throw new Error('the server ended before it served')
}
