import type { Server } from 'node:http'
import { type Api, customerApi, documentPath, managementApi } from '@masthead/contract'
import { startAuthorizationServer } from './authorization-server/authorization-server.ts'
import { addAuthorizationServer } from './authorization-server/endpoints.ts'
import type { Dependencies } from './authorization-server/interactions.ts'
import { addressReader } from './caller-address.ts'
import { addConsole } from './console/console.ts'
import { addReference } from './console/reference.ts'
import { atOutsideIssuer, atOwnServer } from './console/sign-in-place.ts'
import type { Counters } from './counters/counters.ts'
import { type CounterMemory, MemoryCounters } from './counters/memory-counters.ts'
import type { Database } from './database/database.ts'
import { noteSource, versionsFrom } from './database/versions.ts'
import { ApiRequests } from './http/api/api.ts'
import { RateLimiter, type RateLimits } from './http/api/callers/rate-limit.ts'
import { Followers } from './http/api/following/followers.ts'
import { drain } from './http/connections/drain.ts'
import { InFlight } from './http/connections/in-flight.ts'
import { requestLog } from './http/connections/request-log.ts'
import { newServer } from './http/connections/server.ts'
import { UnreadableRequests } from './http/connections/unreadable-requests.ts'
import type { RequestWatcher, Trace } from './http/connections/watched-requests.ts'
import { describeApi, olderDocumentPath } from './http/pages/description.ts'
import { jsonPage } from './http/pages/page-response.ts'
import { Pages } from './http/pages/pages.ts'
import { ResponseCache } from './http/responses/response-cache.ts'
import { type Authenticator, principalsOf } from './identity/principal.ts'
import { delegatedTokens } from './identity/tokens/delegated-tokens.ts'
import type { OutsideIssuer } from './identity/tokens/outside-issuer.ts'
import { lazily } from './lazily.ts'
import { type Log, openLog } from './log/log.ts'
import { type MailOptions, mailSender } from './mail/mailer.ts'
import { type Handler, handlerOf } from './operation-call.ts'
import type { WebhookSettings } from './webhooks/settings.ts'

/** The issuer of delegated tokens: our own authorization server, or an outside one. */
export type Delegation = { issuer: string; secret: string } | OutsideIssuer

export type AppOptions = {
  database: Database
  baseUrl: string
  delegation: Delegation
  trustedProxies?: string[]
  /** Null disables rate limits. */
  rateLimits: RateLimits | null
  /** Requests are counted in memory that the threads of a process share, or by all nodes in one Redis. */
  counting?: { memory?: CounterMemory; thread?: number; redisUrl?: string | null }
  cache?: ResponseCache
  /** How long the versions of cached responses and permissions are taken for current. Absent: they are asked for each time. */
  cacheMilliseconds?: number
  /** Null disables mail. */
  mail?: MailOptions | null
  /** Without them admins make no endpoints. */
  webhooks?: WebhookSettings
  log?: Log
  trace?: Trace
  /** Called for every request, beside the log. */
  watchers?: RequestWatcher[]
  /** How long a request may take to arrive, and how long a response may make no progress. */
  timeoutMilliseconds?: number
}

export type App = {
  server: Server
  pages: Pages
  log: Log
  /** Answers what was taken before it closes what was opened. */
  close: () => Promise<void>
}

