import type { FastifyInstance } from 'fastify'
import { type InFlight, stopping } from './in-flight.ts'

/** How long a stop waits for responses. Whoever stops a process kills it after ten seconds, and the database is closed after this. */
const graceMilliseconds = 7_000

/**
 * A stop answers what was taken and refuses what still comes. It waits neither for callers that keep their connection nor
 * for uploads that stall.
 */
export const drainAtTheEnd = (app: FastifyInstance, inFlight: InFlight): void => {
  app.addHook('onRequest', async () => {
    if (inFlight.isStopping) throw stopping()
  })
  app.addHook('preClose', async () => {
    const ended = inFlight.stop()
    const tooLong = Promise.withResolvers<void>()
    setTimeout(() => {
      inFlight.destroy()
      app.server.closeAllConnections()
      tooLong.resolve()
    }, graceMilliseconds).unref()
    // Nobody is let in while we wait. Fastify closes it once more, which does no harm.
    if (app.server.listening) app.server.close()
    app.server.emit('stopping')
    await Promise.race([ended, tooLong.promise])
  })
}
