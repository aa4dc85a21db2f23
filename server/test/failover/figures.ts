import type { Attempt } from '../records/mixed-load.ts'

/** A span of the trial, with what was done to the cluster at its beginning. A request belongs to where it ended. */
export type Phase = { name: string; from: number; to: number /** The node that was killed. */; deadNode: string | null }

export type Figures = {
  phase: string
  seconds: number
  requests: number
  answered: number
  /** 503 with `Retry-After`. */
  unavailable: number
  /** 409: the first request under this key was still running. */
  stillRunning: number
  /** Connections to the node that was killed. */
  brokenOff: number
  /** Everything else, which must not be. */
  unexpected: Record<string, number>
  /** The longest time in which no write was answered. */
  writeGapSeconds: number
  readGapSeconds: number
  slowestSeconds: number
}

export const figuresOf = ({ name, from, to, deadNode }: Phase, all: readonly Attempt[]): Figures => {
  const attempts = all.filter((attempt) => endOf(attempt) >= from && endOf(attempt) < to)
  const [succeeded, failed] = [true, false].map((wanted) => attempts.filter((one) => isAnswered(one) === wanted)) as [
    Attempt[],
    Attempt[],
  ] // two parts
  const unavailable = failed.filter(({ status, retryAfter }) => status === 503 && retryAfter !== null)
  const stillRunning = failed.filter(({ code }) => code === 'request_in_progress')
  const brokenOff = failed.filter(({ status, node }) => status === null && node === deadNode)
  const unexpected: Record<string, number> = {}
  for (const attempt of failed) {
    if ([unavailable, stillRunning, brokenOff].some((expected) => expected.includes(attempt))) continue
    const what = attempt.status === null ? attempt.code : `${attempt.status} ${attempt.code}`
    unexpected[what] = (unexpected[what] ?? 0) + 1
  }
  const answeredAt = (isWrite: boolean) =>
    attempts.filter((one) => one.isWrite === isWrite && isAnswered(one)).map(endOf)
  return {
    phase: name,
    seconds: seconds(to - from),
    requests: attempts.length,
    answered: succeeded.length,
    unavailable: unavailable.length,
    stillRunning: stillRunning.length,
    brokenOff: brokenOff.length,
    unexpected,
    writeGapSeconds: longestGap(answeredAt(true), from, to),
    readGapSeconds: longestGap(answeredAt(false), from, to),
    slowestSeconds: seconds(Math.max(0, ...attempts.map(({ milliseconds }) => milliseconds ?? 0))),
  }
}

const endOf = ({ sentAt, milliseconds }: Attempt): number => sentAt + (milliseconds ?? 0)
const isAnswered = ({ status }: Attempt): boolean => status !== null && status < 300

const longestGap = (times: readonly number[], from: number, to: number): number => {
  const ascending = times.toSorted((one, other) => one - other)
  return seconds(Math.max(...[...ascending, to].map((time, index) => time - (ascending[index - 1] ?? from))))
}

const seconds = (milliseconds: number): number => Math.round(milliseconds / 100) / 10
