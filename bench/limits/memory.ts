import { createServer } from 'node:http'
import { announced } from '../announced.ts'

/**
 * The limit of what comes from memory: bare `node:http` that sends again what Masthead sent, the same status, headers
 * and bytes. It reads nothing of a request but its path, which is the number of the response. Bodies are kept as bytes: to
 * encode a page of names from all over the world each time would cost as much again.
 */
export type Kept = { status: number; headers: string[]; body: string }

let responses: (Omit<Kept, 'body'> & { bytes: Buffer | undefined })[] = []
process.on('message', (kept: Kept[]) => {
  responses = kept.map(({ body, ...rest }) => ({ ...rest, bytes: body ? Buffer.from(body) : undefined }))
  process.send?.('kept')
})

announced(
  createServer((request, response) => {
    const known = responses[Number(request.url?.slice(1))]
    if (known) response.writeHead(known.status, known.headers).end(known.bytes)
    else response.writeHead(404, { 'content-length': 0 }).end()
  }),
)
