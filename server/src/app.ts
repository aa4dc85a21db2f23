import { type Api, customerApi, largest, managementApi } from '@masthead/contract'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { AuthorizationServer } from './authorization-server/authorization-server.ts'
import { mountAuthorizationServer } from './authorization-server/mount.ts'
import { addressReader } from './caller-address.ts'
import { mountConsole } from './console/console.ts'
import { atOutsideIssuer, atOwnServer, type FindSignInPlace } from './console/sign-in-place.ts'
import type { Counters } from './counters/counters.ts'
import { type CounterMemory, MemoryCounters } from './counters/memory-counters.ts'
import type { Database } from './database/database.ts'
import { identity } from './database/revisions.ts'
import { ApiRequests } from './http/api/api.ts'
import { RateLimiter, type RateLimits } from './http/api/rate-limit.ts'
import { drainAtTheEnd } from './http/connections/drain.ts'
import { InFlight } from './http/connections/in-flight.ts'
import { requestId } from './http/connections/request-id.ts'
import { requestLog } from './http/connections/request-log.ts'
import { newServer } from './http/connections/server.ts'
import { UnreadableRequests } from './http/connections/unreadable-requests.ts'
import { type RequestWatcher, type Trace, watchPage } from './http/connections/watched-requests.ts'
import { describeApi, documentPath } from './http/pages/description.ts'
import { getOnly } from './http/pages/get-only.ts'
import { asProblem, nothingAt, sendProblem, urlTooLong } from './http/responses/problems.ts'
import { ResponseCache } from './http/responses/response-cache.ts'
import { DelegatedTokens } from './identity/delegated-tokens.ts'
import type { OutsideIssuer } from './identity/outside-issuer.ts'
import { type Authenticator, Principals } from './identity/principal.ts'
import { type Log, openLog } from './log/log.ts'
import { Mailer, type MailOptions } from './mail/mailer.ts'
import type { Handler } from './operation-call.ts'

/** Whose delegated tokens are accepted: those of our own authorization server, or of one outside. */
export type Delegation = { issuer: string; secret: string } | OutsideIssuer

export type AppOptions = {
  database: Database
  baseUrl: string
  delegation: Delegation
  trustedProxies?: string[]
  /** Null where nothing is limited. */
  rateLimits: RateLimits | null
  /** Where requests are counted: in memory that the threads of a process share, or by all nodes in one Redis. */
  counting?: { memory?: CounterMemory; thread?: number; redisUrl?: string | null }
  /** Where responses to reads are cached. */
  cache?: ResponseCache
  /** Null where nothing is mailed. */
  mail?: MailOptions | null
  log?: Log
  trace?: Trace
  /** Told of every request, beside the log. */
  watchers?: RequestWatcher[]
  /** How long a request may take to arrive, and a caller may take nothing of its response. */
  timeoutMilliseconds?: number
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the caller, where proxies that are trusted say so behind them. */
    address: string
  }
}

