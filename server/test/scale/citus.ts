import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { basePath } from '@masthead/contract'
import { complain, say, showJson, showTable } from '../../src/commands/output.ts'
import { messageOf } from '../../src/error-message.ts'
import { allScopes } from '../../src/identity/people/roles.ts'
import { freePorts } from '../failover/programs.ts'
import { runMasthead, startServing, until } from '../processes/masthead-process.ts'
import { type CitusServers, createCitusDatabase, inDatabase, startCitus } from './citus-servers.ts'
import { explainReads } from './routed-reads.ts'

const help = `npm run test:citus -- --programs <folder> [options]

Serves a database that is sharded over two workers of Citus: the acceptance tests, the isolation probe, an import, a walk under writers,
a tenant that moves while it is written to, and a worker that is killed in the middle of writes. Then compares what one PostgreSQL and
the sharded one answer a second. Ends with 0 when all of it holds.

  --programs <folder>  the programs of a PostgreSQL 15 or newer that has Citus, as in /usr/lib/postgresql/15/bin
  --contacts <number>  how many contacts the largest tenant has; 1000000 unless said otherwise
  --tenants <number>   how many tenants there are; 64 unless said otherwise
  --without-tests      leave the acceptance tests out
  --json               print the figures as one JSON document
  --keep               leave the logs behind
  --help               print this

Citus is no package of Debian. Where its own packages cannot be had, it is built from its sources: install postgresql-server-dev-15,
then \`./configure --without-libcurl && make install\` in them.`

/** What the API promises, through its front door. */
const acceptance = ['http/api', 'records', 'resources', 'transfer', 'webhooks', 'management']

const readOptions = () => {
  const flag = { type: 'boolean', default: false } as const
  try {
    return parseArgs({
      options: {
        json: flag,
        keep: flag,
        help: flag,
        'without-tests': flag,
        programs: { type: 'string' },
        contacts: { type: 'string', default: '1000000' },
        tenants: { type: 'string', default: '64' },
      },
    }).values
  } catch (error) {
    complain(`${messageOf(error)}; see --help`)
    process.exit(1)
  }
}

type Environment = Record<string, string>
type Tenant = { slug: string; token: string }
type Finding = { what: string; figure: string; holds: boolean }
type Call = (tenant: Tenant, method: string, path: string, body?: object) => Promise<Response>
type Response = { status: number; next: string | undefined; body: { id?: string; items?: { id: string }[] } }

const callerAt =
  (origin: string): Call =>
  async ({ token }, method, path, body) => {
    const response = await fetch(path.startsWith('http') ? path : origin + basePath + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    const read = (await response.json()) as Response['body'] // as the contract says
    return { status: response.status, next, body: read }
  }

const masthead = async (args: string[], environment: Environment): Promise<string> => {
  const { code, stdout, stderr } = await runMasthead(args, environment)
  if (code !== 0) throw new Error(`masthead ${args.join(' ')}: ${stderr}`)
  return stdout
}

const contact = (number: number) => ({ accountId: 'A-1', firstName: 'Ada', lastName: `Lovelace ${number}` })

const addTenants = async (count: number, environment: Environment): Promise<Tenant[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'masthead-citus-'))
  writeFileSync(join(folder, 'accounts.csv'), 'accountId,company\nA-1,Acme\n')
  const tenants: Tenant[] = []
  for (let number = 0; number < count; number++) {
    const slug = `tenant-${number}`
    await masthead(['tenant', 'create', slug, '--name', slug], environment)
    const created = await masthead(
      ['token', 'create', '--tenant', slug, '--service', 'trial', '--scopes', allScopes.join(','), '--json'],
      environment,
    )
    await masthead(['import', '--tenant', slug, join(folder, 'accounts.csv')], environment)
    tenants.push({ slug, token: JSON.parse(created).token })
  }
  rmSync(folder, { recursive: true })
  return tenants
}

