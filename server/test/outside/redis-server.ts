import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { createClient } from '@redis/client'
import { until } from '../processes/masthead-process.ts'

/** Why tests with Redis are skipped, or false. */
export const withoutRedis = spawnSync('redis-server', ['--version']).status === 0 ? false : 'there is no redis-server'

type Client = ReturnType<typeof newClient>
const newClient = (url: string) => createClient({ url })

export type RedisServer = {
  url: string
  ask: <T>(work: (client: Client) => Promise<T>) => Promise<T>
  start: () => Promise<void>
  /** Ends it at once; what it held is gone. */
  kill: () => Promise<void>
  /** It keeps its connections and answers nobody. */
  pause: () => void
  resume: () => void
}

/** A Redis of the test file, which keeps nothing on the disk. */
export const startRedis = async (password = ''): Promise<RedisServer> => {
  const directory = await mkdtemp(join(tmpdir(), 'masthead-redis-'))
  const port = await freePort()
  let server: ChildProcess | undefined
  const start = async () => {
    const options = `--port ${port} --bind 127.0.0.1 --appendonly no --maxmemory 64mb --maxmemory-policy noeviction`
    const more = ['--save', '', '--dir', directory, ...(password ? ['--requirepass', password] : [])]
    server = spawn('redis-server', [...options.split(' '), ...more], { stdio: 'ignore' })
    await until('Redis takes connections', () => takesConnections(port))
  }
  const kill = async () => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }
  after(async () => {
    await kill()
    await rm(directory, { recursive: true, force: true })
  })
  await start()
  const url = `redis://${password && `:${password}@`}127.0.0.1:${port}`
  return {
    url,
    start,
    kill,
    ask: (work) => ask(url, work),
    pause: () => server?.kill('SIGSTOP'),
    resume: () => server?.kill('SIGCONT'),
  }
}

const ask = async <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = newClient(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    client.destroy()
  }
}

/** Below those that outgoing connections get, so that it is still free when the server comes again. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const probe = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}

const takesConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const say = (is: boolean) => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', () => say(true)).once('error', () => say(false))
  })
