import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { basePath } from '@masthead/contract'
import pg from 'pg'
import { operator } from '../../src/audit/author.ts'
import { complain, say, showJson, showTable } from '../../src/commands/output.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { openEmbedded } from '../../src/database/embedded/server.ts'
import { migrate } from '../../src/database/schema/migrate.ts'
import { messageOf } from '../../src/error-message.ts'
import { allScopes } from '../../src/identity/people/roles.ts'
import { createTenant } from '../../src/identity/people/tenants.ts'
import { createToken, revokeToken } from '../../src/identity/tokens/access-tokens.ts'
import { insertRecords } from '../../src/records/writes/write.ts'
import { Cluster } from '../failover/cluster.ts'
import { freePorts, Programs } from '../failover/programs.ts'
import { startServing, until } from '../processes/masthead-process.ts'
import { makeStandby } from '../processes/standby.ts'
import { sampleAccount } from '../records/sample-records.ts'
import { type RegisterCall, unexplained } from './one-order.ts'

const help = `npm run test:nodes -- [options]

Serves one PostgreSQL by three Masthead nodes behind HAProxy, which gives every request to the next node. Callers write by one
node and read by another, and must never read what was there before. Ends with 0 when nothing stale was read. Needs the
package haproxy.

  --pairs <number>  how many pairs of a write and a read; 100000 unless said otherwise
  --max-age <ms>    let the nodes cache for so long (CACHE_MAX_AGE_MS): then stale reads are found, and this ends with 1
  --replica <ms>    give the nodes a replica that replays every write so much later
  --failover        serve three PostgreSQL under Patroni instead, of which the primary is killed at each quarter of the pairs;
                    callers repeat what was not answered. Needs the packages of npm run test:failover
  --json            print the figures as one JSON document
  --keep            leave the logs behind
  --help            print this`

const proxyProgram = '/usr/sbin/haproxy'
const callers = 16
/** One pair in so many revokes a token. */
const revokeEvery = 50

const readOptions = () => {
  const flag = { type: 'boolean', default: false } as const
  const options = {
    json: flag,
    keep: flag,
    help: flag,
    failover: flag,
    pairs: { type: 'string', default: '100000' },
  } as const
  const more = { 'max-age': { type: 'string', default: '0' }, replica: { type: 'string' } } as const
  try {
    return parseArgs({ options: { ...options, ...more } }).values
  } catch (error) {
    complain(`${messageOf(error)}; see --help`)
    process.exit(1)
  }
}

type Response = { status: number; node: string; body: Readonly<Record<string, unknown>> }
type Call = (token: string, method: string, path: string, body?: object) => Promise<Response>
type Figures = { pairs: number; byAnotherNode: number; stale: number }

const callerAt = (origin: string): Call => {
  const agent = new Agent({ keepAlive: true, maxSockets: callers * 4 })
  return (token, method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
      const key = method === 'POST' && { 'idempotency-key': `${body && 'name' in body ? body.name : ''} of ${path}` }
      request(origin + basePath + path, { method, agent, headers: { ...headers, ...key } })
        .on('error', reject)
        .on('response', async (response) => {
          try {
            const text = (await response.toArray()).join('')
            const status = response.statusCode ?? 0
            if (status >= 500 || status === 409) reject(new Error(`${method} ${path}: ${status} ${text}`))
            else resolve({ status, node: String(response.headers['x-node']), body: JSON.parse(text) })
          } catch (error) {
            reject(error)
          }
        })
        .end(body && JSON.stringify(body))
    })
}

/** Does it again until it succeeds: every write of the trial may be repeated. */
const repeated = async <T>(work: () => Promise<T>): Promise<T> => {
  for (const deadline = Date.now() + 120_000; ; await delay(100)) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > deadline) throw error
      repetitions++
    }
  }
}
let repetitions = 0

/** A caller with a tenant of its own, who knows what must be there because nobody else writes. */
class Caller {
  readonly #database: Database
  readonly #call: Call
  readonly #tenantId: string
  readonly #token: string
  readonly #contacts: string[] = []
  readonly figures = new Map<string, Figures>()

  constructor(database: Database, call: Call, tenantId: string, token: string) {
    this.#database = database
    this.#call = call
    this.#tenantId = tenantId
    this.#token = token
  }

  async pair(number: number): Promise<void> {
    if (number % revokeEvery === 0) return this.#revoke()
    const kinds = [this.#createAndGet, this.#createAndList, this.#updateAndGet, this.#deleteAndList]
    return (this.#contacts.length === 0 ? this.#createAndGet : kinds[number % kinds.length])?.call(this, number)
  }

  async #createAndGet(number: number): Promise<void> {
    const { node, id } = await this.#create(number)
    const read = await this.#get(`/contacts/${id}`)
    this.#note('create → get', node, read, read.status === 200 && read.body.name === `${number}`)
  }

  async #createAndList(number: number): Promise<void> {
    const { node } = await this.#create(number)
    const read = await this.#get('/contacts?pageSize=1')
    this.#note('create → list', node, read, read.body.total === this.#contacts.length)
  }

