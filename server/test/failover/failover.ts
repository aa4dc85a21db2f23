import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { basePath } from '@masthead/contract'
import { complain, say, showJson, showLines, showTable } from '../../src/commands/output.ts'
import { messageOf } from '../../src/error-message.ts'
import { runMasthead, type Serving, startServing, until } from '../processes/masthead-process.ts'
import { type LoadTenant, MixedLoad } from '../records/mixed-load.ts'
import { assertTallies } from '../records/tallies.ts'
import type { Findings } from '../records/write-ledger.ts'
import { Cluster, type Member } from './cluster.ts'
import { type Figures, figuresOf, type Phase } from './figures.ts'
import { LegacySystem } from './legacy-system.ts'
import { missingPackages } from './packages.ts'
import { freePorts, Programs } from './programs.ts'

const help = `npm run test:failover -- [options]

Brings up three PostgreSQL members under Patroni with synchronous replication, HAProxy, Redis and two Masthead nodes on
loopback, lets callers read and write, and kills and freezes parts of it. Ends with 0 when no answered write is lost and
none is doubled, callers saw nothing worse than 503 with Retry-After, and all came back by itself. Takes some 3 minutes.

  --json          print the figures as one JSON document
  --asynchronous  replicate asynchronously, and late: answered writes get lost, and this must end with 1
  --keep          leave the folder with data and logs behind
  --help          print this`

const callers = 24
const pauseMilliseconds = 200
const tenantCount = 4

const flag = { type: 'boolean', default: false } as const

const readOptions = () => {
  try {
    return parseArgs({ options: { json: flag, asynchronous: flag, keep: flag, help: flag } }).values
  } catch (error) {
    complain(`${messageOf(error)}; see --help`)
    process.exit(1)
  }
}

const options = readOptions()

/** A process that serves, and the address that callers use: all of them call themselves the same. */
type Node = { port: number; api: string; serving: Serving }

const startNode = async (port: number, environment: Record<string, string>): Promise<Node> => ({
  port,
  api: `http://127.0.0.1:${port}${basePath}`,
  serving: await startServing(['--port', `${port}`], environment),
})

/** What is done to one cluster, and what came of it. */
class Trial {
  readonly phases: Phase[] = []
  readonly failures: string[] = []
  readonly load: MixedLoad
  readonly #cluster: Cluster
  readonly #nodes: Node[]
  readonly #environment: Record<string, string>

  constructor(cluster: Cluster, environment: Record<string, string>, nodes: Node[], tenants: readonly LoadTenant[]) {
    this.#cluster = cluster
    this.#environment = environment
    this.#nodes = nodes
    this.load = new MixedLoad({ nodes: nodes.map(({ api }) => api), tenants, callers, pauseMilliseconds })
  }

  /** All connections are open, and all caches warm. */
  async warmUp(): Promise<void> {
    const answered = () => this.load.attempts.filter(({ status }) => status !== null && status < 300).length
    await until('callers are answered', () => answered() > 10 * callers)
  }

  async steady(): Promise<void> {
    await this.#phase('nothing happens', () => delay(8_000))
  }

  async killPrimary({ lagging = false } = {}): Promise<void> {
    const primary = await this.#cluster.primary()
    if (lagging) {
      await this.#cluster.holdReplicationBack()
      await delay(3_000)
    }
    await this.#phase('kill -9 of the primary', async () => {
      this.#cluster.signal(primary, 'SIGKILL')
      await this.#writesGoOn()
      this.#cluster.startPatroni(primary)
      await this.#cluster.whole()
      await delay(5_000)
    })
  }

  async killNode(): Promise<void> {
    const [node] = this.#nodes
    if (!node) throw new Error('there is no node')
    await this.#phase(
      'kill -9 of a node',
      async () => {
        await node.serving.kill()
        await delay(8_000)
        this.#nodes[0] = await startNode(node.port, this.#environment)
        await delay(5_000)
      },
      node.api,
    )
  }

  async freezePrimary(): Promise<void> {
    const primary = await this.#cluster.primary()
    await this.#phase('the primary freezes', async () => {
      this.#cluster.signal(primary, 'SIGSTOP')
      await this.#writesGoOn()
      await delay(3_000)
    })
    await this.#phase('it thaws', async () => {
      this.#cluster.signal(primary, 'SIGCONT')
      await this.#neverServesWrites(primary)
      await this.#cluster.whole()
      await delay(5_000)
    })
  }

  async #phase(name: string, work: () => Promise<unknown>, deadNode: string | null = null): Promise<void> {
    say(name)
    const from = performance.now()
    await work()
    this.phases.push({ name, from, to: performance.now(), deadNode })
  }

  /** Callers write again, without anybody's doing. */
  async #writesGoOn(): Promise<void> {
    const from = performance.now()
    const answered = () =>
      this.load.attempts.filter(
        ({ isWrite, sentAt, status }) => isWrite && sentAt > from && status !== null && status < 300,
      )
    // Some may still have been answered by who is gone now.
    await delay(2_000)
    const before = answered().length
    await until('writes are answered again', () => answered().length > before + callers, 90_000)
  }

  async #neverServesWrites(former: Member): Promise<void> {
    let taken = 0
    await until(
      'the former primary is a standby',
      async () => {
        if (await this.#cluster.takesWrites(former)) taken++
        return this.#cluster.isStandby(former)
      },
      60_000,
    )
    if (taken > 0) this.failures.push(`the former primary has confirmed ${taken} writes`)
  }

  /** A node that ended by itself would have needed a restart. */
  async assertAlive(logFolder: string): Promise<void> {
    for (const { port, serving } of this.#nodes) {
      writeFileSync(join(logFolder, `node-${port}.log`), serving.said.stderr)
      const outcome = await Promise.race([serving.ended, delay(0, null)])
      if (outcome) this.failures.push(`a node has ended: ${outcome.stderr.slice(-500)}`)
      if (serving.said.stderr.includes('a worker ended')) this.failures.push('a worker of a node has ended')
    }
  }
}

