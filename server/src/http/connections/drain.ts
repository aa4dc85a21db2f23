import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { InFlight } from './in-flight.ts'

/** How long a stop waits for responses. Whoever stops a process kills it after ten seconds, and the database is closed after this. */
const graceMilliseconds = 7_000

/**
 * Answers what was taken and refuses what still comes. It waits neither for callers that keep their connection or send
 * half a request, nor for uploads that stall.
 */
export const drain = async (server: Server, inFlight: InFlight): Promise<void> => {
  const closed = server.listening ? once(server, 'close') : null
  const ended = inFlight.stop()
  // Nobody is let in while we wait. The `close` of an HTTP server would also do what must wait for slow callers.
  NetServer.prototype.close.call(server)
  server.emit('stopping')
  // Node takes a connection for idle as soon as its response has been written, although the caller may still read it.
  const isIdleKnown = inFlight.sent().then(() => server.closeIdleConnections())
  await Promise.race([Promise.all([ended, isIdleKnown]), delay(graceMilliseconds, undefined, { ref: false })])
  inFlight.destroy()
  server.closeAllConnections()
  // Node ends a timer of its own here.
  server.close()
  await closed
}
