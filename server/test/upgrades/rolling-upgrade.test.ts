import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { basePath } from '@masthead/contract'
import pg from 'pg'
import { knownMigrations } from '../../src/database/schema/migration-files.ts'
import { version } from '../../src/version.ts'
import { freePorts } from '../failover/programs.ts'
import { runInSession } from '../processes/command-session.ts'
import { runMasthead, type Serving, startServing, until } from '../processes/masthead-process.ts'
import { newFolder } from '../records/import-files.ts'
import { MixedLoad } from '../records/mixed-load.ts'
import { sampleAccount, sampleContact } from '../records/sample-records.ts'
import { type CallResponse, callAt, cloneTemplate, linksOf, secret } from '../service.ts'
import { copyProgram } from './next-version.ts'

const [major = 0, minor = 0] = version.split('.').map(Number)
const [next, afterNext] = [`${major}.${minor + 1}.0`, `${major}.${minor + 2}.0`]
const count = (await knownMigrations()).length
const fileName = (place: number, name: string) => `${String(count + place).padStart(4, '0')}-${name}.sql`

/** Every table gets a column, so that a statement that depends on the columns of any of them would fail; and rows are filled. */
const expanding = {
  [fileName(1, 'remarks')]: `-- Every row can have a remark.
    do $$ declare name name; begin
      for name in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname loop
        execute format('alter table %I add column remark text not null default ''''', name);
      end loop;
    end $$;
    update contacts set remark = coalesce(title, '');
    create index on contacts (tenant_id, remark, position);
    create table remarks (tenant_id uuid not null references tenants, id uuid, primary key (tenant_id, id));
    alter table remarks enable row level security;
    alter table remarks force row level security;
    create policy tenant on remarks using (tenant_id = current_tenant());`,
}
const contracting = {
  [fileName(2, 'without-remarks')]: `-- Nobody reads remarks of contacts any more.
-- admits: ${next}
    alter table contacts drop column remark;`,
}

const databaseUrl = await cloneTemplate()
const environment = {
  DATABASE_URL: databaseUrl,
  MASTHEAD_SECRET: secret,
  BASE_URL: 'http://masthead.test',
  RATE_LIMIT: 'off',
  LOG_LEVEL: 'warn',
}
const [owner, holder] = [new pg.Client(databaseUrl), new pg.Client(databaseUrl)]
await Promise.all([owner.connect(), holder.connect()])
const running: Serving[] = []
after(async () => {
  await Promise.all(running.map((serving) => serving.stop()))
  await Promise.all([owner.end(), holder.end()])
})

type Node = { origin: string; api: string; serving: Serving }

const startNode = async (port: number, program?: string): Promise<Node> => {
  const serving = await startServing(['--port', String(port)], environment, undefined, program)
  running.push(serving)
  const origin = `http://127.0.0.1:${port}`
  return { origin, api: origin + basePath, serving }
}