  async #updateAndGet(number: number): Promise<void> {
    const id = this.#contacts[number % this.#contacts.length]
    const body = { accountId: 'A', name: `changed ${number}` }
    const { node } = await this.#call(this.#token, 'PATCH', `/contacts/${id}`, body)
    const read = await this.#get(`/contacts/${id}`)
    this.#note('update → get', node, read, read.body.name === body.name)
  }

  async #deleteAndList(): Promise<void> {
    const { node } = await this.#call(this.#token, 'DELETE', `/contacts/${this.#contacts.pop()}`)
    const read = await this.#get('/contacts?pageSize=1')
    this.#note('delete → list', node, read, read.body.total === this.#contacts.length)
  }

  /** As `masthead token revoke` does it, beside all nodes, which have seen the token before. */
  async #revoke(): Promise<void> {
    const { id, token } = await repeated(() => newToken(this.#database, this.#tenantId))
    for (const _node of [1, 2, 3]) await this.#call(token, 'GET', '/contacts?pageSize=1')
    await repeated(() => this.#database.transaction((query) => revokeToken(query, operator, id)))
    const read = await this.#call(token, 'GET', '/contacts?pageSize=1')
    this.#note('revoke → call', 'a command', read, read.status === 401)
  }

  async #create(number: number): Promise<{ node: string; id: string }> {
    const { node, body } = await this.#call(this.#token, 'POST', '/contacts', { accountId: 'A', name: `${number}` })
    this.#contacts.push(String(body.id))
    return { node, id: String(body.id) }
  }

  #get(path: string): Promise<Response> {
    return this.#call(this.#token, 'GET', path)
  }

  #note(kind: string, writer: string, read: Response, isCurrent: boolean): void {
    const figures = this.figures.get(kind) ?? { pairs: 0, byAnotherNode: 0, stale: 0 }
    this.figures.set(kind, figures)
    figures.pairs++
    if (read.node !== writer) figures.byAnotherNode++
    if (!isCurrent) figures.stale++
  }
}

const newToken = (database: Database, tenantId: string) =>
  database.transaction((query) =>
    createToken(query, operator, { tenantId, name: 'trial', service: 'trial', scopes: allScopes }),
  )

const newCaller = async (database: Database, call: Call, number: number): Promise<Caller> => {
  const slug = `caller-${number}`
  const { id } = await database.transaction((query) => createTenant(query, { slug, name: slug }))
  await database.forTenant(id).transaction((query) => insertRecords(query, 'accounts', [sampleAccount('A')]))
  return new Caller(database, call, id, (await newToken(database, id)).token)
}

/** Several write to one contact and several read it, all at once; answers what no order of these calls explains. */
const contended = async (database: Database, call: Call, round: number): Promise<string[]> => {
  const slug = `contended-${round}`
  const { id: tenantId } = await database.transaction((query) => createTenant(query, { slug, name: slug }))
  await database.forTenant(tenantId).transaction((query) => insertRecords(query, 'accounts', [sampleAccount('A')]))
  const { token } = await newToken(database, tenantId)
  const calls: RegisterCall[] = []
  const noted = async (kind: RegisterCall['kind'], method: string, path: string, body?: { name: string }) => {
    const began = performance.now()
    const { body: contact } = await call(token, method, path, body && { accountId: 'A', ...body })
    calls.push({ kind, value: String(contact.name), began, ended: performance.now() })
    return String(contact.id)
  }
  const id = await noted('write', 'POST', '/contacts', { name: 'first' })
  const writers = [1, 2, 3, 4].map(async (writer) => {
    for (let count = 0; count < 25; count++)
      await noted('write', 'PATCH', `/contacts/${id}`, { name: `${writer}-${count}` })
  })
  const writing = Promise.all(writers)
  let isOver = false
  const readers = [1, 2, 3, 4, 5, 6, 7, 8].map(async () => {
    while (!isOver) await noted('read', 'GET', `/contacts/${id}`)
  })
  await writing
  isOver = true
  await Promise.all(readers)
  return unexplained(calls)
}

const proxyConfiguration = (port: number, nodes: readonly number[]): string => `
defaults
  mode http
  timeout connect 5s
  timeout client 1m
  timeout server 1m
listen masthead
  bind 127.0.0.1:${port}
  balance roundrobin
  http-response set-header x-node %s
${nodes.map((node, index) => `  server node-${index + 1} 127.0.0.1:${node}`).join('\n')}
`

type Servers = {
  connectionString: string
  replica?: string
  /** Kills the primary, and ends when all are back. */
  failOver?: () => Promise<void>
  close: () => Promise<void>
}

const openServers = async (
  { failover, replica }: ReturnType<typeof readOptions>,
  programs: Programs,
  folder: string,
): Promise<Servers> => {
  if (failover) return openCluster(programs)
  if (replica !== undefined) return openWithReplica(folder, replica)
  return openEmbedded(join(folder, 'data'), say)
}

