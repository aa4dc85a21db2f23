import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'

/**
 * What a page costs in a tenant of 1,000,000 contacts beside one of 1,000: `npm run bench:lists`.
 * All workloads take turns in one run, so that their ratios hold on a noisy machine. The data is kept for the next run.
 */
const dataDirectory = resolve('.masthead/bench')
const environment = { ...process.env, MASTHEAD_DATA_DIR: dataDirectory, DATABASE_URL: '' }
const rareWord = 'Quagswagger'
const rounds = 400

type Workload = { name: string; measure: () => Promise<unknown>; every?: number }
type Bar = { name: string; of: string; by: string; most?: number; least?: number }

const bars: Bar[] = [
  { name: 'page 15,000 ÷ page 1', of: 'large: page 15,000', by: 'large: page 1', most: 1.5 },
  { name: 'page 1, large ÷ small', of: 'large: page 1', by: 'small: page 1', most: 1.3 },
  { name: 'of an account, large ÷ small', of: 'large: of an account', by: 'small: of an account', most: 1.2 },
  { name: 'get by id, large ÷ small', of: 'large: get by id', by: 'small: get by id', most: 1.2 },
  { name: 'ilike ÷ rare search', of: 'large: ilike', by: 'large: rare search', least: 50 },
]

const main = async (): Promise<void> => {
  run('node', 'server/test/seed-contacts.ts', 'small', '1000')
  run('node', 'server/test/seed-contacts.ts', 'large', '1000000')
  const server = spawn('masthead', ['serve', '--port', '0', '--json'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const { api } = await firstDocument(server.stdout)
    const database = new pg.Client({ ...(await embeddedConnection()), database: 'masthead' })
    await database.connect()
    await database.query('vacuum analyze')
    const tenants = { small: newCaller(api, 'small'), large: newCaller(api, 'large') }
    await makeRareContact(tenants.large)
    report(await measure([...(await workloads(tenants)), ilike(database)]))
    await database.end()
  } finally {
    server.kill('SIGTERM')
    await once(server, 'exit')
  }
}

const run = (program: string, ...words: string[]): string => {
  const { status, stdout } = spawnSync(program, words, {
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} failed`)
  return stdout
}

const firstDocument = async (stream: NodeJS.ReadableStream): Promise<{ api: string }> => {
  let printed = ''
  for await (const chunk of stream) {
    printed += chunk
    if (printed.endsWith('}\n')) return JSON.parse(printed)
  }
  throw new Error('the server ended before it served')
}

/** The embedded server keeps its socket and its password in the folder of the cluster. */
const embeddedConnection = async (): Promise<pg.ClientConfig> => ({
  host: `${dataDirectory}/postgres`,
  user: 'postgres',
  password: (await readFile(`${dataDirectory}/postgres/masthead-password`, 'utf8')).trim(),
})

type Page = { items: Record<string, string>[]; total: number | null }
type Caller = (path: string, init?: RequestInit) => Promise<Page>

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

const newCaller = (api: string, tenant: string): Caller => {
  const created = run(
    'masthead',
    ...`token create --tenant ${tenant} --service bench --name bench --json --expires 1d --scopes`.split(' '),
    'contacts:read,contacts:write,accounts:read',
  )
  const { token } = JSON.parse(created)
  const headers = { authorization: `Bearer ${token}` }
  return async (path, init) => {
    if (init) {
      const response = await fetch(api + path, { ...init, headers: { ...headers, 'content-type': 'application/json' } })
      return (await response.json()) as Page // what the caller asks for, it knows
    }
    return new Promise((done, fail) => {
      get(api + path, { agent, headers }, (response) => {
        text(response).then(
          (body) => (response.statusCode === 200 ? done(JSON.parse(body)) : fail(new Error(body))),
          fail,
        )
      }).on('error', fail)
    })
  }
}

const makeRareContact = async (call: Caller): Promise<void> => {
  const { total } = await call(`/contacts?search=${rareWord}`)
  if (total === 1) return
  const { items } = await call('/accounts?pageSize=1')
  const body = JSON.stringify({ accountId: items[0]?.accountId, lastName: rareWord })
  await call('/contacts', { method: 'POST', body })
}

const workloads = async (tenants: Record<'small' | 'large', Caller>): Promise<Workload[]> => {
  const all: Workload[] = []
  for (const [tenant, call] of Object.entries(tenants)) {
    const { items, total } = await call('/contacts?page=5')
    const contact = items[0]
    if (!contact || total === null) throw new Error(`the tenant ${tenant} is empty`)
    const add = (name: string, path: string) => all.push({ name: `${tenant}: ${name}`, measure: () => call(path) })
    add('page 1', '/contacts')
    if (total > 800_000) add('page 15,000', '/contacts?page=15000')
    add('of an account', `/contacts?accountId=${contact.accountId}`)
    add('get by id', `/contacts/${contact.id}`)
    if (total > 800_000) add('rare search', `/contacts?search=${rareWord}`)
  }
  return all
}

const ilike = (database: pg.Client): Workload => ({
  name: 'large: ilike',
  every: 100,
  measure: () =>
    database.query(
      `select count(*) from contacts where tenant_id = (select id from tenants where slug = 'large')
        and (name ilike $1 or first_name ilike $1 or last_name ilike $1 or email ilike $1 or phone ilike $1
          or phone2 ilike $1 or title ilike $1)`,
      [`%${rareWord}%`],
    ),
})

const measure = async (workloads: Workload[]): Promise<Map<string, number[]>> => {
  const times = new Map<string, number[]>(workloads.map(({ name }) => [name, []]))
  for (let round = -20; round < rounds; round++) {
    for (const { name, measure, every = 1 } of workloads) {
      if (round % every !== 0) continue
      const start = performance.now()
      await measure()
      if (round >= 0) times.get(name)?.push(performance.now() - start)
    }
  }
  return times
}

const report = (times: Map<string, number[]>): void => {
  const percentile = (name: string, share: number): number => {
    const sorted = [...(times.get(name) ?? [])].sort((a, b) => a - b)
    return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  }
  const lines = [...times.keys()].map(
    (name) =>
      `${name.padEnd(28)} p50 ${percentile(name, 0.5).toFixed(2).padStart(9)} ms   p99 ${percentile(name, 0.99).toFixed(2).padStart(9)} ms`,
  )
  const ratios = bars.map(({ name, of, by, most, least }) => {
    const ratio = percentile(of, 0.5) / percentile(by, 0.5)
    const holds = ratio <= (most ?? Number.POSITIVE_INFINITY) && ratio >= (least ?? 0)
    const bar = most === undefined ? `at least ${least}` : `at most ${most}`
    return `${name.padEnd(28)} ${ratio.toFixed(2).padStart(9)}   ${bar.padEnd(12)} ${holds ? 'holds' : 'FALLS SHORT'}`
  })
  process.stdout.write(`${[...lines, '', ...ratios].join('\n')}\n`)
}

await main()
