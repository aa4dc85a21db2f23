import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../../problem.ts'
import type { AnswersUnderWay } from './in-flight.ts'

/** Says that an answer begins, and what to do when it is over; false when none may begin any more. */
export type Begin = (answer: ServerResponse, whenOver?: () => void) => boolean

/** How long a stop waits for answers. Whoever stops a process kills it after ten seconds, and the database is closed after this. */
const graceMilliseconds = 7_000

/**
 * A stop answers what was taken and refuses what still comes. It waits neither for callers that keep their connection nor
 * for uploads that stall. Counted by answers, because Fastify opens a second server for the other address of `localhost`,
 * for whose connections it does not wait.
 */
export const drainAtTheEnd = (app: FastifyInstance, answers: AnswersUnderWay): Begin => {
  let closing = false
  const begin: Begin = (answer, whenOver) => {
    answers.begin(answer, closing ? undefined : whenOver)
    if (closing) answer.shouldKeepAlive = false
    return !closing
  }
  app.addHook('onRequest', async (_request, { raw }) => {
    if (!begin(raw)) throw stopping()
  })
  app.addHook('preClose', async () => {
    closing = true
    for (const answer of answers) answer.shouldKeepAlive = false
    const tooLong = Promise.withResolvers<void>()
    setTimeout(() => {
      for (const answer of answers) answer.destroy()
      app.server.closeAllConnections()
      tooLong.resolve()
    }, graceMilliseconds).unref()
    // Nobody is let in while we wait. Fastify closes it once more, which does no harm; at this event, the second server too.
    if (app.server.listening) app.server.close().emit('unref')
    await Promise.race([answers.ended(), tooLong.promise])
  })
  return begin
}

const stopping = (): Problem =>
  new Problem('unavailable', 'This server is being stopped: send the request again, on a new connection.', {
    headers: { 'retry-after': '1' },
  })
