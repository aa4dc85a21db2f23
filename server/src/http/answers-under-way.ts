import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** From when a request was read until its answer is sent, or nobody is left to hear it. */
export class AnswersUnderWay {
  readonly #all = new Set<ServerResponse>()
  readonly #waiting: (() => void)[] = []

  readonly add = (response: ServerResponse): void => {
    if (this.#all.has(response) || response.closed) return
    this.#all.add(response)
    response.once('close', () => {
      this.#all.delete(response)
      if (this.#all.size === 0) for (const go of this.#waiting.splice(0)) go()
    })
  }

  /** Few ask, and seldom. */
  on(socket: Socket): ServerResponse[] {
    return [...this.#all].filter(({ req }) => req.socket === socket)
  }

  [Symbol.iterator](): Iterator<ServerResponse> {
    return this.#all.values()
  }

  async ended(): Promise<void> {
    if (this.#all.size > 0) await new Promise<void>((go) => this.#waiting.push(go))
  }
}
