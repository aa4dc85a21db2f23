import type { Api, ManagementScope, NamedOperation, Scope } from '@masthead/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { callerOf } from '../audit/author.ts'
import type { Database, TenantDatabase } from '../database/database.ts'
import type { SentAnswer } from '../database/idempotency-records.ts'
import { type Principal, type Principals, requireScope } from '../identity/principal.ts'
import type { Mailer } from '../mail/mailer.ts'
import { type Answer, type Call, type Handler, handlerOf } from '../operation-call.ts'
import { Problem } from '../problem.ts'
import { encoded, formOf } from './answer-cache.ts'
import { answerHeaders } from './answer-headers.ts'
import { authenticate, challenge, resourceMetadataPath } from './authenticate.ts'
import { chooseEncoding } from './compression.ts'
import { readTags, requireMatch } from './conditional.ts'
import { allowAllOrigins } from './cross-origin.ts'
import { answerOnce, fingerprint, readKey } from './idempotency.ts'
import { asProblem, methodNotAllowed, problemAnswer, sendProblem } from './problems.ts'
import type { Charge, RateLimiter } from './rate-limit.ts'
import { type Read, routeOf } from './reads.ts'
import { RefusedCallers } from './refused-callers.ts'
import { bodyReader } from './request-body.ts'
import { readQuery } from './request-query.ts'
import { sendForm } from './send-form.ts'
import { TooManyUnknownTokens } from './unknown-tokens.ts'

type Surroundings = {
  api: Api
  database: Database
  principals: Principals
  handlers: ReadonlyMap<string, Handler>
  baseUrl: string
  issuer: string | null
  mailer: Mailer | null
  /** The reads of the interface. */
  reads: ReadonlyMap<string, Read>
  /** Pages of any origin may call it. */
  isOpenToAllOrigins: boolean
  afterWrite?: () => void
  /** Null where nothing is limited. */
  limiter: RateLimiter | null
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null
    charge: Charge | null
  }
}

/** Serves every operation of an interface below its base path. */
export const mountOperations = async (app: FastifyInstance, surroundings: Surroundings): Promise<void> => {
  app.decorateRequest('principal', null)
  app.decorateRequest('charge', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  const { api, principals, limiter, isOpenToAllOrigins } = surroundings
  const methodsAt = methodsOf(api)
  if (isOpenToAllOrigins) app.addHook('onRequest', allowAllOrigins(methodsAt))
  const refusedCallers = new RefusedCallers()
  app.addHook('onRequest', async (request, reply) => {
    const { authorization } = request.headers
    const refused = refusedCallers.find(authorization)
    if (limiter && refused) await charge(limiter, refused, request, reply)
    request.principal = await authenticate(
      principals,
      request.raw,
      request.address,
      limiter?.unknownTokens ?? null,
    ).catch((error) => {
      if (error instanceof TooManyUnknownTokens) request.refusedBy = 'unknown-tokens'
      throw error
    })
    if (limiter && !refused) {
      await charge(limiter, request.principal, request, reply).catch((error) => {
        refusedCallers.note(authorization, known(request.principal))
        throw error
      })
    }
    // Before the framework looks at a body that nobody will read.
    if (request.is404) throw noRoute(request, methodsAt)
  })
  app.setErrorHandler((error, request, reply) => refuse(reply, asProblem(error, request), surroundings))
  // Gives the hooks above to paths that do not exist; they never come so far.
  app.setNotFoundHandler((request) => {
    throw noRoute(request, methodsAt)
  })
  for (const named of api.operations) mount(app, named, surroundings)
}

const mount = (app: FastifyInstance, named: NamedOperation, surroundings: Surroundings): void => {
  const { name, operation } = named
  const scope = operation.scope as Scope | ManagementScope // a test holds the operations to them
  const read = surroundings.reads.get(name)
  app.route({
    // Fastify's own HEAD says `Content-Length: 0` in a 304, which RFC 9110 §8.6 forbids.
    method: operation.method === 'GET' ? ['GET', 'HEAD'] : operation.method,
    url: routeOf(operation),
    config: { scope, operation: name },
    onRequest: async ({ principal, headers }) => {
      requireScope(known(principal), scope)
      // Where no body is read, no content type can be wrong.
      if (!operation.body) delete headers['content-type']
    },
    handler: read ? answerRead(read) : answerWrite(named, surroundings),
  })
}

const answerRead = (read: Read) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { url, headers } = request
  const answer = await read.answer({ principal: known(request.principal), url, headers, params: paramsOf(request) })
  reply.hijack()
  sendForm(reply.raw, answer, request.id, request.charge)
}

