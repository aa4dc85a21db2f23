import { readFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { run, type Served, serve } from './served.ts'
import { type Bar, measure, report, type Workload } from './timing.ts'

/** What a page costs in a tenant of 1,000,000 contacts beside one of 1,000: `npm run bench:lists`. */
const dataDirectory = resolve('.masthead/bench')
const rareWord = 'Quagswagger'
const rounds = 400

const bars: Bar[] = [
  { name: 'page 15,000 ÷ page 1', of: 'large: page 15,000', by: 'large: page 1', most: 1.5 },
  { name: 'page 1, large ÷ small', of: 'large: page 1', by: 'small: page 1', most: 1.3 },
  { name: 'of an account, large ÷ small', of: 'large: of an account', by: 'small: of an account', most: 1.2 },
  { name: 'get by id, large ÷ small', of: 'large: get by id', by: 'small: get by id', most: 1.2 },
  { name: 'ilike ÷ rare search', of: 'large: ilike', by: 'large: rare search', least: 50 },
]

const main = async (): Promise<void> => {
  run(dataDirectory, 'node', ['server/test/seed-contacts.ts', 'small', '1000'])
  run(dataDirectory, 'node', ['server/test/seed-contacts.ts', 'large', '1000000'])
  const served = await serve(dataDirectory)
  try {
    const database = new pg.Client({ ...(await embeddedConnection()), database: 'masthead' })
    await database.connect()
    await database.query('vacuum analyze')
    const tenants = { small: newCaller(served, 'small'), large: newCaller(served, 'large') }
    await makeRareContact(tenants.large)
    report(await measure([...(await workloads(tenants)), ilike(database)], rounds), bars)
    await database.end()
  } finally {
    await served.stop()
  }
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

const newCaller = ({ api, masthead }: Served, tenant: string): Caller => {
  const options = `--tenant ${tenant} --service bench --name bench --json --expires 1d --scopes`.split(' ')
  const { token } = JSON.parse(masthead('token', 'create', ...options, 'contacts:read,contacts:write,accounts:read'))
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

await main()
