import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { largest } from '@masthead/contract'
import { unavailable } from '../../problem.ts'
import { urlTooLong } from '../responses/problems.ts'

/** Told when its response was sent, or nobody is left to hear it. */
type Ending = { ended: () => void }

/** `ending` belongs to it because a listener of its own would cost more than what it does. */
type Entry = { readonly response: ServerResponse; readonly ending: Ending; place: number }

/** Requests from when their heads were read until their responses are sent, or nobody is left to hear them. */
export class InFlight {
  /**
   * In no order. Neither a Set nor a Map: those make themselves a new table every few requests, and the old tables keep
   * their responses alive through the garbage collections of the young, which then copy them all, at seven times the cost.
   */
  readonly #all: Entry[] = []
  readonly #waiting: (() => void)[] = []
  #isStopping = false

  get isStopping(): boolean {
    return this.#isStopping
  }

  add(response: ServerResponse, ending: Ending): void {
    // After an upgrade that it ignored, Node's parser no longer says what it cannot read: then nothing may follow.
    if (this.#isStopping || response.req.headers.upgrade !== undefined) response.shouldKeepAlive = false
    if (response.closed) return
    const entry: Entry = { response, ending, place: this.#all.length }
    this.#all.push(entry)
    response.on('close', () => this.#end(entry))
  }

  /** Few ask, and seldom. */
  on(socket: Socket): ServerResponse[] {
    return this.#responses().filter(({ req }) => req.socket === socket)
  }

  /** From now on connections end with their responses. Resolves once the last response has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const response of this.#responses()) response.shouldKeepAlive = false
    if (this.#all.length > 0) await new Promise<void>((go) => this.#waiting.push(go))
  }

  /** Resolves once no caller has still to take what was written for it. */
  async sent(): Promise<void> {
    for (;;) {
      const leaving = this.#responses().filter(({ writableEnded }) => writableEnded)
      if (leaving.length === 0) return
      await Promise.all(leaving.map((response) => once(response, 'close')))
    }
  }

  destroy(): void {
    for (const response of this.#responses()) response.destroy()
  }

  #responses(): ServerResponse[] {
    return this.#all.map(({ response }) => response)
  }

  /** Node may say it twice. */
  #end(entry: Entry): void {
    if (this.#all[entry.place] !== entry) return
    const last = this.#all.pop()
    if (last && last !== entry) {
      last.place = entry.place
      this.#all[last.place] = last
    }
    entry.ending.ended()
    if (this.#all.length === 0) for (const go of this.#waiting.splice(0)) go()
  }
}

/** Refuses while the server is being stopped, and what is too long to be looked at. */
export const admit = ({ isStopping }: InFlight, url: string): void => {
  if (isStopping) throw unavailable('This server is being stopped: send the request again, on a new connection.')
  if (url.length > largest.urlBytes) throw urlTooLong()
}
