import { fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Flood, Flooded } from './flood.ts'
import { newQuietCaller, newToken, read } from './quiet-caller.ts'
import { run, type Served, serve } from './served.ts'
import { report } from './timing.ts'

/**
 * What a tenant that floods the service costs another one: `npm run bench:fairness [rounds]`. The quiet tenant reads pages
 * and single contacts, 40 a second. The loud one is a process of its own that sends three times what a tenant may, pages,
 * contacts, searches and creates, by enough tokens to spend the minute of its tenant, at random moments whether or not
 * answers come. Silence and flood take turns. The loud tenant's minute is spent after 20 s of flood, so some two thirds of
 * its requests are served and the others refused. The same without limits shows what they are worth. The flood takes processors
 * from everybody on the machine, so the same quiet tenant is also read from another service, which nobody floods.
 */
const dataDirectory = resolve('.masthead/bench-fairness')
const neighbourDirectory = resolve('.masthead/bench-fairness-neighbour')
const rounds = Number(process.argv[2] ?? 8)
const phaseMilliseconds = 8_000
const settleMilliseconds = 500
const loudEachSecond = 300
const tokensOfLoud = 8

const main = async (): Promise<void> => {
  run(dataDirectory, 'node', ['server/test/records/seed-contacts.ts', 'quiet=10000', 'loud=50000'])
  run(neighbourDirectory, 'node', ['server/test/records/seed-contacts.ts', 'quiet=10000'])
  const times = new Map<string, number[]>()
  const neighbour = await serve(neighbourDirectory)
  try {
    for (const limits of ['on', 'off'] as const) {
      const served = await serve(dataDirectory, { RATE_LIMIT: limits })
      try {
        await compare(served, neighbour, limits === 'on' ? 'limits' : 'no limits', times)
      } finally {
        await served.stop()
      }
    }
  } finally {
    await neighbour.stop()
  }
  report(
    times,
    ['limits', 'no limits'].flatMap((kind) => [
      { name: `${kind}, p50: flood ÷ silence`, of: `${kind}: flood`, by: `${kind}: silence` },
      {
        name: `${kind}, p99: flood ÷ silence`,
        of: `${kind}: flood`,
        by: `${kind}: silence`,
        share: 0.99,
        ...(kind === 'limits' && { most: 2 }),
      },
      { name: `${kind}, p99: ÷ neighbour`, of: `${kind}: flood`, by: `${kind}: neighbour`, share: 0.99 },
    ]),
  )
}

const compare = async (
  served: Served,
  neighbour: Served,
  kind: string,
  times: Map<string, number[]>,
): Promise<void> => {
  const quiet = await newQuietCaller(served)
  const quietBeside = await newQuietCaller(neighbour)
  const flood = await prepareFlood(served)
  let statuses: Flooded = {}
  const underFlood = async (call: typeof quiet): Promise<number[]> => {
    const loud = startFlood(flood)
    await delay(settleMilliseconds)
    const measured = await call(phaseMilliseconds - settleMilliseconds)
    for (const [status, count] of Object.entries(await loud)) statuses[status] = (statuses[status] ?? 0) + count
    await delay(settleMilliseconds)
    return measured
  }
  const silence: number[] = []
  const flooded: number[] = []
  const beside: number[] = []
  times.set(`${kind}: silence`, silence).set(`${kind}: flood`, flooded).set(`${kind}: neighbour`, beside)
  // What was just started compiles its program, and looks at the lists that are searched for the first time.
  await underFlood(quiet)
  await underFlood(quietBeside)
  statuses = {}
  for (let round = 0; round < rounds; round++) {
    silence.push(...(await quiet(phaseMilliseconds)))
    flooded.push(...(await underFlood(quiet)))
    beside.push(...(await underFlood(quietBeside)))
  }
  process.stdout.write(`${kind}: the loud tenant got ${JSON.stringify(statuses)}\n`)
}

const prepareFlood = async (served: Served): Promise<Flood> => {
  const tokens = Array.from({ length: tokensOfLoud }, () => newToken(served, 'loud'))
  const { items } = JSON.parse(await read(served, tokens[0] ?? '', '/contacts?pageSize=1'))
  const [{ id, accountId }] = items
  return {
    api: served.api,
    tokens,
    id,
    accountId,
    eachSecond: loudEachSecond,
    milliseconds: phaseMilliseconds,
  }
}

/** The statuses that it got. */
const startFlood = async (flood: Flood): Promise<Flooded> => {
  const child = fork(new URL('./flood.ts', import.meta.url))
  child.send(flood)
  const [[statuses]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  return statuses
}

await main()
