import { createServer } from 'node:http'
import { announced } from '../announced.ts'

/**
 * The limit of what comes from memory: bare `node:http` that sends again what Masthead answered, the same status, headers
 * and bytes. It reads nothing of a request but its path, which is the number of the answer.
 */
export type Kept = { status: number; headers: string[]; body: string }

let answers: Kept[] = []
process.on('message', (kept: Kept[]) => {
  answers = kept
  process.send?.('kept')
})

announced(
  createServer((request, response) => {
    const answer = answers[Number(request.url?.slice(1))]
    if (!answer) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }),
)
