import { type Api, customerApi, largest, managementApi } from '@masthead/contract'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { startAuthorizationServer } from './authorization-server/authorization-server.ts'
import { mountAuthorizationServer } from './authorization-server/mount.ts'
import { addressReader } from './caller-address.ts'
import { mountConsole } from './console/console.ts'
import { atOutsideIssuer, atOwnServer } from './console/sign-in-place.ts'
import type { Counters } from './counters/counters.ts'
import { type CounterMemory, MemoryCounters } from './counters/memory-counters.ts'
import type { Database } from './database/database.ts'
import { noteSource, versionsFrom } from './database/versions.ts'
import { ApiRequests } from './http/api/api.ts'
import { RateLimiter, type RateLimits } from './http/api/callers/rate-limit.ts'
import { Followers } from './http/api/following/followers.ts'
import { drainAtTheEnd } from './http/connections/drain.ts'
import { InFlight } from './http/connections/in-flight.ts'
import { requestId } from './http/connections/request-id.ts'
import { requestLog } from './http/connections/request-log.ts'
import { newServer } from './http/connections/server.ts'
import { UnreadableRequests } from './http/connections/unreadable-requests.ts'
import { type RequestWatcher, type Trace, watchPage } from './http/connections/watched-requests.ts'
import { describeApi, documentPath, olderDocumentPath } from './http/pages/description.ts'
import { getOnly } from './http/pages/get-only.ts'
import { asProblem, nothingAt, sendProblem, urlTooLong } from './http/responses/problems.ts'
import { ResponseCache } from './http/responses/response-cache.ts'
import { type Authenticator, principalsOf } from './identity/principal.ts'
import { delegatedTokens } from './identity/tokens/delegated-tokens.ts'
import type { OutsideIssuer } from './identity/tokens/outside-issuer.ts'
import { type Log, openLog } from './log/log.ts'
import { type MailOptions, mailSender } from './mail/mailer.ts'
import type { Handler } from './operation-call.ts'
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

declare module 'fastify' {
  interface FastifyRequest {
    /** The address of the caller, behind trusted proxies too. */
    address: string
  }
}

/** The service as it runs in production and in tests. */
export const buildApp = async (options: AppOptions): Promise<FastifyInstance> => {
  const { database, baseUrl, delegation, rateLimits, trustedProxies = [], trace = null } = options
  const log = options.log ?? openLog({ level: 'warn' })
  const watchers = [...(options.watchers ?? []), ...(log.isLevelEnabled('info') ? [requestLog(log)] : [])]
  const inFlight = new InFlight()
  const requests = new ApiRequests([documentPath, olderDocumentPath], watchers, trace)
  const app = Fastify({
    bodyLimit: largest.bodyBytes,
    serverFactory: (servePage) =>
      newServer(options.timeoutMilliseconds).on('request', (request, response) => {
        if (requests.serve(request, response)) return
        inFlight.add(response)
        servePage(request, response)
      }),
    // Our own problem details refuse requests while the server closes.
    return503OnClosing: false,
    routerOptions: { maxParamLength: largest.urlBytes },
    // The contract validates and serializes, so the compilers of the framework are not loaded.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    requestIdHeader: false,
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    logController: new LogController({ disableRequestLogging: true }),
    loggerInstance: ofFramework(log),
    // Our own log lines contain the request id.
    childLoggerFactory: (logger) => logger,
    clientErrorHandler: new UnreadableRequests(baseUrl, inFlight, watchers).refuse,
    // Hooks do not run for requests that the router refuses.
    frameworkErrors: (error, request, reply) =>
      watchPage({ watchers, trace }, request, reply, () => sendProblem(reply, asProblem(error, request), baseUrl)),
  })
  if (watchers.length > 0 || trace)
    app.addHook('onRequest', (request, reply, done) => watchPage({ watchers, trace }, request, reply, done))
  const addressOf = addressReader(trustedProxies)
  app.decorateRequest('address', '')
  app.addHook('onRequest', async (request, reply) => {
    request.address = addressOf(request.raw)
    reply.header('x-request-id', request.id)
    if (request.url.length > largest.urlBytes) throw urlTooLong()
  })
  drainAtTheEnd(app, inFlight)
  // Plugins that read a body have their own parsers.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, request, reply) => sendProblem(reply, asProblem(error, request), baseUrl))
  const findSignInPlace =
    'secret' in delegation
      ? atOwnServer(delegation.issuer)
      : atOutsideIssuer(delegation.issuer, delegation.consoleClientId)
  const pages = mountConsole(app, findSignInPlace)
  app.setNotFoundHandler(async (request, reply) => {
    if (await pages.isPage(request)) return pages.sendPage(request, reply)
    // A browser shows the page of the console that says so.
    if (request.method === 'GET' && request.headers.accept?.includes('text/html')) {
      return pages.sendPage(request, reply.code(404))
    }
    throw nothingAt(request.url)
  })
  // It does not depend on the database, because a restart of the process would not repair that.
  getOnly(app, '/healthz', async () => ({ status: 'alive' }))
  getOnly(app, '/readyz', async () => {
    const { takesWrites } = await database.ping()
    const replicas = database.replicas().map(({ name, state }) => ({ name, state }))
    return { status: 'ready', writes: takesWrites, ...(replicas.length > 0 && { replicas }) }
  })
  const limiter = rateLimits && new RateLimiter(rateLimits, await openCounters(app, options))
  await describeApi(app, baseUrl, delegation.issuer)
  // The console reads this first.
  getOnly(app, '/console.json', async () => ({ baseUrl, ...(await findSignInPlace()) }))
  const [tokensFor, handlers] = await Promise.all([
    'secret' in delegation
      ? mountOwnServer(app, options, delegation, limiter)
      : acceptOutsideTokens(app, database, delegation),
    // The handlers load while the keys are read.
    loadHandlers(),
  ])
  const onMailError = (reason: string) => app.log.error({ reason }, 'a mail could not be sent')
  const sendMail = options.mail ? mailSender(options.mail, onMailError) : null
  const issuer = 'secret' in delegation ? delegation.issuer : null
  const onNoteError = (err: unknown) => app.log.warn({ err }, 'replicas cannot be used yet: their source was not noted')
  const askVersions = versionsFrom(
    database.readVersions,
    options.cacheMilliseconds ?? 0,
    database.replicas().length > 0 ? (source) => noteSource(database.query, source).catch(onNoteError) : null,
  )
  const webhooks = options.webhooks ?? { secret: null, allowPrivate: false }
  // They ask the database each time, whatever is cached.
  const followers = new Followers(versionsFrom(database.readVersions, 0))
  app.server.once('stopping', () => followers.stop())
  const common = {
    ...{ database, askVersions, baseUrl, issuer, sendMail, webhooks, limiter, addressOf, inFlight, followers },
    log: app.log,
  }
  requests.open(customerApi, handlers, {
    ...common,
    principals: principalsOf(database, askVersions, tokensFor(customerApi)),
    cache: options.cache ?? new ResponseCache(),
    isOpenToAllOrigins: true,
  })
  requests.open(managementApi, handlers, {
    ...common,
    principals: principalsOf(database, askVersions, tokensFor(managementApi)),
    cache: null,
    isOpenToAllOrigins: false,
  })
  return app
}