/** The service as it runs in production and in tests. Its server does not listen yet. */
export const buildApp = async (options: AppOptions): Promise<App> => {
  const { database, baseUrl, delegation, rateLimits, trustedProxies = [], trace = null } = options
  const log = options.log ?? openLog({ level: 'warn' })
  const watchers = [...(options.watchers ?? []), ...(log.isLevelEnabled('info') ? [requestLog(log)] : [])]
  const inFlight = new InFlight()
  const addressOf = addressReader(trustedProxies)
  const requests = new ApiRequests([documentPath, olderDocumentPath], watchers, trace)
  const pages = new Pages({ baseUrl, log, watchers, trace, inFlight, addressOf })
  const server = newServer(options.timeoutMilliseconds)
    .on('request', (request, response) => requests.serve(request, response) || pages.serve(request, response))
    .on('clientError', new UnreadableRequests(baseUrl, inFlight, watchers).refuse)
  // The caller may retry what fails, so what was opened until then is closed.
  await using opening = new AsyncDisposableStack()
  const limiter = rateLimits && new RateLimiter(rateLimits, await openCounters(options, log, opening))
  const findSignInPlace =
    'secret' in delegation
      ? atOwnServer(delegation.issuer)
      : atOutsideIssuer(delegation.issuer, delegation.consoleClientId)
  addConsole(pages, findSignInPlace)
  addReference(pages, delegation.issuer)
  describeApi(pages, baseUrl, delegation.issuer)
  pages.add(
    // It does not depend on the database, because a restart of the process would not repair that.
    { path: '/healthz', GET: async () => jsonPage({ status: 'alive' }) },
    { path: '/readyz', GET: async () => jsonPage(await readiness(database)) },
    // The console reads this first.
    { path: '/console.json', GET: async () => jsonPage({ baseUrl, ...(await findSignInPlace()) }) },
  )
  const [tokensFor, handlers] = await Promise.all([
    'secret' in delegation
      ? acceptOwnTokens(pages, delegation, { database, baseUrl, limiter, log }, opening)
      : acceptOutsideTokens(database, log, delegation),
    // The handlers load while the keys are read.
    loadHandlers('resources', customerApi),
  ])
  const onMailError = (reason: string) => log.error({ reason }, 'a mail could not be sent')
  const onNoteError = (err: unknown) => log.warn({ err }, 'replicas cannot be used yet: their source was not noted')
  const askVersions = versionsFrom(
    database.readVersions,
    options.cacheMilliseconds ?? 0,
    database.replicas().length > 0 ? (source) => noteSource(database.query, source).catch(onNoteError) : null,
  )
  // They ask the database each time, whatever is cached.
  const followers = new Followers(versionsFrom(database.readVersions, 0))
  server.once('stopping', () => followers.stop())
  const common = {
    database,
    askVersions,
    baseUrl,
    limiter,
    addressOf,
    inFlight,
    followers,
    log,
    issuer: 'secret' in delegation ? delegation.issuer : null,
    sendMail: options.mail ? mailSender(options.mail, onMailError) : null,
    webhooks: options.webhooks ?? { secret: null, allowPrivate: false },
  }
  requests.open(customerApi, handlers, {
    ...common,
    principals: principalsOf(database, askVersions, tokensFor(customerApi)),
    cache: options.cache ?? new ResponseCache(),
    isOpenToAllOrigins: true,
  })
  requests.open(managementApi, handlersOnDemand('management', managementApi), {
    ...common,
    principals: principalsOf(database, askVersions, tokensFor(managementApi)),
    cache: null,
    isOpenToAllOrigins: false,
  })
  const opened = opening.move()
  opened.defer(() => drain(server, inFlight))
  return { server, pages, log, close: lazily(() => opened.disposeAsync()) }
}

const readiness = async (database: Database) => {
  const { takesWrites } = await database.ping()
  const replicas = database.replicas().map(({ name, state }) => ({ name, state }))
  return { status: 'ready', writes: takesWrites, ...(replicas.length > 0 && { replicas }) }
}

/** The authenticator of delegated tokens for an API. */
type TokensFor = (api: Api) => Authenticator

const acceptOwnTokens = async (
  pages: Pages,
  { issuer, secret }: { issuer: string; secret: string },
  { log, ...given }: Pick<Dependencies, 'database' | 'baseUrl' | 'limiter'> & { log: Log },
  opening: AsyncDisposableStack,
): Promise<TokensFor> => {
  const { database, baseUrl } = given
  const onError = (err: Error) => log.error({ err }, 'the authorization server failed')
  const server = await startAuthorizationServer({ database, issuer, baseUrl, secret, onError })
  opening.defer(() => server.stop())
  addAuthorizationServer(pages, { ...given, server, issuer })
  return ({ basePath, scopePrefix }) =>
    delegatedTokens(database, { issuer, audience: baseUrl + basePath, scopePrefix, key: server.key })
}

const acceptOutsideTokens = async (database: Database, log: Log, issuer: OutsideIssuer): Promise<TokensFor> => {
  // Few installations need these modules.
  const [{ outsideTokens }, { issuerKeys }] = await Promise.all([
    import('./identity/tokens/outside-issuer.ts'),
    import('./identity/tokens/issuer-keys.ts'),
  ])
  const key = issuerKeys(issuer.issuer, (err) => log.warn({ err }, 'the keys of the outside issuer could not be read'))
  return (api) => outsideTokens(database, issuer, api, key)
}

const openCounters = async (
  { counting = {} }: AppOptions,
  log: Log,
  opening: AsyncDisposableStack,
): Promise<Counters> => {
  const local = new MemoryCounters(counting.memory, counting.thread)
  if (!counting.redisUrl) return local
  // Few installations need this module, which takes a while to load.
  const { openRedisCounters } = await import('./counters/redis-counters.ts')
  const counters = await openRedisCounters(counting.redisUrl, local, (message, error) =>
    log.warn({ ...(error !== undefined && { err: error }) }, message),
  )
  opening.defer(() => counters.close())
  return counters
}

/** Each resource of the contract has a folder of its name, so nothing needs to be registered. */
const loadHandlers = async (folder: string, { operations }: Api): Promise<Map<string, Handler>> => {
  const names = [...new Set(operations.map(({ resource }) => resource.name))]
  const modules = await Promise.all(names.map((name) => import(`./${folder}/${name}/handlers.ts`)))
  return new Map(modules.flatMap(({ handlers }) => Object.entries<Handler>(handlers)))
}

/** Only the console calls them, and a start is shorter without them. */
const handlersOnDemand = (folder: string, api: Api): Map<string, Handler> => {
  const load = lazily(() => loadHandlers(folder, api))
  return new Map(api.operations.map(({ name }) => [name, async (call) => handlerOf(await load(), name)(call)] as const))
}
