import { KeptConnection } from '../requests/raw-connection.ts'
import type { CallResponse } from '../service.ts'
import type { Wire } from './wire.ts'

/** Sends one request after another over one connection. Whatever is wrong is told with the request, ready to be sent again. */
export class Sender {
  readonly #connection: KeptConnection
  #former: Wire | null = null

  constructor(origin: string) {
    this.#connection = new KeptConnection(origin)
  }

  async send(wire: Wire, judge: (answer: CallResponse) => void | Promise<void>): Promise<CallResponse> {
    let answer: CallResponse | undefined
    try {
      answer = await this.#connection.send(wire.method, wire.bytes, wire.last)
      await judge(answer)
      this.#former = wire
      return answer
    } catch (error) {
      // What is tried next, to find the smallest request that fails, starts afresh.
      this.#connection.close()
      const told = answer && `${answer.status} ${JSON.stringify([...answer.headers])} ${answer.text.slice(0, 2_000)}`
      const parts = [error, wire.curl(), told ?? 'There was no answer.', `Before it: ${this.#former?.curl()}`]
      throw new Error(parts.join('\n\n'))
    }
  }

  close(): void {
    this.#connection.close()
  }
}
