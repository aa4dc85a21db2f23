import { isDeepStrictEqual } from 'node:util'
import type { Load } from './load.ts'
import { median } from './percentiles.ts'
import { responseTo } from './responses.ts'
import type { Servers } from './servers.ts'
import type { Ask, Measured } from './slice.ts'
import { type HttpServer, type Origins, type ServerName, serverNames, type Workload } from './workloads.ts'

/**
 * With the microseconds of processor time that the server and PostgreSQL spent on a response, and the share of a core that the
 * load took.
 */
export type Outcome = Measured & { processor: number; busy: number }

/** What each server did with a workload, round by round; nothing where it was left out. */
export type Results = Map<Workload, Partial<Record<ServerName, (Outcome | undefined)[]>>>

type Run = {
  load: Load
  servers: Servers
  rounds: number
  seconds: number
  /** Called before each slice. */
  say: (what: string) => void
  /** Called after each slice. */
  look: () => void
}

/** A slice that takes longer than this, because its responses do, is not done in every round. */
const timeoutSeconds = 4
/** What answers less often is measured by what waits for the requests in flight, and is far from its limit. */
const fewAnswers = 100
/**
 * V8 optimises what is called often: a service that was just started answers 9,500 gets a second, and 13,800 after 40,000 of them; searches take it
 * 520 µs at first, 430 after 6,000 and 400 after 12,000.
 */
const responsesToWarmUp = 20_000
const mostWarmingSeconds = 8

/**
 * All workloads of all servers take turns in short slices, round after round, so that noise hits all alike. A round that
 * does not count comes first: it checks every response, shows what is slow, and then warms up what is not.
 */
export const measureInTurns = async (workloads: Workload[], run: Run): Promise<Results> => {
  const results: Results = new Map(workloads.map((workload) => [workload, {}]))
  const slow = new Set<string>()
  const rare = new Set<string>()
  for (let round = -1; round < run.rounds; round++) {
    for (const workload of workloads) {
      const takingPart = serverNames.filter((server) =>
        server === 'postgres' ? workload.postgres : run.servers.origins[server] && workload.asks[server],
      )
      for (const server of beginningWith(takingPart, Math.max(0, round))) {
        const cell = `${workload.name}, ${server}`
        if (round > 0 && slow.has(cell)) continue
        run.say(round < 0 ? `warming up: ${cell}` : `round ${round + 1} of ${run.rounds}: ${cell}`)
        const send = round < 0 || rare.has(cell) ? run.load.check : run.load.measure
        const { seconds, count, ...outcome } = await measureSlice(workload, server, send, run)
        if (seconds > timeoutSeconds) slow.add(cell)
        if (count < fewAnswers) rare.add(cell)
        if (round < 0 && !slow.has(cell) && !rare.has(cell) && server !== 'postgres')
          await measureSlice(workload, server, run.load.measure, { ...run, seconds: warmingSeconds(outcome.rate) })
        const ofWorkload = results.get(workload) ?? {}
        ofWorkload[server] ??= new Array(run.rounds).fill(undefined)
        if (round >= 0) ofWorkload[server][round] = outcome
        run.look()
      }
    }
  }
  return results
}

const warmingSeconds = (rate: number): number => Math.min(mostWarmingSeconds, Math.ceil(responsesToWarmUp / rate))

/** Each server is the first in its turn: PostgreSQL reads pages of the tables for the first one that it has in its buffers for the others. */
const beginningWith = <T>(list: readonly T[], first: number): T[] => {
  const at = first % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}

const measureSlice = async (
  { name, asks, connections, postgres }: Workload,
  server: ServerName,
  send: Load['measure'],
  { seconds, servers: { origins, processorTime } }: Run,
): Promise<Outcome & { seconds: number; count: number }> => {
  if (server === 'postgres') {
    const alone = (await postgres?.(connections, seconds)) ?? { rate: Number.NaN, p50: Number.NaN, p99: Number.NaN }
    return { ...alone, processor: Number.NaN, busy: Number.NaN, seconds, count: Number.NaN }
  }
  const given = asks[server] ?? []
  const list = typeof given === 'function' ? await given() : given
  const before = processorTime(server)
  try {
    const measured = await send({ origin: origins[server] ?? '', connections, seconds, asks: list })
    return { ...measured, processor: ((processorTime(server) - before) / measured.count) * 1_000_000 }
  } catch (error) {
    throw new Error(`${name}, ${server}: ${error instanceof Error ? error.message : error}`)
  }
}

/** Of a workload, so many requests are compared. */
const compared = 200

/** Everybody must give the same records: a fast wrong response is not speed. */
export const requireSameAnswers = async (workloads: Workload[], origins: Origins): Promise<void> => {
  for (const { name, asks } of workloads) {
    const { masthead: ours, ...others } = asks
    if (!Array.isArray(ours)) continue
    for (const [server, theirs] of Object.entries(others) as [HttpServer, Ask[]][]) {
      const origin = origins[server]
      for (const [index, ask] of ours.slice(0, compared).entries()) {
        const other = theirs[index]
        if ((ask.method ?? 'GET') !== 'GET' || ask.status === 304 || !other || !origin) continue
        const [mine, its] = await Promise.all([
          responseTo(origins.masthead, ask).then(recordsOf),
          responseTo(origin, other).then(recordsOf),
        ])
        if (!isDeepStrictEqual(mine, its)) throw new Error(`${name}: ${server} answers ${ask.path} otherwise`)
      }
    }
  }
}

/** A search that finds very many has a total at the peer and none at ours. */
const recordsOf = ({ status, body }: { status: number; body: string }): unknown => {
  if (status !== 200) throw new Error(`a server answers ${status}: ${body.slice(0, 500)}`)
  const { total, ...rest } = JSON.parse(body)
  return rest
}

export const summaryOf = (slices: readonly (Outcome | undefined)[] | undefined): Outcome | null => {
  const present = (slices ?? []).filter((slice) => slice !== undefined)
  if (present.length === 0) return null
  const middle = (key: keyof Outcome) => median(present.map((slice) => slice[key]))
  const [rate, p50, p99] = [middle('rate'), middle('p50'), middle('p99')]
  return { rate, p50, p99, processor: middle('processor'), busy: middle('busy') }
}
