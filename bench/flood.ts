import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

/** A tenant that sends more than it may, in a process of its own: see fairness.ts. */
export type Flood = { api: string; tokens: string[]; eachSecond: number; milliseconds: number }
export type Flooded = Record<string, number>

const agent = new Agent({ keepAlive: true, maxSockets: 200 })

const send = (
  { api, tokens }: Flood,
  number: number,
  path: string,
  body?: string,
): Promise<{ status: string; text: string }> =>
  new Promise((done) => {
    const headers = {
      authorization: `Bearer ${tokens[number % tokens.length]}`,
      ...(body && { 'content-type': 'application/json' }),
    }
    request(api + path, { agent, headers, method: body ? 'POST' : 'GET' }, (response) => {
      const status = String(response.statusCode)
      text(response).then(
        (sent) => done({ status, text: sent }),
        () => done({ status: 'broken', text: '' }),
      )
    })
      .on('error', () => done({ status: 'broken', text: '' }))
      .end(body)
  })

const words = ['ada', 'berg', 'office', 'son', 'anna', 'librarian', 'mill', 'gmail']

/** Of ten requests five read a page, two a contact, two search and one creates. */
const paths = (accountId: string, contactId: string, number: number): [path: string, body?: string] => {
  const kind = number % 10
  if (kind < 5) return [`/contacts?page=${(number % 900) + 1}`]
  if (kind < 7) return [`/contacts/${contactId}`]
  if (kind < 9) return [`/contacts?search=${words[number % words.length]}`]
  return ['/contacts', JSON.stringify({ accountId, lastName: `Flood ${number}` })]
}

const flood = async (given: Flood): Promise<Flooded> => {
  const first = await send(given, 0, '/contacts?pageSize=1')
  const [{ id, accountId } = { id: 'unknown', accountId: 'unknown' }] =
    first.status === '200' ? JSON.parse(first.text).items : []
  const answers: Flooded = {}
  const sent: Promise<void>[] = []
  for (let number = 0, begun = performance.now(); performance.now() - begun < given.milliseconds; number++) {
    await delay(Math.max(0, begun + (number * 1_000) / given.eachSecond - performance.now()))
    const [path, body] = paths(accountId, id, number)
    sent.push(
      send(given, number, path, body).then(({ status }) => {
        answers[status] = (answers[status] ?? 0) + 1
      }),
    )
  }
  await Promise.all(sent)
  return answers
}

process.once('message', async (given: Flood) => {
  const answers = await flood(given)
  process.send?.(answers, () => process.exit())
})