const importContacts = async (tenant: Tenant, count: number, environment: Environment): Promise<Finding> => {
  const folder = mkdtempSync(join(tmpdir(), 'masthead-citus-'))
  const rows = Array.from(
    { length: count },
    (_, number) => `E-${number},A-1,Ada,Lovelace ${number},a${number}@example.com`,
  )
  writeFileSync(join(folder, 'contacts.csv'), `externalId,accountId,firstName,lastName,email\n${rows.join('\n')}\n`)
  const begun = performance.now()
  const said = await masthead(['import', '--tenant', tenant.slug, join(folder, 'contacts.csv'), '--json'], environment)
  const seconds = (performance.now() - begun) / 1_000
  rmSync(folder, { recursive: true })
  const { files } = JSON.parse(said)
  return {
    what: `import of ${count} contacts`,
    figure: `${Math.round(count / seconds)} rows/s`,
    holds: files[0]?.created === count,
  }
}

/** Every contact that was there before the walk is met once, whatever is written meanwhile. */
const walk = async (call: Call, tenant: Tenant, expected: number): Promise<Finding> => {
  let isOver = false
  let written = 0
  const writer = (async () => {
    for (; !isOver; written++) await call(tenant, 'POST', '/contacts', contact(written))
  })()
  const met = new Map<string, number>()
  for (let path: string | undefined = '/contacts?pageSize=200'; path !== undefined; ) {
    const { body, next }: Response = await call(tenant, 'GET', path)
    for (const { id } of body.items ?? []) met.set(id, (met.get(id) ?? 0) + 1)
    path = next
  }
  isOver = true
  await writer
  const twice = [...met.values()].filter((times) => times > 1).length
  const figure = `${met.size} met, ${twice} twice, ${written} written meanwhile`
  return { what: 'walk under a writer', figure, holds: met.size >= expected && twice === 0 }
}

/** Writes until `work` is done. Of what was answered with 201, everything must be there afterwards. */
const underWriters = async (call: Call, tenants: readonly Tenant[], work: () => Promise<unknown>) => {
  let isOver = false
  const answered: { tenant: Tenant; id: string }[] = []
  const refused = new Map<number, number>()
  const writers = tenants.map(async (tenant) => {
    for (let number = 0; !isOver; number++) {
      const { status, body } = await call(tenant, 'POST', '/contacts', contact(number))
      if (status === 201) answered.push({ tenant, id: String(body.id) })
      else refused.set(status, (refused.get(status) ?? 0) + 1)
    }
  })
  await work()
  isOver = true
  await Promise.all(writers)
  const lost: string[] = []
  for (const { tenant, id } of answered) {
    const { status } = await call(tenant, 'GET', `/contacts/${id}`)
    if (status !== 200) lost.push(id)
  }
  return { answered: answered.length, refused: Object.fromEntries(refused), lost: lost.length }
}

const killWorker = async (
  { programs, connectionStrings }: CitusServers,
  programsFolder: string,
  call: Call,
  tenants: readonly Tenant[],
  sharded: Environment,
): Promise<Finding> => {
  const killed = `127.0.0.1:${new URL(connectionStrings[1] ?? '').port}`
  const [mine, others]: [Tenant[], Tenant[]] = [[], []]
  for (const tenant of tenants.slice(1)) {
    const { server } = JSON.parse(await masthead(['shard', 'status', tenant.slug, '--json'], sharded))
    const some = server === killed ? mine : others
    if (some.length < 4) some.push(tenant)
  }
  let [served, refusedElsewhere] = [0, 0]
  const { answered, refused, lost } = await underWriters(call, [...mine, ...others], async () => {
    await pause(2_000)
    programs.signal(programs.postgres('worker-1'), 'SIGKILL')
    for (const deadline = Date.now() + 5_000; Date.now() < deadline; )
      for (const tenant of others) {
        if ((await call(tenant, 'GET', '/contacts')).status === 200) served++
        else refusedElsewhere++
      }
    programs.start('worker-1', join(programsFolder, 'postgres'), ['-D', 'worker-1'])
    await until('the worker serves again', async () => {
      const all = await Promise.all(mine.map((tenant) => call(tenant, 'GET', '/contacts?pageSize=1')))
      return all.every(({ status }) => status === 200)
    })
    await pause(2_000)
  })
  const elsewhere = `on the other worker ${served} pages served meanwhile, ${refusedElsewhere} refused`
  return {
    what: 'a worker is killed and comes back',
    figure: `${answered} creates answered, ${lost} lost; refused ${JSON.stringify(refused)}; ${elsewhere}`,
    holds: lost === 0 && answered > 0 && served > 0,
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

const callers = 16

/** Calls a second, of as many callers as there are tenants here. */
const rate = async (seconds: number, ask: (caller: number, number: number) => Promise<unknown>): Promise<number> => {
  let done = 0
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (; performance.now() - begun < seconds * 1_000; done++) await ask(caller, done)
    }),
  )
  return done / ((performance.now() - begun) / 1_000)
}

