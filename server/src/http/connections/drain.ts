import { once } from 'node:events'
import type { Server } from 'node:http'
import type { InFlight } from './in-flight.ts'

/** How long a stop waits for responses. Whoever stops a process kills it after ten seconds, and the database is closed after this. */
const graceMilliseconds = 7_000

/**
 * Answers what was taken and refuses what still comes. It waits neither for callers that keep their connection nor
 * for uploads that stall.
 */
export const drain = async (server: Server, inFlight: InFlight): Promise<void> => {
  const ended = inFlight.stop()
  const closed = server.listening ? once(server, 'close') : null
  const tooLong = Promise.withResolvers<void>()
  setTimeout(() => {
    inFlight.destroy()
    server.closeAllConnections()
    tooLong.resolve()
  }, graceMilliseconds).unref()
  // Nobody is let in while we wait.
  server.close()
  server.emit('stopping')
  await Promise.race([ended, tooLong.promise])
  server.closeIdleConnections()
  await closed
}
