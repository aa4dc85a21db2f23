import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { isMainThread } from 'node:worker_threads'
import { DatabaseError } from 'pg'

/** Loaded into a service by `--import`: these requests end the thread that takes them. */
const deaths: Record<string, () => void> = {
  '/throw': () => {
    throw new Error('thrown where nobody catches it')
  },
  '/refuse': () => {
    throw Object.assign(new DatabaseError('invalid input: "canary"', 1, 'error'), { code: '22P02', detail: 'canary' })
  },
  '/exhaust': () => {
    // In large pieces: whoever creeps up to the limit may collect garbage for minutes before it is reached.
    const kept: number[][] = []
    for (;;) kept.push(new Array(100_000).fill(kept.length))
  },
}

if (!isMainThread) {
  subscribe('http.server.request.start', (message) => {
    const { request } = message as { request: IncomingMessage } // what Node publishes on this channel
    const die = deaths[request.url ?? '']
    if (die) setImmediate(die)
  })
}
