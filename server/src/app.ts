import type { RequestListener } from 'node:http'
import { type Api, customerApi, largest, managementApi } from '@masthead/contract'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { AuthorizationServer } from './authorization-server/authorization-server.ts'
import { mountAuthorizationServer } from './authorization-server/mount.ts'
import { callerAddress, trustOf } from './caller-address.ts'
import { mountConsole } from './console/console.ts'
import { atOutsideIssuer, atOwnServer, type FindSignInPlace } from './console/sign-in-place.ts'
import type { Counters } from './counters/counters.ts'
import { type CounterMemory, MemoryCounters } from './counters/memory-counters.ts'
import type { Database } from './database/database.ts'
import { identity } from './database/revisions.ts'
import { mountOperations } from './http/api/api.ts'
import { openReads } from './http/api/handler.ts'
import { RateLimiter, type RateLimits } from './http/api/rate-limit.ts'
import { answerReads } from './http/api/steps.ts'
import { drainAtTheEnd } from './http/connections/drain.ts'
import { AnswersUnderWay } from './http/connections/in-flight.ts'
import { requestId } from './http/connections/request-id.ts'
import { requestLog } from './http/connections/request-log.ts'
import { UnreadableRequests } from './http/connections/unreadable-requests.ts'
import { type RequestWatcher, watchRequest } from './http/connections/watched-requests.ts'
import { describeApi } from './http/pages/description.ts'
import { getOnly } from './http/pages/get-only.ts'
import { openToAllOrigins } from './http/responses/cross-origin.ts'
import { asProblem, sendProblem, urlTooLong } from './http/responses/problems.ts'
import { AnswerCache } from './http/responses/response-cache.ts'
import { DelegatedTokens } from './identity/delegated-tokens.ts'
import type { OutsideIssuer } from './identity/outside-issuer.ts'
import { type Authenticator, Principals } from './identity/principal.ts'
import { type Log, openLog } from './log.ts'
import { Mailer, type MailOptions } from './mail/mailer.ts'
import type { Handler } from './operation-call.ts'
import { Problem } from './problem.ts'

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
  /** Where answers to reads are remembered. */
  answers?: AnswerCache
  /** Null where nothing is mailed. */
  mail?: MailOptions | null
  log?: Log
  /** Hooks of who traces requests, before all others. */
  instrument?: (app: FastifyInstance) => void
  /** Told of every request, beside the log. */
  watchers?: RequestWatcher[]
  /** How long a request may take to arrive, and a caller may take nothing of its answer. */
  patienceMilliseconds?: number
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the caller, where proxies that are trusted say so behind them. */
    address: string
  }
}

const usualPatienceMilliseconds = 30_000

