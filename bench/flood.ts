import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** A tenant that sends more than it may, in a process of its own: see fairness.ts. */
export type Flood = {
  api: string
  tokens: string[]
  id: string
  accountId: string
  eachSecond: number
  milliseconds: number
}
export type Flooded = Record<string, number>

const agent = new Agent({ keepAlive: true, maxSockets: 200 })

/** Answers its status. */
const send = ({ api, tokens }: Flood, number: number, path: string, body?: string): Promise<string> =>
  new Promise((done) => {
    const headers = {
      authorization: `Bearer ${tokens[number % tokens.length]}`,
      ...(body && { 'content-type': 'application/json' }),
    }
    request(api + path, { agent, headers, method: body ? 'POST' : 'GET' }, (response) => {
      response.resume().once('close', () => done(String(response.statusCode)))
    })
      .on('error', () => done('broken'))
      .end(body)
  })

const words = ['ada', 'berg', 'office', 'son', 'anna', 'librarian', 'mill', 'gmail']

/** Of ten requests five read a page, two a contact, two search and one creates. */
const requestOf = ({ accountId, id }: Flood, number: number): [path: string, body?: string] => {
  const kind = number % 10
  if (kind < 5) return [`/contacts?page=${(number % 900) + 1}`]
  if (kind < 7) return [`/contacts/${id}`]
  if (kind < 9) return [`/contacts?search=${words[number % words.length]}`]
  return ['/contacts', JSON.stringify({ accountId, lastName: `Flood ${number}` })]
}

const flood = async (given: Flood): Promise<Flooded> => {
  const statuses: Flooded = {}
  const sent: Promise<void>[] = []
  const begun = performance.now()
  for (let number = 0, due = begun; due < begun + given.milliseconds; number++) {
    const early = due - performance.now()
    if (early > 0) await delay(early)
    const [path, body] = requestOf(given, number)
    sent.push(
      send(given, number, path, body).then((status) => {
        statuses[status] = (statuses[status] ?? 0) + 1
      }),
    )
    // As many callers that know nothing of each other: at random, so several may come at once.
    due += (-Math.log(1 - Math.random()) * 1_000) / given.eachSecond
  }
  await Promise.all(sent)
  return statuses
}

process.once('message', async (given: Flood) => {
  const statuses = await flood(given)
  process.send?.(statuses, () => process.exit())
})
