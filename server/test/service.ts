import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after } from 'node:test'
import { basePath, type ResourceName, type Role, type Scope } from '@masthead/contract'
import pg from 'pg'
import { type App, type AppOptions, buildApp, type Delegation } from '../src/app.ts'
import { operator } from '../src/audit/author.ts'
import { retryWhileUnavailable } from '../src/commands/with-database.ts'
import { serviceRole } from '../src/database/connections/address.ts'
import { type Database, openDatabase } from '../src/database/database.ts'
import type { RateLimits } from '../src/http/api/callers/rate-limit.ts'
import { listen } from '../src/http/connections/server.ts'
import { createMember } from '../src/identity/people/members.ts'
import { noPassword } from '../src/identity/people/passwords.ts'
import { allScopes } from '../src/identity/people/roles.ts'
import { createTenant, type Tenant } from '../src/identity/people/tenants.ts'
import { createToken } from '../src/identity/tokens/access-tokens.ts'
import type { Fields } from '../src/records/stored-record.ts'
import { insertRecords } from '../src/records/writes/write.ts'
import { secret, templates } from './database-server.ts'
import { fetchWhole } from './requests/judged-responses.ts'
import { cloneCitusDatabase } from './scale/citus-servers.ts'

/** The service as production runs it, on a database of its own, reached over HTTP. */
export type Service = {
  app: App
  database: Database
  /** The database as its owner, whom row-level security does not hold: for what no caller could see. */
  owner: pg.Client
  connectionString: string
  origin: string
  call: Call
  newTenant: (name?: string) => Promise<TestTenant>
}

export type CallOptions = { token?: string; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal }
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
export type CallResponse = { status: number; headers: Headers; body: any; text: string }
/** `path` is relative to the base path of the API, or begins with `//` to be relative to the origin. */
export type Call = (method: string, path: string, options?: CallOptions) => Promise<CallResponse>

export type TestTenant = Tenant & {
  /** A service token with these scopes, all of them unless said otherwise. */
  serviceToken: (scopes?: readonly Scope[], more?: { defaultAssignee?: string; lifetime?: number }) => Promise<string>
  /** A personal access token of a new member. */
  personalToken: (
    role: Role,
    scopes?: readonly Scope[],
    more?: { legacyUserId?: string; lifetime?: number },
  ) => Promise<string>
  /** Adds records as an import would, and answers them as the API shows them. */
  add: (resource: ResourceName, records: Fields[]) => Promise<Record<string, unknown>[]>
}

export type ServiceOptions = {
  /** What the service calls itself; it listens on this port, or on any when it names none. */
  baseUrl?: string
  /** Whose delegated tokens it accepts: its own unless said otherwise. */
  delegation?: Delegation
  /** What callers may ask for: so much that no test comes near it, unless said otherwise. */
  rateLimits?: RateLimits
  /** The mail server; none unless said otherwise. */
  mail?: AppOptions['mail']
  /** The secret under which those of webhooks are encrypted, and whether their addresses may be private: they may, unless said otherwise. */
  webhooks?: AppOptions['webhooks']
  /** Who may say from where a request came: nobody unless said otherwise. */
  trustedProxies?: string[]
  /** The database of another service; one of its own unless said otherwise. */
  connectionString?: string
  /** Where they are counted: in its own memory unless said otherwise. */
  counting?: AppOptions['counting']
  /** How long a caller may keep it waiting: as in production, unless said otherwise. */
  timeoutMilliseconds?: number
  /** How old its cached responses may be: not at all, unless said otherwise. */
  cacheMilliseconds?: number
  /** The same database by another way, which only the service takes. */
  reachedBy?: string
  /** A pooler in transaction mode, which only the service takes. */
  pooler?: string
  /** Standbys of the database. */
  replicas?: string[]
  /** What stands between the service and its database. */
  through?: (database: Database) => Database
}

/** What the service calls itself, and its secret, unless a test says otherwise. */
export const baseUrl = 'http://masthead.test'
export { secret }

const defaults = { baseUrl }
const million = 1_000_000
export const generous: RateLimits = {
  token: million,
  tenant: million,
  atOnce: 10_000,
  address: million,
  signIn: million,
  application: million,
  unknownTokens: million,
}

/** Whether the suite runs on a database whose tables are sharded. */
export const isSharded = process.env.TEST_CITUS_SERVERS !== undefined