/** The service as it runs in production and in tests. */
export const buildApp = async (options: AppOptions): Promise<FastifyInstance> => {
  const { database, baseUrl, delegation, rateLimits, trustedProxies = [] } = options
  const { patienceMilliseconds = usualPatienceMilliseconds } = options
  const log = options.log ?? openLog({ level: 'warn' })
  const watchers = [...(options.watchers ?? []), ...(log.isLevelEnabled('info') ? [requestLog(log)] : [])]
  const underWay = new AnswersUnderWay()
  const unreadable = new UnreadableRequests(baseUrl, underWay, watchers)
  const app = Fastify({
    bodyLimit: largest.bodyBytes,
    http: {
      // Room for a URL that is too long to be refused with 414, not cut off with 431.
      maxHeaderSize: largest.headBytes,
      // Node takes the shorter limit for the head and the longer for the whole request; by itself this one is a minute.
      headersTimeout: patienceMilliseconds,
      connectionsCheckingInterval: patienceMilliseconds / 10,
    },
    requestTimeout: patienceMilliseconds,
    connectionTimeout: patienceMilliseconds,
    // Who comes while it closes is refused by a problem like all others.
    return503OnClosing: false,
    routerOptions: { maxParamLength: largest.urlBytes },
    // What comes and goes is checked and written by the contract, so the framework's own ways are not even loaded.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    trustProxy: trustedProxies.length > 0 ? trustOf(trustedProxies) : false,
    requestIdHeader: false,
    genReqId: ({ headers }) => requestId(headers['x-request-id']),
    logController: new LogController({ disableRequestLogging: true }),
    loggerInstance: ofFramework(log),
    // Whatever is logged of a request names it itself.
    childLoggerFactory: (logger) => logger,
    clientErrorHandler: unreadable.refuse,
    // No hook sees what the router refuses, so a page of another origin is let to read it here.
    frameworkErrors: (error, request, reply) => {
      watchRequest(watchers, request, reply)
      sendProblem(reply.headers(openToAllOrigins), asProblem(error, request), baseUrl)
    },
  })
  options.instrument?.(app)
  if (watchers.length > 0) {
    app.addHook('onRequest', (request, reply, done) => {
      watchRequest(watchers, request, reply)
      done()
    })
  }
  app.decorateRequest('address', '')
  app.addHook('onRequest', async (request, reply) => {
    request.address = callerAddress(request.ips ?? [request.ip])
    reply.header('x-request-id', request.id)
    if (request.url.length > largest.urlBytes) throw urlTooLong()
  })
  // Before the framework, which answers some requests at once.
  app.server.prependListener('request', unreadable.noteAnswer)
  // RFC 9110 §10.1.1: one that is not known may be refused, which Node does with a 417 of its own, or ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  const begin = drainAtTheEnd(app, underWay)
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
    throw new Problem('not_found', `There is nothing at ${request.url.split('?', 1)[0]?.slice(0, 200)}.`)
  })
  // The process lives, whatever its database does: who restarts it for that helps nobody.
  getOnly(app, '/healthz', async () => ({ status: 'alive' }))
  getOnly(app, '/readyz', async () => {
    await database.ping()
    return { status: 'ready' }
  })
  const limiter = rateLimits && new RateLimiter(rateLimits, await openCounters(app, options))
  await describeApi(app, baseUrl, delegation.issuer)
  // What the console must know to begin.
  getOnly(app, '/console.json', async () => ({ baseUrl, ...(await findSignInPlace()) }))
  const [delegated, handlers] = await Promise.all([
    'secret' in delegation
      ? mountOwnServer(app, options, delegation, limiter)
      : acceptOutsideTokens(app, database, delegation),
    // While that asks for its keys.
    loadHandlers(),
  ])
  const principals = new Principals(database, delegated.customer)
  const { answers = new AnswerCache(database.revisions) } = options
  const mailer = options.mail
    ? new Mailer(options.mail, (reason) => app.log.error({ reason }, 'a mail could not be sent'))
    : null
  const issuer = 'secret' in delegation ? delegation.issuer : null
  const common = { database, handlers, baseUrl, issuer, mailer, limiter }
  const customer = { ...common, api: customerApi, isOpenToAllOrigins: true }
  const reads = openReads({ ...customer, answers })
  await app.register((scope) => mountOperations(scope, { ...customer, reads, principals }), {
    prefix: customerApi.basePath,
  })
  const management = { ...common, api: managementApi, isOpenToAllOrigins: false }
  await app.register(
    (scope) =>
      mountOperations(scope, {
        ...{ ...management, reads: openReads({ ...management, answers: null }) },
        principals: new Principals(database, delegated.management),
        // It changes who may do what, which this node knows at once.
        afterWrite: () => database.revisions.move(identity),
      }),
    { prefix: managementApi.basePath },
  )
  // A trace begins in the framework.
  if (!options.instrument)
    goBefore(app, answerReads({ principals, answers, reads, limiter, watchers, begin, baseUrl, log: app.log }))
  return app
}

/** Who stands before the framework answers a request, or leaves it to the framework. */
const goBefore = (app: FastifyInstance, answer: ReturnType<typeof answerReads>): void => {
  const [framework] = app.server.listeners('request').slice(-1)
  if (!framework) throw new Error('the framework does not listen')
  app.server.off('request', framework as RequestListener) // it listens to requests, whatever the type of all listeners says
  app.server.on('request', (request, response) => answer(request, response, () => framework(request, response)))
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
