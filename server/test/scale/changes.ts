import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { basePath, type ResourceName } from '@masthead/contract'
import pg from 'pg'
import { complain, say, showJson, showLines, showTable } from '../../src/commands/output.ts'
import { findPostmaster } from '../../src/database/embedded/postmaster.ts'
import { openEmbedded } from '../../src/database/embedded/server.ts'
import { messageOf } from '../../src/error-message.ts'
import { allScopes } from '../../src/identity/people/roles.ts'
import { freePorts } from '../failover/programs.ts'
import { type Environment, runMasthead, type Serving, startServing, until } from '../processes/masthead-process.ts'
import { FollowedCopy } from '../records/followed-copy.ts'

const help = `npm run test:changes -- [options]

Serves one PostgreSQL by two Masthead nodes. Sixteen writers, imports and their undos write while nodes and PostgreSQL are killed.
Three copies follow: by long polling, by a stream, and one that is away for half of it. Ends with 0 when each of them equals an export and
the version of each list is the number of its records that were written.

  --writes <number>  how many calls that write; 10000 unless said otherwise
  --kills <number>   how often a node or PostgreSQL is killed; 20 unless said otherwise
  --json             print the figures as one JSON document
  --keep             leave the folder with the data behind
  --help             print this`

const writers = 16
const importedRows = 200
const retryMilliseconds = 100

const readOptions = () => {
  const flag = { type: 'boolean', default: false } as const
  const numbers = { writes: { type: 'string', default: '10000' }, kills: { type: 'string', default: '20' } } as const
  try {
    return parseArgs({ options: { json: flag, keep: flag, help: flag, ...numbers } }).values
  } catch (error) {
    complain(`${messageOf(error)}; see --help`)
    process.exit(1)
  }
}

type Node = { port: number; serving: Serving }
type Contact = { id: string; isDeleted: boolean }

/** How many records of each list were written, as those who wrote them know. */
class Ledger {
  readonly written = new Map<ResourceName, number>()
  calls = 0
  retries = 0

  add(resource: ResourceName, records = 1): void {
    this.written.set(resource, (this.written.get(resource) ?? 0) + records)
  }
}

/** What is written until all is written, whatever breaks meanwhile. */
class Load {
  readonly ledger = new Ledger()
  /** When a contact of this name was answered. */
  readonly answeredAt = new Map<string, number>()
  readonly #nodes: readonly Node[]
  readonly #token: string

  constructor(nodes: readonly Node[], token: string) {
    this.#nodes = nodes
    this.#token = token
  }

  /** Each writer has contacts of its own, so it knows what a call changes. */
  async write(most: number): Promise<void> {
    let begun = 0
    const writer = async (name: number): Promise<void> => {
      const contacts: Contact[] = []
      for (; begun < most; this.ledger.calls++) await this.#step(contacts, `${name} ${begun++}`, begun)
    }
    await Promise.all(Array.from({ length: writers }, (_, name) => writer(name)))
  }

  async #step(contacts: Contact[], name: string, number: number): Promise<void> {
    const contact = contacts[number % Math.max(1, contacts.length)]
    const kind = number % 10
    if (!contact || kind < 3) {
      const { id } = await this.#send(number, 'POST', '/contacts', { accountId: 'A', name })
      contacts.push({ id, isDeleted: false })
      this.#answered(name)
      return
    }
    if (kind === 3) {
      await this.#send(number, 'POST', '/accounts', { company: name, firstName: 'Ada', lastName: name })
      this.ledger.add('accounts')
      this.ledger.add('contacts')
      return
    }
    if (kind === 4 || contact.isDeleted) {
      const path = contact.isDeleted ? `/contacts/${contact.id}/restore` : `/contacts/${contact.id}`
      await this.#send(number, contact.isDeleted ? 'POST' : 'DELETE', path)
      contact.isDeleted = !contact.isDeleted
      this.ledger.add('contacts')
      return
    }
    await this.#send(number, 'PATCH', `/contacts/${contact.id}`, { accountId: 'A', name })
    this.#answered(name)
    // The same again changes nothing.
    if (kind === 5) await this.#send(number, 'PATCH', `/contacts/${contact.id}`, { accountId: 'A', name })
  }

  #answered(name: string): void {
    this.answeredAt.set(name, performance.now())
    this.ledger.add('contacts')
  }

  /** A creation is repeated under its key, and whatever else is repeated changes nothing the second time. */
  async #send(number: number, method: string, path: string, body?: object): Promise<{ id: string }> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
    }
    for (let attempt = number; ; attempt++) {
      const node = this.#nodes[attempt % this.#nodes.length]
      try {
        const sent = {
          method,
          headers,
          signal: AbortSignal.timeout(20_000),
          ...(body && { body: JSON.stringify(body) }),
        }
        const response = await fetch(`http://127.0.0.1:${node?.port}${basePath}${path}`, sent)
        const answer = (await response.json()) as { id: string; code?: string } // as the contract says
        if (response.status < 300) return answer
        if (response.status < 500 && answer.code !== 'request_in_progress')
          throw new Refused(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
      } catch (error) {
        if (error instanceof Refused) throw error
      }
      this.ledger.retries++
      await delay(retryMilliseconds)
    }
  }
}