/** The authenticator of delegated tokens for an API. */
type TokensFor = (api: Api) => Authenticator

const mountOwnServer = async (
  app: FastifyInstance,
  { database, baseUrl }: AppOptions,
  { issuer, secret }: { issuer: string; secret: string },
  limiter: RateLimiter | null,
): Promise<TokensFor> => {
  const onError = (err: Error) => app.log.error({ err }, 'the authorization server failed')
  const server = await startAuthorizationServer({ database, issuer, baseUrl, secret, onError }).catch(async (error) => {
    // The caller may retry, so everything that was opened for this app must be closed.
    await app.close()
    throw error
  })
  app.addHook('onClose', () => server.stop())
  await app.register((pages) => mountAuthorizationServer(pages, { server, database, issuer, baseUrl, limiter }))
  return ({ basePath, scopePrefix }) =>
    delegatedTokens(database, { issuer, audience: baseUrl + basePath, scopePrefix, key: server.key })
}

const acceptOutsideTokens = async (
  app: FastifyInstance,
  database: Database,
  issuer: OutsideIssuer,
): Promise<TokensFor> => {
  // Few installations need these modules.
  const [{ outsideTokens }, { issuerKeys }] = await Promise.all([
    import('./identity/tokens/outside-issuer.ts'),
    import('./identity/tokens/issuer-keys.ts'),
  ])
  const key = issuerKeys(issuer.issuer, (err) =>
    app.log.warn({ err }, 'the keys of the outside issuer could not be read'),
  )
  return (api) => outsideTokens(database, issuer, api, key)
}

const openCounters = async (app: FastifyInstance, { counting = {} }: AppOptions): Promise<Counters> => {
  const local = new MemoryCounters(counting.memory, counting.thread)
  if (!counting.redisUrl) return local
  // Few installations need this module, which takes a while to load.
  const { openRedisCounters } = await import('./counters/redis-counters.ts')
  const counters = await openRedisCounters(counting.redisUrl, local, (message, error) =>
    app.log.warn({ ...(error !== undefined && { err: error }) }, message),
  )
  app.addHook('onClose', () => counters.close())
  return counters
}

/** Each resource of the contract has a folder of its name, so nothing needs to be registered. */
const loadHandlers = async (): Promise<Map<string, Handler>> => {
  const modules = await Promise.all([
    ...namesOf(customerApi).map((name) => import(`./resources/${name}/handlers.ts`)),
    ...namesOf(managementApi).map((name) => import(`./management/${name}/handlers.ts`)),
  ])
  return new Map(modules.flatMap(({ handlers }) => Object.entries<Handler>(handlers)))
}

const namesOf = ({ operations }: Api): string[] => [...new Set(operations.map(({ resource }) => resource.name))]

const unused = (): never => {
  throw new Error('routes have no schemas of the framework')
}

/** The info lines of the framework are only of interest when debugging. */
const ofFramework = (log: Log): FastifyBaseLogger => (log.level === 'info' ? log.child({}, { level: 'warn' }) : log)
