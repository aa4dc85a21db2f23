/** A server-sent event. */
export type StreamEvent = { name: string; id: string; data: string }

/** Reads the text of a stream as the service writes it: lines end by LF, and each event has one line of data. */
export class EventParser {
  #rest = ''

  /** The events that this part completes. One that is cut off never comes out, so it comes whole on the next connection. */
  take(text: string): StreamEvent[] {
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.map(fieldsOf).flatMap(({ event = '', id, data }) => (id && data ? [{ name: event, id, data }] : []))
  }
}

/** A comment has an empty name. */
const fieldsOf = (block: string): { event?: string; id?: string; data?: string } =>
  Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2)))