class Refused extends Error {}

/** Imports a file and undoes it, again and again; a command that fails is given again. */
const importAndUndo = async (ledger: Ledger, slug: string, environment: Environment, isOver: () => boolean) => {
  const folder = mkdtempSync(join(tmpdir(), 'masthead-changes-import-'))
  const command = async (...words: string[]): Promise<string> => {
    for (;;) {
      const { code, stdout } = await runMasthead([...words, '--tenant', slug, '--json'], environment)
      if (code === 0) return stdout
      await delay(retryMilliseconds)
    }
  }
  let rounds = 0
  for (; !isOver(); rounds++) {
    const rows = Array.from({ length: importedRows }, (_, row) => `I-${rounds}-${row},A,Imported ${row}`)
    writeFileSync(join(folder, 'contacts.csv'), ['externalId,accountId,name', ...rows, ''].join('\n'))
    await command('import', join(folder, 'contacts.csv'))
    ledger.add('contacts', importedRows)
    // Every second one stays.
    if (rounds % 2 === 1) continue
    const past: { id: string; state: string; files: { created: number }[] }[] = JSON.parse(
      await command('import', 'list'),
    )
    // One that was interrupted has written some of the rows, and the one after it the others.
    const [last, ...earlier] = past
    const interrupted = earlier
      .slice(
        0,
        earlier.findIndex(({ state }) => state !== 'interrupted'),
      )
      .map(({ id }) => id)
    for (const id of [last?.id ?? '', ...interrupted]) await command('import', 'undo', id)
    ledger.add('contacts', importedRows)
  }
  rmSync(folder, { recursive: true })
  return rounds
}

const startNode = async (port: number, environment: Environment): Promise<Node> => ({
  port,
  serving: await startServing(['--port', `${port}`], environment),
})

/** In turn: a node, and PostgreSQL, which the nodes bring back. */
const kill = async (nodes: Node[], number: number, environment: Environment): Promise<void> => {
  if (number % 2 === 1) {
    const postmaster = findPostmaster(join(environment.MASTHEAD_DATA_DIR ?? '', 'postgres'))
    if (postmaster?.isAlive) process.kill(postmaster.pid, 'SIGKILL')
    return
  }
  const index = (number / 2) % nodes.length
  const node = nodes[index]
  if (!node) return
  await node.serving.kill()
  nodes[index] = await startNode(node.port, environment)
}

const quantile = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)