const answerWrite = (named: NamedOperation, surroundings: Surroundings) => {
  const { name, operation } = named
  const { api, database, handlers, baseUrl, issuer, mailer, afterWrite } = surroundings
  const handler = handlerOf(handlers, name)
  const readBody = bodyReader(operation)
  const headersOf = answerHeaders(named, baseUrl + api.basePath)

  const callOf = (request: FastifyRequest): Call<typeof operation> => {
    const principal = known(request.principal)
    const ifMatch = operation.conditional ? readTags('If-Match', request.headers['if-match']) : null
    const author = callerOf(principal, { address: request.address, requestId: request.id })
    return {
      params: paramsOf(request),
      query: readQuery(request.url, operation.query),
      // The reader has checked it against the operation's own schema.
      body: readBody(request.headers['content-type'], bodyOf(request)) as undefined,
      principal,
      writer: { author, actingUser: principal.legacyUserId },
      tenant: database.forTenant(principal.tenantId),
      issuer,
      mailer,
      onError: (error) => request.log.error({ reqId: request.id, err: error }, 'what a request began has failed'),
      requireCurrent: (body) => requireMatch(ifMatch, body),
    }
  }

  const write = async (request: FastifyRequest): Promise<SentAnswer> => {
    const key = operation.method === 'POST' ? readKey(request.headers['idempotency-key']) : null
    const call = callOf(request)
    const work = async (tenant: TenantDatabase) => answerOf(await handler({ ...call, tenant }), call.query)
    if (key === null) return work(call.tenant)
    const sent = fingerprint(request.method, request.url, bodyOf(request))
    const asAnswer = (problem: Problem) => problemAnswer(problem, baseUrl, request.id)
    const retriable = { principal: call.principal.lineage, key, fingerprint: sent }
    return answerOnce(call.tenant, retriable, work, asAnswer, operation.showsSecret)
  }

  const answerOf = (answer: Answer, query: object): SentAnswer => {
    const body = String(answer.body)
    return { status: operation.status, headers: headersOf(answer, query, body), body }
  }

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { status, ...answer } = await write(request).finally(afterWrite)
    const plain = formOf({ ...answer, body: Buffer.from(answer.body) })
    const { headers, body } = await encoded(plain, chooseEncoding(request.headers['accept-encoding']))
    return reply.code(status).headers(headers).send(body)
  }
}

/** The router fills every parameter of the path. */
const paramsOf = ({ params }: FastifyRequest): Record<string, string> => params as Record<string, string>

/** As the parser of this scope leaves it. */
const bodyOf = ({ body }: FastifyRequest): Buffer | undefined => body as Buffer | undefined

/** Every answer to a known token tells what is left. */
const charge = async (
  limiter: RateLimiter,
  principal: Principal,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> => {
  const arrived = await limiter.call(principal)
  request.charge = arrived
  reply.headers(arrived.headers())
  // The caller may have hung up while the token was looked up.
  if (reply.raw.closed) arrived.leave()
  else reply.raw.once('close', arrived.leave)
  if (!arrived.refused) return
  const { limit, detail, seconds } = arrived.refused
  // Log and measures tell who it was, also when the token was not looked up for it.
  Object.assign(request, { refusedBy: limit, principal })
  throw new Problem('too_many_requests', detail, { headers: { 'retry-after': String(seconds) } })
}

/** Set by the hook that every operation stands behind. */
const known = (principal: Principal | null): Principal => {
  if (principal) return principal
  throw new Error('an operation was called without a principal')
}

type MethodsAt = (url: string) => string[]

/** The methods of the operations at a path; none when there is no such path. */
const methodsOf = ({ basePath, operations }: Api): MethodsAt => {
  const paths = [...Map.groupBy(operations, ({ operation }) => operation.path)].map(([path, named]) => ({
    shape: new RegExp(`^${basePath}${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    methods: named.flatMap(({ operation: { method } }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
  }))
  return (url) => {
    const path = url.replace(/^https?:\/\/[^/]*/i, '').split('?', 1)[0] ?? ''
    const methods = paths.find(({ shape }) => shape.test(path))?.methods
    return methods ? [...methods, 'OPTIONS'] : []
  }
}

const noRoute = (request: FastifyRequest, methodsAt: MethodsAt): Problem => {
  const allowed = methodsAt(request.url)
  if (allowed.length === 0)
    return new Problem('not_found', `There is nothing at ${request.url.split('?', 1)[0]?.slice(0, 200)}.`)
  return methodNotAllowed(request.method, allowed)
}

const refuse = (reply: FastifyReply, problem: Problem, { api, baseUrl }: Surroundings): FastifyReply => {
  if (problem.status === 401 || problem.status === 403) {
    const metadata = baseUrl + resourceMetadataPath(api)
    reply.header('www-authenticate', challenge(problem, metadata, scopeOf(reply.request, api)))
  }
  return sendProblem(reply, problem, baseUrl)
}

const scopeOf = (request: FastifyRequest, { scopePrefix }: Api): string | undefined => {
  const { scope } = request.routeOptions.config as { scope?: string } // set by `mount` above
  // An application asks for it under this name.
  return scope && request.principal?.kind === 'delegated' ? scopePrefix + scope : scope
}