const openCluster = async (programs: Programs): Promise<Servers> => {
  const cluster = await Cluster.start(programs, { synchronous: true })
  const failOver = async () => {
    const primary = await cluster.primary()
    cluster.signal(primary, 'SIGKILL')
    await until('another is the primary', async () =>
      cluster.primary().then(
        ({ name }) => name !== primary.name,
        () => false,
      ),
    )
    cluster.startPatroni(primary)
    await cluster.whole()
  }
  return { connectionString: cluster.databaseUrl, failOver, close: async () => {} }
}

/** Opens a server, and one that replays what it writes, later by so much. */
const openWithReplica = async (folder: string, milliseconds: string): Promise<Servers> => {
  const [data, copy] = [join(folder, 'data'), join(folder, 'copy')]
  const before = await openEmbedded(data)
  await before.close()
  await makeStandby(data, copy, before.connectionString)
  const { connectionString, close } = await openEmbedded(data)
  const replica = await openEmbedded(copy)
  const client = new pg.Client(replica.connectionString)
  await client.connect()
  await client.query(`alter system set recovery_min_apply_delay = ${pg.escapeLiteral(milliseconds)}`)
  await client.query('select pg_reload_conf()')
  await client.end()
  const closeBoth = async () => {
    await replica.close()
    await close()
  }
  return { connectionString, replica: replica.connectionString, close: closeBoth }
}

/** At each quarter of the work. */
const failOverMeanwhile = async (failOver: () => Promise<void>, done: () => number): Promise<void> => {
  for (const part of [0.25, 0.5, 0.75]) {
    await until('the next quarter is done', () => done() >= part, 3_600_000)
    say('the primary is killed')
    await failOver()
  }
}

const run = async (options: ReturnType<typeof readOptions>): Promise<boolean> => {
  const { pairs, json, keep, 'max-age': maxAge } = options
  const programs = new Programs({ keep })
  const folder = mkdtempSync(join(tmpdir(), 'masthead-nodes-'))
  const { connectionString, replica, failOver, close } = await openServers(options, programs, folder)
  const [port = 0, ...ports] = await freePorts(4)
  const environment = {
    DATABASE_URL: connectionString,
    MASTHEAD_SECRET: randomBytes(24).toString('base64'),
    BASE_URL: `http://127.0.0.1:${port}`,
    RATE_LIMIT: 'off',
    LOG_LEVEL: 'warn',
    CACHE_MAX_AGE_MS: maxAge,
    ...(replica !== undefined && { DATABASE_REPLICA_URLS: replica }),
  }
  const { role } = await migrate(connectionString)
  const database = openDatabase({ connectionString, role })
  const nodes = []
  try {
    for (const node of ports) nodes.push(await startServing(['--port', `${node}`, '--no-work'], environment))
    writeFileSync(join(programs.folder, 'haproxy.cfg'), proxyConfiguration(port, ports))
    programs.start('haproxy', proxyProgram, ['-db', '-f', 'haproxy.cfg'])
    const once = callerAt(`http://127.0.0.1:${port}`)
    const call: Call = failOver ? (...asked) => repeated(() => once(...asked)) : once
    await until('HAProxy leads to a node', () =>
      once('', 'GET', '/contacts').then(
        () => true,
        () => false,
      ),
    )
    const all = await Promise.all(Array.from({ length: callers }, (_, number) => newCaller(database, call, number)))
    let next = 0
    const progress = setInterval(() => say(`${next} of ${pairs} pairs`), 10_000)
    const failures = failOver && failOverMeanwhile(failOver, () => next / Number(pairs))
    await Promise.all(
      all.map(async (caller) => {
        while (next < Number(pairs)) await caller.pair(next++)
      }),
    )
    await failures
    clearInterval(progress)
    const found: string[] = []
    for (let round = 0; round < 10; round++) found.push(...(await contended(database, call, round)))
    const kinds = [...new Set(all.flatMap(({ figures }) => [...figures.keys()]))].sort()
    const rows = kinds.map((kind) => {
      const some = all.flatMap(({ figures }) => figures.get(kind) ?? [])
      const sum = (of: keyof Figures) => some.reduce((total, figures) => total + figures[of], 0)
      return { kind, pairs: sum('pairs'), byAnotherNode: sum('byAnotherNode'), stale: sum('stale') }
    })
    if (json) showJson({ pairs: rows, unexplained: found, repetitions })
    else {
      showTable(rows, ['kind', 'pairs', 'byAnotherNode', 'stale'])
      say(`Calls to one contact that no order explains: ${found.length}`)
      if (failOver) say(`Calls that were repeated: ${repetitions}`)
    }
    return found.length === 0 && rows.every(({ stale }) => stale === 0)
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
    await database.close()
    await close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const options = readOptions()
if (options.help) say(help)
else if (!existsSync(proxyProgram)) {
  complain('HAProxy is missing: apt-get install haproxy')
  process.exit(1)
} else process.exit((await run(options)) ? 0 : 1)