const main = async (): Promise<boolean> => {
  const options = readOptions()
  if (options.help) {
    showLines(help)
    return true
  }
  const [writes, kills] = [Number(options.writes), Number(options.kills)]
  const home = mkdtempSync(join(tmpdir(), 'masthead-changes-'))
  const environment = { MASTHEAD_DATA_DIR: join(home, 'data'), RATE_LIMIT: 'off' }
  const masthead = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runMasthead(words, environment)
    if (code !== 0) throw new Error(`masthead ${words.join(' ')}: ${stderr}`)
    return stdout
  }
  const nodes: Node[] = []
  for (const port of await freePorts(2)) nodes.push(await startNode(port, environment))
  const failures: string[] = []
  const slug = 'trial'
  await masthead('tenant', 'create', slug, '--name', slug)
  const created = await masthead(
    'token',
    'create',
    '--tenant',
    slug,
    '--service',
    'trial',
    '--scopes',
    allScopes.join(','),
    '--json',
  )
  const { token }: { token: string } = JSON.parse(created)
  writeFileSync(join(home, 'accounts.csv'), 'accountId,company\nA,Acme\n')
  await masthead('import', join(home, 'accounts.csv'), '--tenant', slug)
  const load = new Load(nodes, token)
  load.ledger.add('accounts')
  const over = new AbortController()
  let turn = 0
  const followed = {
    origin: () => `http://127.0.0.1:${nodes[turn++ % nodes.length]?.port}`,
    token,
    signal: over.signal,
  }
  /** When the stream first brought a name. */
  const seenAt = new Map<string, number>()
  const note = (record: Readonly<Record<string, unknown>> | null) => {
    const name = String(record?.name)
    if (!seenAt.has(name)) seenAt.set(name, performance.now())
  }
  const copies = {
    'long polling': new FollowedCopy(),
    'a stream': new FollowedCopy(note),
    'one away': new FollowedCopy(),
  }
  const { 'long polling': polled, 'a stream': streamed, 'one away': away } = copies
  const following = Promise.all([polled.poll(followed), streamed.stream(followed)])
  following.catch((error) => failures.push(`a copy could not go on: ${messageOf(error)}`))
  const begun = performance.now()
  let isOver = false
  const importing = importAndUndo(load.ledger, slug, environment, () => isOver)
  const killing = (async () => {
    for (let number = 0; number < kills; number++) {
      await until('more was written', () => load.ledger.calls > ((number + 0.5) / kills) * writes, 600_000)
      say(`${Math.round((performance.now() - begun) / 1_000)} s: ${load.ledger.calls} calls, kill ${number + 1}`)
      // Away from a quarter to three quarters of the way.
      if (number === Math.floor(kills / 4)) await away.catchUp(followed).catch(() => {})
      await kill(nodes, number, environment)
    }
  })()
  await load.write(writes)
  isOver = true
  const [rounds] = await Promise.all([importing, killing])
  const seconds = Math.round((performance.now() - begun) / 1_000)
  await away.catchUp(followed)
  await until('the copies have heard of everything', () =>
    [polled, streamed].every(({ cursor }) => cursor === away.cursor),
  )
  over.abort()
  await following.catch(() => {})
  await masthead('export', '--tenant', slug, '--to', join(home, 'export'), '--format', 'ndjson')
  for (const [way, copy] of Object.entries(copies))
    await copy
      .assertEquals(join(home, 'export'))
      .catch((error) => failures.push(`the copy by ${way} differs: ${messageOf(error)}`))
  const versions = await versionsOf(environment.MASTHEAD_DATA_DIR, slug)
  const lists = [...load.ledger.written].map(([resource, counted]) => {
    const version = versions.get(resource)
    if (version !== counted) failures.push(`${resource} have version ${version}, and ${counted} were written`)
    return { list: resource, written: counted, version }
  })
  for (const { serving } of nodes) await serving.stop()
  if (!options.keep) rmSync(home, { recursive: true })
  // It may come before its answer, and is not seen where another write came before it.
  const lags = load.answeredAt.entries().map(([name, answered]) => (seenAt.get(name) ?? answered) - answered)
  const sorted = [...lags].map((lag) => Math.max(0, lag)).sort((one, other) => one - other)
  const figures = {
    seconds,
    calls: load.ledger.calls,
    retries: load.ledger.retries,
    kills,
    importsAndUndos: rounds,
    polled: polled.applied,
    streamed: streamed.applied,
    away: away.applied,
    lagMilliseconds: { p50: quantile(sorted, 0.5), p90: quantile(sorted, 0.9), p99: quantile(sorted, 0.99) },
    lists,
    failures,
  }
  if (options.json) showJson(figures)
  else {
    const { lists, failures, lagMilliseconds, ...numbers } = figures
    showTable([{ ...numbers, ...lagMilliseconds }], [...Object.keys(numbers), ...Object.keys(lagMilliseconds)])
    showTable(lists, ['list', 'written', 'version'])
    showLines('', ...(failures.length > 0 ? failures : ['Every copy equals the export.']))
  }
  return failures.length === 0
}

const versionsOf = async (dataDirectory: string, slug: string): Promise<Map<string, number>> => {
  const server = await openEmbedded(dataDirectory)
  const client = new pg.Client(server.connectionString)
  await client.connect()
  const { rows } = await client.query<{ resource: string; version: number }>(
    'select resource, version::integer from heads where tenant_id = (select id from tenants where slug = $1) and version > 0',
    [slug],
  )
  await client.end()
  await server.close()
  return new Map(rows.map(({ resource, version }) => [resource, version]))
}

process.exit((await main()) ? 0 : 1)
