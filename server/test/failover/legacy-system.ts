import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

/** Longer than it takes until what a killed worker had in hand is found again. */
const timeoutMilliseconds = 40_000

/** A tenant's former system, which takes everything and remembers whose it was. */
export class LegacySystem {
  readonly url: string
  readonly secret = `whsec_${randomBytes(32).toString('base64')}`
  readonly #server: Server
  readonly #received: Set<string>

  private constructor(server: Server, received: Set<string>) {
    this.#server = server
    this.#received = received
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/masthead` // it listens on a port
  }

  static async start(): Promise<LegacySystem> {
    const received = new Set<string>()
    const server = createServer(async (request, response) => {
      const { type, data } = (await json(request)) as { type: string; data: { id: string; accountId: string } } // docs/operating.md
      received.add(type === 'account.created' ? data.accountId : data.id)
      response.writeHead(204).end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new LegacySystem(server, received)
  }

  /** Which of these have not come, once nothing more comes. */
  async missing(ids: readonly string[]): Promise<string[]> {
    for (let missing = ids, idle = 0; ; idle += 500) {
      const left = missing.filter((id) => !this.#received.has(id))
      if (left.length === 0 || (left.length === missing.length && idle > timeoutMilliseconds)) return left
      if (left.length < missing.length) idle = 0
      missing = left
      await delay(500)
    }
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
