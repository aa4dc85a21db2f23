import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** `whenOver` belongs to it because a listener of its own would cost more than what it does. */
type UnderWay = { readonly response: ServerResponse; whenOver: (() => void) | undefined; place: number }

/** From when a request was read until its answer is sent, or nobody is left to hear it. */
export class AnswersUnderWay {
  /**
   * In no order. Neither a Set nor a Map: those make themselves a new table every few answers, and the old tables keep
   * their answers alive through the garbage collections of the young, which then copy them all, at seven times the cost.
   */
  readonly #all: UnderWay[] = []
  readonly #waiting: (() => void)[] = []

  /** A new one. */
  readonly add = (response: ServerResponse, whenOver?: () => void): void => {
    if (response.closed) return
    const answer: UnderWay = { response, whenOver, place: this.#all.length }
    this.#all.push(answer)
    response.on('close', () => this.#end(answer))
  }

  /** One that was most probably added just now. */
  readonly begin = (response: ServerResponse, whenOver?: () => void): void => {
    const known = this.#all.findLast((answer) => answer.response === response)
    if (!known) this.add(response, whenOver)
    else if (whenOver) known.whenOver = whenOver
  }

  /** Few ask, and seldom. */
  on(socket: Socket): ServerResponse[] {
    return [...this].filter(({ req }) => req.socket === socket)
  }

  [Symbol.iterator](): Iterator<ServerResponse> {
    return this.#all.map(({ response }) => response).values()
  }

  async ended(): Promise<void> {
    if (this.#all.length > 0) await new Promise<void>((go) => this.#waiting.push(go))
  }

  /** Node may say it twice. */
  #end(answer: UnderWay): void {
    if (this.#all[answer.place] !== answer) return
    const last = this.#all.pop()
    if (last && last !== answer) {
      last.place = answer.place
      this.#all[last.place] = last
    }
    answer.whenOver?.()
    if (this.#all.length === 0) for (const go of this.#waiting.splice(0)) go()
  }
}
