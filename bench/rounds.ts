import { isDeepStrictEqual } from 'node:util'
import { answerTo } from './answers.ts'
import type { Ask, Load, Measured } from './load.ts'
import { median } from './percentiles.ts'
import type { Servers } from './servers.ts'
import { type HttpServer, type ServerName, serverNames, type Workload } from './workloads.ts'

/** With the microseconds of processor time that the server and PostgreSQL spent on an answer. */
export type Outcome = Measured & { processor: number }

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

/** A slice that takes longer than this, because its answers do, is not done in every round. */
const timeoutSeconds = 4

/**
 * All workloads of all servers take turns in short slices, round after round, so that noise hits all alike. A round that
 * does not count comes first: it warms up, and shows what is slow.
 */
export const measureInTurns = async (workloads: Workload[], run: Run): Promise<Results> => {
  const results: Results = new Map(workloads.map((workload) => [workload, {}]))
  const slow = new Set<string>()
  for (let round = -1; round < run.rounds; round++) {
    for (const workload of workloads) {
      for (const server of serverNames) {
        const asks = server === 'postgres' ? workload.postgres : workload.asks[server]
        const cell = `${workload.name}, ${server}`
        if (!asks || (round > 0 && slow.has(cell))) continue
        run.say(round < 0 ? `warming up: ${cell}` : `round ${round + 1} of ${run.rounds}: ${cell}`)
        const measured = await measureSlice(workload, server, run.seconds, run)
        if (measured.seconds > timeoutSeconds) slow.add(cell)
        const { rate, p50, p99, processor } = measured
        const ofWorkload = results.get(workload) ?? {}
        ofWorkload[server] ??= new Array(run.rounds).fill(undefined)
        if (round >= 0) ofWorkload[server][round] = { rate, p50, p99, processor }
        run.look()
      }
    }
  }
  return results
}

const measureSlice = async (
  { name, asks, connections, postgres }: Workload,
  server: ServerName,
  seconds: number,
  { load, servers: { origins, processorTime } }: Run,
): Promise<Outcome & { seconds: number }> => {
  if (server === 'postgres') {
    const alone = (await postgres?.(connections, seconds)) ?? { rate: Number.NaN, p50: Number.NaN, p99: Number.NaN }
    return { ...alone, processor: Number.NaN, seconds }
  }
  const given = asks[server] ?? []
  const list = typeof given === 'function' ? await given() : given
  const before = processorTime(server)
  try {
    const measured = await load.measure({ origin: origins[server], connections, seconds, asks: list })
    return { ...measured, processor: ((processorTime(server) - before) / measured.count) * 1_000_000 }
  } catch (error) {
    throw new Error(`${name}, ${server}: ${error instanceof Error ? error.message : error}`)
  }
}

/** Everybody must give the same records: a fast wrong answer is not speed. */
export const requireSameAnswers = async (workloads: Workload[], origins: Record<HttpServer, string>): Promise<void> => {
  for (const { name, asks } of workloads) {
    const { masthead: ours, ...others } = asks
    if (!Array.isArray(ours)) continue
    for (const [server, theirs] of Object.entries(others) as [HttpServer, Ask[]][]) {
      for (const [index, ask] of ours.entries()) {
        const other = theirs[index]
        if ((ask.method ?? 'GET') !== 'GET' || ask.status === 304 || !other) continue
        const [mine, its] = await Promise.all([
          answerTo(origins.masthead, ask).then(recordsOf),
          answerTo(origins[server], other).then(recordsOf),
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
  return { rate: middle('rate'), p50: middle('p50'), p99: middle('p99'), processor: middle('processor') }
}