const run = async (programs: Programs): Promise<boolean> => {
  say('starting etcd, Patroni, HAProxy and Redis')
  const cluster = await Cluster.start(programs, { synchronous: !options.asynchronous })
  const environment = {
    DATABASE_URL: cluster.databaseUrl,
    REDIS_URL: cluster.redisUrl,
    MASTHEAD_SECRET: randomBytes(32).toString('base64'),
    MASTHEAD_DATA_DIR: programs.folder,
    HOST: '127.0.0.1',
    WORKERS: '2',
    LOG_LEVEL: 'warn',
    BASE_URL: 'http://masthead.test',
    LEGACY_ALLOW_PRIVATE: 'true',
    // So high that nobody meets them, but counted.
    RATE_LIMIT_TOKEN: '1000000',
    RATE_LIMIT_TENANT: '1000000',
    RATE_LIMIT_AT_ONCE: '1000',
  }
  const masthead = async (command: string, input = ''): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await runMasthead([...command.split(' '), '--json'], environment, input)
    if (code !== 0) throw new Error(`masthead ${command}: ${stderr}`)
    return JSON.parse(stdout)
  }
  say('starting two nodes')
  const ports = await freePorts(2)
  const nodes = await Promise.all(ports.map((port) => startNode(port, environment)))
  const tenants = await Promise.all(
    Array.from({ length: tenantCount }, async (_, number) => {
      const slug = `tenant-${number + 1}`
      await masthead(`tenant create ${slug} --name ${slug}`)
      const scopes = 'contacts:read,contacts:write,accounts:read,accounts:write'
      const { token } = await masthead(`token create --tenant ${slug} --service load --scopes ${scopes}`)
      return { slug, token: String(token) }
    }),
  )
  const legacy = await LegacySystem.start()
  await masthead(`legacy attach --tenant tenant-1 --url ${legacy.url} --secret-stdin`, legacy.secret)

  const trial = new Trial(cluster, environment, nodes, tenants)
  const { load, phases, failures } = trial
  load.start()
  await trial.warmUp()
  await trial.steady()
  if (options.asynchronous) {
    await trial.killPrimary({ lagging: true })
  } else {
    await trial.killPrimary()
    await trial.killNode()
    await trial.freezePrimary()
  }
  say('comparing what was answered with what is there')
  await load.stop()
  await trial.assertAlive(programs.folder)
  const findings = await load.compare()
  const owner = await cluster.owner()
  await assertTallies(owner).catch((error) => failures.push(messageOf(error)))
  await owner.end()
  const undelivered = await legacy.missing(load.ledger.idsOf('tenant-1'))
  if (undelivered.length > 0) failures.push(`${undelivered.length} records were not handed to the legacy system`)
  legacy.close()

  const figures = phases.map((phase) => figuresOf(phase, load.attempts))
  report(figures, findings, failures, load.ledger.size)
  return failures.length === 0
}

const report = (figures: Figures[], findings: Findings, failures: string[], records: number): void => {
  for (const [kind, cases] of Object.entries(findings))
    if (cases.length > 0) failures.push(`${kind}: ${cases.length}, such as ${cases.slice(0, 3).join('; ')}`)
  for (const { phase, unexpected } of figures)
    for (const [what, count] of Object.entries(unexpected)) failures.push(`${phase}: ${count} times ${what}`)
  const [steady] = figures
  if (steady && steady.answered < steady.requests) failures.push('requests failed while nothing happened')
  const counts = Object.fromEntries(Object.entries(findings).map(([kind, cases]) => [kind, cases.length]))
  if (options.json) {
    showJson({ ok: failures.length === 0, records, findings: counts, phases: figures, failures })
    return
  }
  const rows = figures.map(({ unexpected, ...figure }) => ({ ...figure, unexpected: sum(Object.values(unexpected)) }))
  showTable(
    rows.map((row) => ({
      phase: row.phase,
      s: row.seconds,
      requests: row.requests,
      answered: row.answered,
      503: row.unavailable,
      409: row.stillRunning,
      'broken off': row.brokenOff,
      other: row.unexpected,
      'no write for': `${row.writeGapSeconds} s`,
      'no read for': `${row.readGapSeconds} s`,
      slowest: `${row.slowestSeconds} s`,
    })),
    [
      'phase',
      's',
      'requests',
      'answered',
      '503',
      '409',
      'broken off',
      'other',
      'no write for',
      'no read for',
      'slowest',
    ],
    '',
  )
  const found = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`)
  showLines('', `Of ${records} records: ${found.join(', ')}.`)
  showLines(...(failures.length === 0 ? ['All is well.'] : failures.map((failure) => `✖ ${failure}`)))
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const main = async (): Promise<void> => {
  if (options.help) return showLines(help)
  const missing = missingPackages()
  if (missing.length > 0) {
    const install = `apt-get install --no-install-recommends ${missing.join(' ')}`
    throw new Error(`some of Debian's packages are missing: ${install}`)
  }
  const programs = new Programs(options)
  const isWell = await run(programs)
  process.exit(isWell ? 0 : 1)
}

try {
  await main()
} catch (error) {
  complain(`the trial could not be carried out: ${messageOf(error)}`)
  process.exit(1)
}
