import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../problem.ts'

/** How long a stop waits for answers. Whoever stops a process kills it after ten seconds, and the database is closed after this. */
const graceMilliseconds = 7_000

/**
 * A stop answers what was taken and refuses what still comes. It waits neither for callers that keep their connection nor
 * for uploads that stall. Counted by answers, because Fastify opens a second server for the other address of `localhost`,
 * for whose connections it does not wait. Gives what says that an answer is under way; false when none may begin any more.
 */
export const drainAtTheEnd = (app: FastifyInstance): ((answer: ServerResponse) => boolean) => {
  const answering = new Set<ServerResponse>()
  const drained = Promise.withResolvers<void>()
  let closing = false
  const checkDrained = () => {
    if (closing && answering.size === 0) drained.resolve()
  }
  const begin = (answer: ServerResponse): boolean => {
    if (closing) {
      answer.shouldKeepAlive = false
      return false
    }
    answering.add(answer)
    answer.once('close', () => {
      answering.delete(answer)
      checkDrained()
    })
    return true
  }
  app.addHook('onRequest', async (_request, { raw }) => {
    if (!begin(raw)) throw stopping()
  })
  app.addHook('preClose', async () => {
    closing = true
    for (const answer of answering) answer.shouldKeepAlive = false
    setTimeout(() => {
      for (const response of answering) response.destroy()
      app.server.closeAllConnections()
      drained.resolve()
    }, graceMilliseconds).unref()
    // Nobody is let in while we wait. Fastify closes it once more, which does no harm; at this event, the second server too.
    if (app.server.listening) app.server.close().emit('unref')
    checkDrained()
    await drained.promise
  })
  return begin
}

const stopping = (): Problem =>
  new Problem('unavailable', 'This server is being stopped: send the request again, on a new connection.', {
    headers: { 'retry-after': '1' },
  })
