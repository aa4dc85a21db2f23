import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** From when a request was read until its answer is sent, or nobody is left to hear it. */
export class AnswersUnderWay {
  /** With what is to be done when they are over: one listener each, because it costs more than what it does. */
  readonly #all = new Map<ServerResponse, (() => void) | undefined>()
  readonly #waiting: (() => void)[] = []

  readonly add = (response: ServerResponse, whenOver?: () => void): void => {
    if (response.closed) return
    const isNew = !this.#all.has(response)
    if (isNew || whenOver) this.#all.set(response, whenOver)
    if (isNew) response.on('close', () => this.#end(response))
  }

  /** Few ask, and seldom. */
  on(socket: Socket): ServerResponse[] {
    return [...this.#all.keys()].filter(({ req }) => req.socket === socket)
  }

  [Symbol.iterator](): Iterator<ServerResponse> {
    return this.#all.keys()
  }

  async ended(): Promise<void> {
    if (this.#all.size > 0) await new Promise<void>((go) => this.#waiting.push(go))
  }

  /** Node may say it twice. */
  #end(response: ServerResponse): void {
    const whenOver = this.#all.get(response)
    if (!this.#all.delete(response)) return
    whenOver?.()
    if (this.#all.size === 0) for (const go of this.#waiting.splice(0)) go()
  }
}
