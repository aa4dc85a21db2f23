import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { median } from './percentiles.ts'
import { environmentOf } from './served.ts'

/** Milliseconds from nothing to ready: PostgreSQL alone by its own `pg_ctl`, and `masthead serve` until `/readyz`. */
type StartCost = { postgres: number; masthead: number }

const times = 5

/** In a folder whose server is stopped. The first time does not count. */
export const startCost = async (dataDirectory: string): Promise<StartCost> => {
  const cluster = await clusterIn(dataDirectory)
  const costs: StartCost[] = []
  for (let time = -1; time < times; time++) {
    const cost = { postgres: cluster.start(), masthead: 0 }
    cluster.stop()
    cost.masthead = await startMasthead(dataDirectory)
    if (time >= 0) costs.push(cost)
  }
  return {
    postgres: median(costs.map(({ postgres }) => postgres)),
    masthead: median(costs.map(({ masthead }) => masthead)),
  }
}

/** As it was started the last time: by the same program, with the same options, under the same account. */
const clusterIn = async (dataDirectory: string) => {
  const folder = join(dataDirectory, 'postgres')
  const last = await readFile(join(folder, 'postmaster.opts'), 'utf8')
  const [postgres = ''] = last.split(' "', 1)
  const options = [...last.matchAll(/"-c" "([^"]+)"/g)].map(([, option]) => `-c ${option}`).join(' ')
  const { uid, gid } = await stat(folder)
  const control = (...words: string[]): void => {
    // Nothing is piped: the server would keep the pipe open.
    const { status } = spawnSync(join(dirname(postgres), 'pg_ctl'), [...words, '-w', '-s', '-D', folder], {
      stdio: 'ignore',
      cwd: '/',
      ...(process.getuid?.() === 0 && { uid, gid }),
    })
    if (status !== 0) throw new Error(`pg_ctl ${words[0]} failed in ${folder}`)
  }
  return {
    start: (): number => {
      const begun = performance.now()
      control('start', '-o', options, '-l', join(dataDirectory, 'postgres.log'))
      return performance.now() - begun
    },
    stop: () => control('stop', '-m', 'fast'),
  }
}

const startMasthead = async (dataDirectory: string): Promise<number> => {
  const port = await freePort()
  const begun = performance.now()
  const server = spawn('masthead', ['serve', '--port', String(port)], {
    env: environmentOf(dataDirectory),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(server, 'exit')
  const isReady = () =>
    fetch(`http://localhost:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) {
    if (server.exitCode !== null || performance.now() - begun > 60_000) throw new Error('masthead did not start')
    await delay(3)
  }
  const cost = performance.now() - begun
  server.kill('SIGTERM')
  await ended
  return cost
}

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const probe = createServer().listen(0, 'localhost', () => {
      const address = probe.address()
      probe.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