/** Where tables are sharded, the server of the shard waits. */
export const waitsForLocks = isSharded
  ? 'select from citus_lock_waits'
  : `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

/** Made once a test file, at its top level; ends with it. */
export const startService = async (options: ServiceOptions = {}): Promise<Service> => {
  const { baseUrl } = { ...defaults, ...options }
  const { delegation = { issuer: baseUrl, secret } } = options
  const hasKey = 'secret' in delegation && delegation.secret === secret
  const { connectionString = await cloneTemplate(hasKey ? templates.withKey : templates.bare) } = options
  const { through = (database) => database } = options
  const way = options.reachedBy ?? options.connectionString ?? withoutWaitingForTheDisk(connectionString)
  const address = options.pooler
    ? { connectionString: options.pooler, directConnectionString: connectionString }
    : { connectionString: way }
  const database = through(
    openDatabase({
      ...address,
      role: serviceRole,
      replicaConnectionStrings: options.replicas ?? [],
      isSharded,
    }),
  )
  const {
    rateLimits = generous,
    counting = {},
    trustedProxies = [],
    timeoutMilliseconds,
    mail = null,
    webhooks = { secret, allowPrivate: true },
    cacheMilliseconds = 0,
  } = options
  const timeouts = timeoutMilliseconds === undefined ? {} : { timeoutMilliseconds }
  const app = await retryWhileUnavailable(() =>
    buildApp({
      database,
      baseUrl,
      delegation,
      rateLimits,
      counting,
      trustedProxies,
      mail,
      webhooks,
      cacheMilliseconds,
      ...timeouts,
    }),
  )
  const origin = await openPort(app, { port: Number(new URL(baseUrl).port) })
  const owner = new pg.Client(connectionString)
  // Where a test ends its connection, the next statement fails.
  owner.on('error', () => {})
  await owner.connect()
  after(async () => {
    await app.close()
    await database.close()
    await owner.end()
  })
  return {
    app,
    database,
    owner,
    connectionString,
    origin,
    call: (method, path, options) => callAt(origin, method, path, options),
    newTenant: (name) => newTenant(database, name),
  }
}

/** Opens a service to callers at any port of this machine, unless said otherwise, and returns its origin. */
export const openPort = async ({ server }: App, { host = '127.0.0.1', port = 0 } = {}): Promise<string> => {
  await listen(server, { host, port, reusePort: false })
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('the service does not listen on a port')
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}

/** Nobody misses what a crash takes from a database that ends with the test file, so its commits need not wait. */
const withoutWaitingForTheDisk = (connectionString: string): string => {
  const url = new URL(connectionString)
  url.searchParams.set('options', '-c synchronous_commit=off')
  return url.href
}

/**
 * An address at which nothing listens yet, for what must know its own before it starts. Below the ports that systems give
 * to connections, so that none takes it meanwhile.
 */
export const freeAddress = async (host: 'localhost' | '127.0.0.1' = '127.0.0.1'): Promise<string> => {
  for (;;) {
    const port = randomInt(10_000, 32_768)
    const probe = createServer().listen(port, '127.0.0.1')
    try {
      await once(probe, 'listening')
    } catch {
      continue
    }
    probe.close()
    await once(probe, 'close')
    return `http://${host}:${port}`
  }
}

export const cloneTemplate = async (template = templates.bare): Promise<string> => {
  const server = process.env.TEST_DATABASE_SERVER
  if (!server)
    throw new Error('run the tests with `npm test`, or with --test-global-setup=server/test/database-server.ts')
  const url = new URL(server)
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const administrator = new pg.Client(server)
  await administrator.connect()
  // Cloning needs the template to itself, so the clones of several files take turns.
  await administrator.query('select pg_advisory_lock(7)')
  const { TEST_CITUS_SERVERS: servers } = process.env
  if (servers) await cloneCitusDatabase(servers.split(' '), name, template)
  else await administrator.query(`create database ${name} template ${template}`)
  await administrator.end()
  url.pathname = `/${name}`
  return url.href
}

export const callAt = async (
  origin: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<CallResponse> => {
  const { token, body, headers = {}, signal } = options
  return fetchWhole(origin + (path.startsWith('//') ? path.slice(1) : basePath + path), {
    method,
    redirect: 'manual',
    ...(signal && { signal }),
    headers: {
      // Tests of their own look at what is compressed; here it would only cost.
      'accept-encoding': 'identity',
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
  })
}

const isRaw = (body: unknown): body is string | Uint8Array<ArrayBuffer> =>
  typeof body === 'string' || body instanceof Uint8Array

const newTenant = async (database: Database, name = 'Test'): Promise<TestTenant> => {
  const tenant = await createTenant(database.query, { slug: `t-${randomUUID()}`, name })
  return {
    ...tenant,
    serviceToken: async (scopes = allScopes, { defaultAssignee, lifetime } = {}) => {
      const given = { tenantId: tenant.id, name: 'test', service: 'test', scopes: [...scopes], lifetime }
      return (await createToken(database.query, operator, { ...given, defaultAssignee: defaultAssignee ?? null })).token
    },
    personalToken: async (role, scopes = allScopes, { legacyUserId, lifetime } = {}) => {
      const { id } = await createMember(database.query, operator, {
        tenantId: tenant.id,
        email: `${randomUUID()}@example.com`,
        name: 'Test',
        role,
        passwordHash: noPassword,
        legacyUserId: legacyUserId ?? null,
      })
      const given = { tenantId: tenant.id, name: 'test', scopes: [...scopes], userId: id, lifetime }
      return (await createToken(database.query, operator, given)).token
    },
    add: async (resource, records) => {
      const bodies = await database.forTenant(tenant.id).transaction((query) => insertRecords(query, resource, records))
      return bodies.map((body) => JSON.parse(body))
    },
  }
}

/** The targets of a `Link` header, relative to the base path. */
export const linksOf = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    [...(headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, address = '', relation = '']) => {
      const { pathname, search } = new URL(address)
      return [relation, pathname.slice(basePath.length) + search]
    }),
  )

/** Every item of a list, by following `next` to its end. */
export const walk = async (service: Service, token: string, path: string): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer: CallResponse = await service.call('GET', next, { token })
    if (answer.status !== 200) throw new Error(`${next} answered ${answer.status}: ${answer.text}`)
    items.push(...answer.body.items)
    next = linksOf(answer.headers).next
  }
  return items
}
