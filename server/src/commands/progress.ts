import { performance } from 'node:perf_hooks'
import { messageOf } from '../error-message.ts'
import { printable } from '../foreign-text.ts'
import { Refusal } from '../refusal.ts'
import { stopSignal } from './stop-signal.ts'

export type Step = {
  what: string
  /** In any unit, such as bytes. */
  done: number
  /** Null when the total is unknown. */
  of: number | null
  rows: number
  /** What `rows` counts. */
  unit?: string
}

type Terminal = { isTTY?: boolean; columns?: number; write: (text: string) => unknown }

const redrawMilliseconds = 100
/** Earlier rates mean nothing. */
const firstRateMilliseconds = 1_000
/** A million rows at a hundred thousand a second then fit into 80 columns. */
const barWidth = 16
const longestName = 'subscriptions'.length
const clearLine = '\r\u001B[K'

export const megabytes = (bytes: number): number => Math.ceil(bytes / 1_000_000)

export type Progress = ReturnType<typeof startProgress>

/** One line on a terminal that is redrawn as a long command proceeds; nothing is written anywhere else. */
export const startProgress = (terminal: Terminal = process.stderr, now = () => performance.now()) => {
  let what: string | undefined
  let startedAt = 0
  let drawnAt = Number.NEGATIVE_INFINITY
  const show = (step: Step): void => {
    const time = now()
    if (step.what !== what) startedAt = time
    what = step.what
    if (!terminal.isTTY || time - drawnAt < redrawMilliseconds) return
    drawnAt = time
    // A line that wraps could not be redrawn.
    terminal.write(clearLine + describe(step, time - startedAt).slice(0, (terminal.columns ?? 80) - 1))
  }
  return {
    show,
    showBytes: (what: string) => (done: number, of: number) =>
      show({ what, done, of, rows: megabytes(done), unit: 'MB' }),
    /** Clears the line. */
    end: (): void => {
      if (terminal.isTTY && what !== undefined) terminal.write(clearLine)
      what = undefined
      drawnAt = Number.NEGATIVE_INFINITY
    },
  }
}

/** What is said when the work is stopped or fails; without it the error itself. */
type Messages = { stopped?: string; failure?: string }

export const resumable: Messages = { stopped: 'interrupted; the same command completes it' }

/** Does long work that shows its progress and can be stopped. */
export const withProgress = async <T>(
  work: (progress: Progress, signal: AbortSignal) => Promise<T>,
  { stopped, failure }: Messages = {},
): Promise<T> => {
  const signal = stopSignal()
  const progress = startProgress()
  try {
    return await work(progress, signal)
  } catch (error) {
    if (stopped && signal.aborted) throw new Refusal(stopped, { cause: error })
    if (!failure || error instanceof Refusal) throw error
    throw new Error(`${failure}: ${messageOf(error)}`, { cause: error })
  } finally {
    progress.end()
  }
}

const describe = ({ what, done, of, rows, unit = 'rows' }: Step, milliseconds: number): string => {
  const share = of === null ? null : of > 0 ? Math.min(done / of, 1) : 1
  const parts = [printable(what).padEnd(longestName)]
  if (share !== null) parts.push(`${barOf(share)} ${String(Math.floor(share * 100)).padStart(3)} %`)
  parts.push(`${numberOf(rows)} ${unit}`)
  if (milliseconds >= firstRateMilliseconds) {
    parts.push(`${numberOf((rows / milliseconds) * 1_000)}/s`)
    if (share) parts.push(`${durationOf((milliseconds * (1 - share)) / share)} left`)
  }
  return parts.join('  ')
}

const barOf = (share: number): string => {
  const filled = Math.round(share * barWidth)
  return '█'.repeat(filled) + '░'.repeat(barWidth - filled)
}

const numberOf = (value: number): string => Math.round(value).toLocaleString('en-US')

const durationOf = (milliseconds: number): string => {
  const seconds = Math.ceil(milliseconds / 1_000)
  const clock = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0')).join(':')
  return seconds < 3_600 ? clock : `${Math.floor(seconds / 3_600)}:${clock}`
}
