import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { Flood, Flooded } from './flood.ts'
import { run, type Served, serve } from './served.ts'
import { report } from './timing.ts'

/**
 * What a tenant that floods the service costs another one: `npm run bench:fairness [rounds]`. The quiet tenant reads pages
 * and single contacts, 40 a second. The loud one is a process of its own that sends three times what a tenant may, pages,
 * contacts, searches and creates, by enough tokens to spend the minute of its tenant, at random moments whether or not
 * answers come. Silence and flood take turns. The loud tenant's minute is spent after 20 s of flood, so some two thirds of
 * its requests are served and the others refused. The same without limits shows what they are worth.
 */
const dataDirectory = resolve('.masthead/bench-fairness')
const rounds = Number(process.argv[2] ?? 8)
const phaseMilliseconds = 8_000
const settleMilliseconds = 500
const quietEachSecond = 40
const loudEachSecond = 300
const tokensOfLoud = 8

const main = async (): Promise<void> => {
  run(dataDirectory, 'node', ['server/test/seed-contacts.ts', 'quiet=10000', 'loud=50000'])
  const times = new Map<string, number[]>()
  for (const limits of ['on', 'off'] as const) {
    const served = await serve(dataDirectory, { RATE_LIMIT: limits })
    try {
      await compare(served, limits === 'on' ? 'limits' : 'no limits', times)
    } finally {
      await served.stop()
    }
  }
  report(
    times,
    ['limits', 'no limits'].flatMap((kind) => [
      { name: `${kind}, p50: flood ÷ silence`, of: `${kind}: flood`, by: `${kind}: silence` },
      {
        ...{ name: `${kind}, p99: flood ÷ silence`, of: `${kind}: flood`, by: `${kind}: silence`, share: 0.99 },
        ...(kind === 'limits' && { most: 2 }),
      },
    ]),
  )
}

const compare = async (served: Served, kind: string, times: Map<string, number[]>): Promise<void> => {
  const quiet = await newQuietCaller(served)
  const flood = await prepareFlood(served)
  const silence: number[] = []
  const flooded: number[] = []
  const answers: Flooded = {}
  times.set(`${kind}: silence`, silence).set(`${kind}: flood`, flooded)
  await quiet(2_000)
  for (let round = 0; round < rounds; round++) {
    silence.push(...(await quiet(phaseMilliseconds)))
    const loud = startFlood(flood)
    await delay(settleMilliseconds)
    flooded.push(...(await quiet(phaseMilliseconds - settleMilliseconds)))
    for (const [status, count] of Object.entries(await loud)) answers[status] = (answers[status] ?? 0) + count
    await delay(settleMilliseconds)
  }
  process.stdout.write(`${kind}: the loud tenant got ${JSON.stringify(answers)}\n`)
}

const prepareFlood = async (served: Served): Promise<Flood> => {
  const tokens = Array.from({ length: tokensOfLoud }, () => newToken(served, 'loud'))
  const { items } = JSON.parse(await read(served, tokens[0] ?? '', '/contacts?pageSize=1'))
  const [{ id, accountId }] = items
  return {
    ...{ api: served.api, tokens, id, accountId },
    ...{ eachSecond: loudEachSecond, milliseconds: phaseMilliseconds },
  }
}

const newToken = ({ masthead }: Served, tenant: string): string => {
  const options = `--tenant ${tenant} --service bench --name bench --json --expires 1d --scopes contacts:read,contacts:write,accounts:read`
  return JSON.parse(masthead('token', 'create', ...options.split(' '))).token
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 })

const read = ({ api }: Served, token: string, path: string): Promise<string> =>
  new Promise((done, fail) => {
    get(api + path, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      text(response).then((body) => (response.statusCode === 200 ? done(body) : fail(new Error(body))), fail)
    }).on('error', fail)
  })

/** Reads for so long, each at its time whether or not the one before was answered; says how long each took. */
const newQuietCaller = async (served: Served) => {
  const tokens = [1, 2, 3].map(() => newToken(served, 'quiet'))
  const call = (path: string, number: number) => read(served, tokens[number % tokens.length] ?? '', path)
  const { items } = JSON.parse(await call('/contacts?page=7', 0))
  return async (milliseconds: number): Promise<number[]> => {
    const measured: Promise<number>[] = []
    for (let number = 0, begun = performance.now(); ; number++) {
      const due = begun + (number * 1_000) / quietEachSecond
      if (due > begun + milliseconds) break
      await delay(Math.max(0, due - performance.now()))
      const path =
        number % 2 === 0 ? `/contacts/${items[number % items.length].id}` : `/contacts?page=${(number % 100) + 1}`
      measured.push(call(path, number).then(() => performance.now() - due))
    }
    return Promise.all(measured)
  }
}

/** The statuses that it got. */
const startFlood = async (flood: Flood): Promise<Flooded> => {
  const child = fork(new URL('./flood.ts', import.meta.url))
  child.send(flood)
  const [[answers]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  return answers
}

await main()
