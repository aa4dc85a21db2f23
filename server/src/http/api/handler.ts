import { callerOf } from '../../audit/author.ts'
import type { TenantDatabase } from '../../database/database.ts'
import type { PlainResponse } from '../../database/idempotency-records.ts'
import type { HandlerResult } from '../../operation-call.ts'
import type { Problem } from '../../problem.ts'
import { requireMatch } from '../responses/conditional.ts'
import { openToAllOrigins } from '../responses/cross-origin.ts'
import { type Body, bodyOf, type EncodedResponse } from '../responses/encoding.ts'
import { problemResponse } from '../responses/problems.ts'
import { callBy } from './call.ts'
import { sendFile } from './download.ts'
import { type Exchange, found, type ServedApi, type Step } from './exchange.ts'
import { streamNews } from './following/event-stream.ts'
import { waitForNews } from './following/wait.ts'
import { respondOnce } from './requests/idempotency.ts'

export const handler: Step = (exchange) => {
  const { cached, route, following } = exchange
  if (following)
    return following.as === 'stream' ? stream(exchange, following.after) : wait(exchange, following.seconds)
  if (route?.operation.download) return download(exchange)
  if (!cached) return found(route).isRead ? read(exchange) : write(exchange)
  exchange.plain = cached.plain
  exchange.isFromCache = true
  return undefined
}

/** Calls the handler of a GET, and leaves its response to the cache. */
const read = async (exchange: Exchange): Promise<void> => {
  const { api, cacheKey: url, query } = exchange
  const { handler, headersOf, operation } = found(exchange.route)
  const cache = operation.isVolatile ? null : api.cache
  const { tenantId } = found(exchange.principal)
  const versions = exchange.versions ?? (cache && (await api.askVersions(tenantId)))
  const { ahead } = exchange
  const call = callOf(exchange)
  // What may be cached follows from the tenant's records alone, so a replica that has their versions answers the same. A cursor may be
  // ahead of that replica.
  const tenant = cache && versions?.lists && !operation.followed ? call.tenant.asOf(versions.lists) : call.tenant
  const result: HandlerResult = await (ahead?.result ?? handler({ ...call, tenant }))
  const bytes = bytesOf(result)
  const body = bodyOf(bytes)
  const make = () => plainResponse({ status: operation.status, headers: headersOf(result, query, bytes) }, body, api)
  const before = ahead?.versions ?? versions
  // What was read ahead under a source that is gone is not kept.
  const under =
    before && before.source === versions?.source
      ? { tenantId, url, source: before.source, version: before.records, next: result.next ?? null }
      : null
  // What depends on the day is another response tomorrow, though no record has changed.
  exchange.cached = cache && under && !result.isOfToday ? cache.keep(under, body, make) : null
  exchange.plain = exchange.cached?.plain ?? make()
}

const bytesOf = ({ body }: HandlerResult): Buffer => (typeof body === 'string' ? Buffer.from(body) : body)

/** Sends the file of a GET, so that no later step is taken. */
const download = async (exchange: Exchange): Promise<void> => {
  const { handler } = found(exchange.route)
  const { file }: HandlerResult = await handler({ ...callOf(exchange), author: authorOf(exchange) })
  await sendFile(exchange, found(file))
}

/** Calls the handler of a GET until it has news. */
const wait = async (exchange: Exchange, seconds: number): Promise<void> => {
  const { handler, headersOf, operation } = found(exchange.route)
  const result = await waitForNews(exchange, seconds, () => handler(callOf(exchange)))
  const bytes = bytesOf(result)
  const headers = headersOf(result, exchange.query, bytes)
  exchange.plain = plainResponse({ status: operation.status, headers }, bodyOf(bytes), exchange.api)
}

/** Calls the handler of a GET again and again, each time for what came after the last event. */
const stream = (exchange: Exchange, lastEventId: string | undefined): Promise<void> => {
  const { handler } = found(exchange.route)
  const { query } = exchange
  const first = lastEventId ?? (typeof query.after === 'string' ? query.after : undefined)
  return streamNews(exchange, first, (after) =>
    handler({ ...callOf(exchange), query: { ...query, after, limit: mostEventsAtOnce } }),
  )
}

/** As many as are kept for a reader that is slow. */
const mostEventsAtOnce = 100

/** Calls the handler of any other method, once for all requests with the same `Idempotency-Key`. */
const write = async (exchange: Exchange): Promise<void> => {
  const { api, requestId, retriable } = exchange
  const { handler, headersOf, operation } = found(exchange.route)
  const call = writeCallOf(exchange)
  const work = async (tenant: TenantDatabase): Promise<PlainResponse> => {
    const result: HandlerResult = await handler({ ...call, tenant })
    const body = String(result.body)
    return { status: operation.status, headers: headersOf(result, call.query, body), body }
  }
  const asResponse = (problem: Problem) => problemResponse(problem, api.baseUrl, requestId)
  const sent = retriable
    ? await respondOnce(call.tenant, retriable, work, asResponse, operation.showsSecret)
    : await work(call.tenant)
  exchange.plain = plainResponse(sent, bodyOf(Buffer.from(sent.body)), api)
}

const callOf = (exchange: Exchange) => callBy(found(exchange.principal), exchange.query, exchange)

const authorOf = ({ api, principal, request, requestId }: Exchange) =>
  callerOf(found(principal), { address: api.addressOf(request), requestId })

const writeCallOf = (exchange: Exchange) => {
  const { api, body, principal, tags } = exchange
  const { legacyUserId } = found(principal)
  return {
    ...callOf(exchange),
    body,
    sendMail: api.sendMail,
    webhooks: api.webhooks,
    writer: { author: authorOf(exchange), actingUser: legacyUserId },
    requireCurrent: (current: string) => requireMatch(tags, current),
  }
}

/** The response before it is encoded. What is kept for a retry has no such headers. */
const plainResponse = (
  { status, headers }: Pick<PlainResponse, 'status' | 'headers'>,
  body: Body,
  { isOpenToAllOrigins }: ServedApi,
): EncodedResponse => ({
  status,
  headers: {
    ...(isOpenToAllOrigins && openToAllOrigins),
    vary: 'Accept-Encoding',
    ...headers,
    'content-length': String(body.length),
  },
  body,
})