const command = async <T>(...words: string[]): Promise<T> => {
  const { code, stdout, stderr } = await runInSession([...words, '--json'], environment)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

const newTenant = async (slug: string) => {
  await command('tenant', 'create', slug, '--name', slug)
  const scopes = 'contacts:read,contacts:write,accounts:read,accounts:write'
  const { token } = await command<{ token: string }>(
    'token',
    'create',
    '--tenant',
    slug,
    '--service',
    'load',
    '--scopes',
    scopes,
  )
  return { slug, token }
}

const account = sampleAccount('A-1')
const contactsFile = (names: readonly string[]) =>
  names.map((name) => JSON.stringify(sampleContact('A-1', { name, externalId: name }))).join('\n')
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name} ${index}`)

/** Walks the list again and again, each page from another node, and keeps how often each walk met each contact of before. */
class Walks {
  readonly counts: number[] = []
  readonly failures: string[] = []
  #isOver = false
  #pages = 0
  readonly #walking: Promise<void>

  constructor(token: string, nodes: readonly Node[], expected: ReadonlySet<string>) {
    this.#walking = this.#walk(token, nodes, expected)
  }

  async #walk(token: string, nodes: readonly Node[], expected: ReadonlySet<string>): Promise<void> {
    while (!this.#isOver) {
      const met: string[] = []
      for (let path: string | undefined = '/contacts?pageSize=25'; path !== undefined; this.#pages++) {
        const { origin } = nodes[this.#pages % nodes.length] ?? { origin: '' }
        const response: CallResponse | Error = await callAt(origin, 'GET', path, { token }).catch((error) => error)
        if (response instanceof Error || response.status !== 200) {
          this.failures.push(`${origin} ${path}: ${response instanceof Error ? response.cause : response.text}`)
          break
        }
        met.push(...response.body.items.map(({ name }: { name: string }) => name))
        path = linksOf(response.headers).next
        await delay(10)
      }
      const known = met.filter((name) => expected.has(name))
      if (known.length !== expected.size || new Set(known).size !== expected.size)
        this.failures.push(`a walk met ${known.length} contacts, ${new Set(known).size} of them different`)
      this.counts.push(met.length)
    }
  }

  /** Once the page that is in flight has come. */
  async passed(): Promise<void> {
    const page = this.#pages
    await until('a page has come', () => this.#pages > page)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#walking
  }

  /** For a test that failed. */
  [Symbol.dispose](): void {
    this.#isOver = true
  }
}

const failuresOf = ({ attempts }: MixedLoad) =>
  attempts.filter(({ milliseconds, status }) => milliseconds !== null && (status === null || status >= 300))

test(`nodes of ${version} serve beside ${next} while it migrates and afterwards, without a failed request`, async (context) => {
  const copy = await copyProgram()
  await copy.become(next, expanding)
  const tenants = [await newTenant('first'), await newTenant('second')]
  const archive = await newTenant('archive')
  const [oldPort = 0, otherPort = 0, nextPort = 0] = await freePorts(3)
  const importing = async (names: readonly string[], program?: string) => {
    const folder = await newFolder({
      'accounts.ndjson': JSON.stringify(account),
      'contacts.ndjson': contactsFile(names),
    })
    const { code, stderr } = await runMasthead(['import', folder, '--tenant', 'archive'], environment, '', program)
    assert.equal(code, 0, stderr)
  }
  const before = numbered('Before', 200)
  await importing(before)

  const [old, other] = await Promise.all([startNode(oldPort), startNode(otherPort)])
  const nodes = [old, other]
  const apis = nodes.map(({ api }) => api)
  using load = new MixedLoad({ nodes: apis, tenants, callers: 6, pauseMilliseconds: 40 })
  using walks = new Walks(archive.token, nodes, new Set(before))
  const join = (node: Node) => {
    nodes.push(node)
    apis.push(node.api)
  }
  /** As a load balancer does: nothing new goes there, and the node is stopped when the rest was answered. */
  const leave = async (node: Node) => {
    const place = nodes.indexOf(node)
    nodes.splice(place, 1)
    apis.splice(place, 1)
    await until('nothing is in flight there', () =>
      load.attempts.every((attempt) => attempt.node !== node.api || attempt.milliseconds !== null),
    )
    await walks.passed()
    assert.equal((await node.serving.stop()).code, 0)
  }
  const moreWrites = async (count: number) => {
    const answered = () => load.attempts.filter(({ isWrite, status }) => isWrite && status !== null).length
    const wanted = answered() + count
    await until('more writes are answered', () => answered() >= wanted)
  }
  const sessions = async () =>
    (
      await owner.query(`select distinct substring(application_name from '^masthead ([^ ,]+)') as version
      from pg_stat_activity where datname = current_database() and application_name ~ '^masthead' order by 1`)
    ).rows.map(({ version }) => version)

  load.start()
  await moreWrites(30)
  // As an export or an import in bulk does, somebody uses a table for long.
  await holder.query('begin; select from contacts limit 1')
  const starting = startNode(nextPort, copy.main)
  await until('the migration waits for the table', async () => {
    const waiting = `select from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock' and datname = current_database()`
    return ((await owner.query(waiting, [`masthead ${next}`])).rowCount ?? 0) > 0
  })
  await moreWrites(30)
  await holder.query('commit')
  const [nextNode] = await Promise.all([starting, importing(numbered('Meanwhile', 50))])
  assert.deepEqual((await sessions()).toSorted(), [version, next])
  assert.equal((await owner.query('select count(*)::integer as count from migrations')).rows[0].count, count + 1)
  await moreWrites(30)
  join(nextNode)
  await importing(numbered('By the next', 50), copy.main)

  await leave(old)
  join(await startNode(oldPort))
  await moreWrites(30)
  await leave(other)
  await copy.become(afterNext, contracting)
  const [refused, checked] = await Promise.all([
    runMasthead(['migrate'], environment, '', copy.main),
    runMasthead(['upgrade', 'check'], environment, '', copy.main),
  ])
  assert.deepEqual([refused.code, checked.code], [1, 1])
  const reason = `the database admits Masthead ${next} and newer, and older nodes use it: ${version} on `
  assert.match(
    refused.stderr,
    new RegExp(`${Object.keys(contracting)[0]} would leave a database that admits.*${version} on `),
  )
  assert.match(refused.stderr, new RegExp(`stop them, or bring them to ${next} first\\n$`))
  assert.ok(checked.stdout.includes(`Blocked: afterwards ${reason}`), checked.stdout)
  const last = nodes.find(({ origin }) => origin === old.origin)
  assert.ok(last)
  await leave(last)
  const contracted = await runMasthead(['migrate'], environment, '', copy.main)
  assert.equal(contracted.code, 0, contracted.stderr)
  await moreWrites(30)
  const tooOld = await runMasthead(['serve', '--port', String(oldPort)], environment)
  assert.deepEqual([tooOld.code, tooOld.stdout], [1, ''])
  assert.match(
    tooOld.stderr,
    new RegExp(
      `this database admits Masthead ${next} and newer, and this is ${version}: install Masthead ${next} or newer\\n$`,
    ),
  )

  await Promise.all([load.stop(), walks.stop()])
  context.diagnostic(`${load.attempts.length} requests, ${walks.counts.length} walks`)
  assert.deepEqual(failuresOf(load), [])
  assert.deepEqual(walks.failures, [])
  assert.equal(walks.counts.at(-1), 300)
  assert.ok(walks.counts.length > 3)
  const nothing = { lost: [], doubled: [], different: [], invented: [], miscounted: [], unanswered: [] }
  assert.deepEqual(await load.compare(), nothing)
})