/** The service as it runs in production and in tests. */
export const buildApp = async (options: AppOptions): Promise<FastifyInstance> => {
  const { database, baseUrl, delegation, rateLimits, trustedProxies = [], trace = null } = options
  const log = options.log ?? openLog({ level: 'warn' })
  const watchers = [...(options.watchers ?? []), ...(log.isLevelEnabled('info') ? [requestLog(log)] : [])]
  const inFlight = new InFlight()
  const requests = new ApiRequests(watchers, trace)
  const app = Fastify({
    bodyLimit: largest.bodyBytes,
    serverFactory: (servePage) =>
      newServer(options.timeoutMilliseconds).on('request', (request, response) => {
        if (requests.serve(request, response)) return
        inFlight.add(response)
        servePage(request, response)
      }),
    // Who comes while it closes is refused by a problem like all others.
    return503OnClosing: false,
    routerOptions: { maxParamLength: largest.urlBytes },
    // What comes and goes is checked and written by the contract, so the framework's own ways are not even loaded.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    requestIdHeader: false,
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    logController: new LogController({ disableRequestLogging: true }),
    loggerInstance: ofFramework(log),
    // Whatever is logged of a request names it itself.
    childLoggerFactory: (logger) => logger,
    clientErrorHandler: new UnreadableRequests(baseUrl, inFlight, watchers).refuse,
    // No hook sees what the router refuses.
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
  // Nothing here reads a body; the parts that do bring parsers of their own.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, request, reply) => sendProblem(reply, asProblem(error, request), baseUrl))
  const findSignInPlace = signInPlaceOf(delegation)
  const pages = mountConsole(app, findSignInPlace)
  app.setNotFoundHandler(async (request, reply) => {
    if (await pages.isAskedFor(request)) return pages.sendPage(request, reply)
    // A person reads it.
    if (request.method === 'GET' && request.headers.accept?.includes('text/html')) {
      return pages.sendPage(request, reply.code(404))
    }
    throw nothingAt(request.url)
  })
  // The process lives, whatever its database does: who restarts it for that helps nobody.
  getOnly(app, '/healthz', async () => ({ status: 'alive' }))
  getOnly(app, '/readyz', async () => {
    await database.ping()
    return { status: 'ready' }
  })
  const limiter = rateLimits && new RateLimiter(rateLimits, await openCounters(app, options))
  await describeApi(app, baseUrl, delegation.issuer)
  requests.leaveToPages(documentPath)
  // What the console must know to begin.
  getOnly(app, '/console.json', async () => ({ baseUrl, ...(await findSignInPlace()) }))
  const [delegated, handlers] = await Promise.all([
    'secret' in delegation
      ? mountOwnServer(app, options, delegation, limiter)
      : acceptOutsideTokens(app, database, delegation),
    // While that asks for its keys.
    loadHandlers(),
  ])
  const mailer = options.mail
    ? new Mailer(options.mail, (reason) => app.log.error({ reason }, 'a mail could not be sent'))
    : null
  const issuer = 'secret' in delegation ? delegation.issuer : null
  const common = { database, baseUrl, issuer, mailer, limiter, addressOf, inFlight, log: app.log }
  requests.open(customerApi, handlers, {
    ...common,
    principals: new Principals(database, delegated.customer),
    cache: options.cache ?? new ResponseCache(database.revisions),
    isOpenToAllOrigins: true,
    afterWrite: () => {},
  })
  requests.open(managementApi, handlers, {
    ...common,
    principals: new Principals(database, delegated.management),
    cache: null,
    isOpenToAllOrigins: false,
    // It changes who may do what, which this node knows at once.
    afterWrite: () => database.revisions.move(identity),
  })
  return app
}

/** Who tells for whom an application acts, at each interface. */
type Delegated = { customer: Authenticator; management: Authenticator }

const signInPlaceOf = (delegation: Delegation): FindSignInPlace =>
  'secret' in delegation
    ? atOwnServer(delegation.issuer)
    : atOutsideIssuer(delegation.issuer, delegation.consoleClientId)

const mountOwnServer = async (
  app: FastifyInstance,
  { database, baseUrl }: AppOptions,
  { issuer, secret }: { issuer: string; secret: string },
  limiter: RateLimiter | null,
): Promise<Delegated> => {
  const onError = (error: Error) => app.log.error({ err: error }, 'the authorization server failed')
  const server = await AuthorizationServer.start({ database, issuer, baseUrl, secret, onError }).catch(
    async (error) => {
      // It may be tried again, and what was opened for this app must not stay.
      await app.close()
      throw error
    },
  )
  app.addHook('onClose', () => server.stop())
  await app.register((pages) => mountAuthorizationServer(pages, { server, database, issuer, baseUrl, limiter }))
  const tokensFor = ({ basePath, scopePrefix }: Api) =>
    new DelegatedTokens(database, { issuer, audience: baseUrl + basePath, scopePrefix, key: server.key })
  return { customer: tokensFor(customerApi), management: tokensFor(managementApi) }
}

const acceptOutsideTokens = async (
  app: FastifyInstance,
  database: Database,
  issuer: OutsideIssuer,
): Promise<Delegated> => {
  // Loaded here, because few need it.
  const [{ OutsideTokens }, { IssuerKeys }] = await Promise.all([
    import('./identity/outside-issuer.ts'),
    import('./identity/issuer-keys.ts'),
  ])
  const keys = new IssuerKeys(issuer.issuer, (error) =>
    app.log.warn({ err: error }, 'the outside issuer did not give its keys'),
  )
  const tokensFor = (api: Api) => new OutsideTokens(database, issuer, api, keys)
  return { customer: tokensFor(customerApi), management: tokensFor(managementApi) }
}

const openCounters = async (app: FastifyInstance, { counting = {} }: AppOptions): Promise<Counters> => {
  const { memory, thread, redisUrl } = counting
  const local = new MemoryCounters(memory, thread)
  if (!redisUrl) return local
  // Loaded here, because it takes a while and few need it.
  const { RedisCounters } = await import('./counters/redis-counters.ts')
  const counters = await RedisCounters.open(redisUrl, local, (message, error) =>
    app.log.warn({ ...(error !== undefined && { err: error }) }, message),
  )
  app.addHook('onClose', () => counters.close())
  return counters
}

/** Each resource of the contract has a folder of its name; nothing else needs to be registered. */
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

/** What the framework has to say of its own accord is of interest only to who looks for a fault. */
const ofFramework = (log: Log): FastifyBaseLogger => (log.level === 'info' ? log.child({}, { level: 'warn' }) : log)