const loads = (call: Call, tenants: readonly Tenant[], ids: Map<string, string[]>) => {
  const tenantOf = (caller: number) =>
    tenants[(caller % Math.max(1, tenants.length - 1)) + 1] ?? { slug: '', token: '' }
  return {
    creates: (caller: number, number: number) => call(tenantOf(caller), 'POST', '/contacts', contact(number)),
    'gets by id, uncached': (caller: number, number: number) => {
      const some = ids.get(tenantOf(caller).slug) ?? []
      return uncached(call, tenantOf(caller), `/contacts/${some[number % some.length]}`)
    },
    'first pages, uncached': (caller: number) => uncached(call, tenantOf(caller), '/contacts'),
    'first pages, cached': (caller: number) => call(tenantOf(caller), 'GET', '/contacts'),
  }
}

/** A query of its own makes each read another. */
let asked = 0
const uncached = (call: Call, tenant: Tenant, path: string) =>
  path.includes('/contacts/')
    ? call(tenant, 'GET', `${path}`)
    : call(tenant, 'GET', `${path}?pageSize=${(asked++ % 50) + 1}`)

const idsOf = async (call: Call, tenants: readonly Tenant[]): Promise<Map<string, string[]>> => {
  const found = new Map<string, string[]>()
  for (const tenant of tenants.slice(1, callers + 1)) {
    for (let number = 0; number < 20; number++) await call(tenant, 'POST', '/contacts', contact(number))
    const { body } = await call(tenant, 'GET', '/contacts?pageSize=20')
    found.set(
      tenant.slug,
      (body.items ?? []).map(({ id }) => id),
    )
  }
  return found
}

const serve = async (environment: Environment) => {
  const [port = 0] = await freePorts(1)
  const own = {
    ...environment,
    BASE_URL: `http://127.0.0.1:${port}`,
    RATE_LIMIT: 'off',
    LOG_LEVEL: 'error',
    WORKERS: '1',
  }
  const serving = await startServing(['--port', `${port}`], own)
  return { serving, call: callerAt(`http://127.0.0.1:${port}`) }
}

const compare = async (sharded: Environment, plain: Environment, tenants: Tenant[]): Promise<Finding[]> => {
  await masthead(['migrate'], plain)
  const sides = []
  for (const [environment, some] of [
    [sharded, tenants],
    [plain, await addTenants(Math.min(callers + 1, tenants.length), plain)],
  ] as const) {
    const { serving, call } = await serve(environment)
    sides.push({ serving, load: loads(call, some, await idsOf(call, some)) })
  }
  const [left, right] = sides
  if (!left || !right) throw new Error('there are two')
  const findings: Finding[] = []
  for (const name of Object.keys(left.load) as (keyof typeof left.load)[]) {
    const ratios: number[] = []
    for (let round = 0; round < 3; round++)
      ratios.push((await rate(5, left.load[name])) / (await rate(5, right.load[name])))
    const [, median = 0] = ratios.toSorted((one, other) => one - other)
    findings.push({ what: `${name}, sharded ÷ one PostgreSQL`, figure: median.toFixed(2), holds: true })
  }
  await Promise.all(sides.map(({ serving }) => serving.stop()))
  return findings
}

