import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { basePath } from '@masthead/contract'

export type ReceivedEvent = { name: string; id: string; data: string }

export type EventStream = {
  status: number
  headers: IncomingMessage['headers']
  /** The events as they come, until the stream ends; they fail where it breaks off. */
  events: AsyncGenerator<ReceivedEvent, void>
  /** How many comments came so far. */
  comments: () => number
  response: IncomingMessage
  close: () => void
}

/** Opens a stream of server-sent events, over a connection of its own. Nothing is read before its events are asked for. */
export const openEventStream = async (
  origin: string,
  path: string,
  { token, headers = {} }: { token: string; headers?: Record<string, string> },
): Promise<EventStream> => {
  const sent = request(origin + basePath + path, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${token}`, ...headers },
    agent: false,
  }).end()
  const [response]: IncomingMessage[] = await once(sent, 'response')
  if (!response) throw new Error('there is no response')
  let comments = 0
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events: eventsIn(response, () => comments++),
    comments: () => comments,
    response,
    close: () => response.destroy(),
  }
}

async function* eventsIn(response: IncomingMessage, onComment: () => void): AsyncGenerator<ReceivedEvent, void> {
  let rest = ''
  for await (const part of response.setEncoding('utf8')) {
    const blocks = (rest + part).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n').map((line) => /^([a-z]*): ?(.*)$/.exec(line) ?? [])
      const fields = new Map(lines.map(([, name = '', value = '']) => [name, value]))
      if (block.startsWith(':')) onComment()
      else yield { name: fields.get('event') ?? '', id: fields.get('id') ?? '', data: fields.get('data') ?? '' }
    }
  }
}

/** So many events, of a stream that goes on. */
export const take = async ({ events }: EventStream, count: number): Promise<ReceivedEvent[]> => {
  const taken: ReceivedEvent[] = []
  while (taken.length < count) {
    const { value, done } = await events.next()
    if (done) throw new Error(`the stream ended after ${taken.length} events`)
    taken.push(value)
  }
  return taken
}

/** What came instead of a stream. */
export const refusalOf = ({ response }: EventStream): Promise<string> => text(response)
