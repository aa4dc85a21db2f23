import type { ServerResponse } from 'node:http'
import type { HandlerResult } from '../../../operation-call.ts'
import { Problem } from '../../../problem.ts'
import type { Event } from '../../../records/lists/changes.ts'
import { openToAllOrigins } from '../../responses/cross-origin.ts'
import { sendPart } from '../../responses/send.ts'
import type { Seat } from '../callers/rate-limit.ts'
import { type Exchange, found } from '../exchange.ts'
import { follow } from './follow.ts'
import { Watch } from './watch.ts'

/** So that nobody between takes the connection for idle. */
const commentMilliseconds = 15_000
/** How long a reader may leave what was sent before it is dropped. */
const slowMilliseconds = 10_000

type Read = (after: string | undefined) => Promise<HandlerResult>

/**
 * Sends news as server-sent events, page by page, until the token ends, the caller leaves or this server is stopped. The next page is
 * read when the one before has left, so a slow reader costs no more than one.
 */
export const streamNews = async (exchange: Exchange, after: string | undefined, read: Read): Promise<void> => {
  const { response } = exchange
  const { tenantId } = found(exchange.principal)
  const { records: seen } = exchange.versions ?? (await exchange.api.askVersions(tenantId))
  let { news } = await read(after)
  const stream = new EventStream(exchange, await follow(exchange, 'streams'))
  const watch = new Watch(exchange, { seen, deadline: Number.POSITIVE_INFINITY, onLook: () => stream.look() })
  try {
    sendHead(exchange)
    for (;;) {
      const { events, hasMore, cursor } = found(news)
      if (!(await stream.send(textOf(events())))) return
      if ((hasMore ? watch.now() : await watch.next()) !== 'moved') break
      news = (await read(cursor)).news
    }
    response.end()
  } catch (error) {
    if (!response.headersSent || !(error instanceof Problem)) throw error
    // The caller may not read on, and learns why when it comes back.
    response.end()
  } finally {
    watch.close()
    stream.leave()
  }
}

const sendHead = ({ api, response, charge, requestId }: Exchange): void => {
  response.writeHead(200, {
    ...(api.isOpenToAllOrigins && openToAllOrigins),
    ...charge?.headers(),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    vary: 'Accept',
    // Proxies that collect responses leave this one alone.
    'x-accel-buffering': 'no',
    'x-request-id': requestId,
  })
}

const comment = Buffer.from(':\n\n')

const textOf = (events: readonly Event[]): Buffer =>
  events.length === 0
    ? comment
    : Buffer.concat(
        events.flatMap(({ name, id, data }) => [Buffer.from(`event: ${name}\nid: ${id}\ndata: `), data, lineEnds]),
      )
const lineEnds = Buffer.from('\n\n')

/** A stream that is being sent, and its seat among those of its token. */
class EventStream {
  readonly #exchange: Exchange
  readonly #response: ServerResponse
  #seat: Seat
  #sentAt = performance.now()
  #keptAt = performance.now()
  #hasLeft = false

  constructor(exchange: Exchange, seat: Seat) {
    this.#exchange = exchange
    this.#response = exchange.response
    this.#seat = seat
  }

  /** False when the reader has left, or was too slow and is dropped. */
  async send(text: Buffer): Promise<boolean> {
    this.#sentAt = performance.now()
    if (!this.#response.destroyed) this.#keepInTime()
    const tooLong = setTimeout(() => this.#response.destroy(), slowMilliseconds)
    return sendPart(this.#response, text).finally(() => clearTimeout(tooLong))
  }

  look(): void {
    this.#keepInTime()
    if (performance.now() - this.#sentAt < commentMilliseconds) return
    // Whoever has not taken the last one, or the end, takes nothing.
    if (this.#response.writableNeedDrain || this.#response.writableEnded) this.#response.destroy()
    else {
      this.#sentAt = performance.now()
      this.#response.write(comment)
    }
  }

  leave(): void {
    this.#hasLeft = true
    this.#seat.leave()
  }

  #keepInTime(): void {
    if (performance.now() - this.#keptAt < commentMilliseconds) return
    this.#keptAt = performance.now()
    void this.#keep()
  }

  /** A seat is taken for half a minute where several nodes count together, so that a node that was killed leaves none behind. */
  async #keep(): Promise<void> {
    const { limiter } = this.#exchange.api
    if (!limiter) return
    this.#seat.leave()
    this.#seat = await limiter.follow(found(this.#exchange.principal), 'streams')
    if (this.#hasLeft) this.#seat.leave()
    else if (this.#seat.refused !== null) this.#response.end()
  }
}