const passTests = (programsFolder: string): Finding => {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const files = acceptance.map((room) => `server/src/${room}/**/*.test.ts`)
  const args = ['--test', '--test-global-setup=server/test/database-server.ts', ...files]
  const { stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1e9,
    env: { ...process.env, TEST_CITUS: programsFolder },
  })
  const [pass = '0', fail = '?'] = ['pass', 'fail'].map(
    (what) => new RegExp(`^ℹ ${what} (\\d+)`, 'm').exec(stdout)?.[1],
  )
  for (const [line] of stdout.matchAll(/^ *✖ .*$/gm)) say(line)
  return { what: 'acceptance tests', figure: `${pass} pass, ${fail} fail`, holds: fail === '0' && pass !== '0' }
}

const run = async (options: ReturnType<typeof readOptions>, programsFolder: string): Promise<boolean> => {
  const findings: Finding[] = []
  const note = (...some: Finding[]) => {
    findings.push(...some)
    for (const { what, figure, holds } of some) say(`${holds ? '✔' : '✖'} ${what}: ${figure}`)
  }
  if (!options['without-tests']) note(passTests(programsFolder))
  const servers = await startCitus(programsFolder, options.keep)
  const [coordinator = '', , second = ''] = servers.connectionStrings
  const secret = randomBytes(24).toString('base64')
  const sharded = {
    DATABASE_URL: await createCitusDatabase(servers.connectionStrings, 'masthead'),
    MASTHEAD_SECRET: secret,
  }
  say((await masthead(['shard', 'init'], sharded)).trim())
  const { read, elsewhere } = await explainReads(sharded.DATABASE_URL)
  for (const line of elsewhere) say(line)
  note({
    what: 'statements that read a tenant',
    figure: `${read} ask one shard, ${elsewhere.length} do not`,
    holds: elsewhere.length === 0 && read > 0,
  })
  const tenants = await addTenants(Number(options.tenants), sharded)
  const [large] = tenants
  if (!large) throw new Error('there is a tenant')
  note(await importContacts(large, Number(options.contacts), sharded))
  const { serving, call } = await serve(sharded)
  const probed = await runMasthead(['probe', '--url', serving.announced.url], sharded)
  const said = `${probed.stdout}${probed.stderr}`.trim().split('\n').at(-1) ?? ''
  note({ what: 'isolation probe', figure: said, holds: probed.code === 0 })
  note(await walk(call, large, Number(options.contacts)))
  const moved = tenants[1] ?? large
  const to = `127.0.0.1:${new URL(second).port}`
  const moving = await underWriters(call, [moved], () =>
    masthead(['shard', 'isolate', moved.slug, '--to', to], sharded),
  )
  note({
    what: 'a tenant moves under writes',
    figure: `${moving.answered} creates answered, ${moving.lost} lost; refused ${JSON.stringify(moving.refused)}`,
    holds: moving.lost === 0 && (await masthead(['shard', 'status', moved.slug, '--json'], sharded)).includes(to),
  })
  note(await killWorker(servers, programsFolder, call, tenants, sharded))
  await serving.stop()
  const plain = { DATABASE_URL: inDatabase(coordinator, 'plain'), MASTHEAD_SECRET: secret }
  await createPlain(coordinator)
  note(...(await compare(sharded, plain, tenants)))
  if (options.json) showJson(findings)
  else showTable(findings, ['what', 'figure', 'holds'])
  return findings.every(({ holds }) => holds)
}

const createPlain = async (server: string): Promise<void> => {
  const { default: pg } = await import('pg')
  const client = new pg.Client(server)
  await client.connect()
  await client.query('create database plain')
  await client.end()
}

const options = readOptions()
const { programs } = options
if (options.help) say(help)
else if (programs === undefined || !existsSync(join(programs, 'initdb'))) {
  complain('say where the programs of a PostgreSQL with Citus are: --programs /usr/lib/postgresql/15/bin; see --help')
  process.exit(1)
} else process.exit((await run(options, programs)) ? 0 : 1)
