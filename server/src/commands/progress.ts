import { performance } from 'node:perf_hooks'
import { printable } from '../foreign-text.ts'

/** How far a long command is: one line on a terminal, drawn over and over; nothing where nobody looks. */
export type Progress = {
  show: (step: Step) => void
  /** Wipes the line. */
  end: () => void
}

export type Step = {
  what: string
  /** In whatever unit the work is measured, such as bytes. */
  done: number
  /** Null when nobody knows. */
  of: number | null
  rows: number
  /** What is counted, when it is no rows. */
  unit?: string
}

type Terminal = { isTTY?: boolean; columns?: number; write: (text: string) => unknown }

const redrawMilliseconds = 100
/** Before that, rates say nothing. */
const firstRateMilliseconds = 1_000
/** With it, a million rows at a hundred thousand a second fit into 80 columns. */
const barWidth = 16
/** Of a resource: `subscriptions`. */
const longestName = 13
const wipe = '\r\u001B[K'

export const startProgress = (terminal: Terminal = process.stderr, now = () => performance.now()): Progress => {
  if (!terminal.isTTY) return { show: () => {}, end: () => {} }
  let what: string | undefined
  let begun = 0
  let drawn = Number.NEGATIVE_INFINITY
  return {
    show: (step) => {
      const time = now()
      if (step.what !== what) begun = time
      what = step.what
      if (time - drawn < redrawMilliseconds) return
      drawn = time
      // A line that wraps could not be drawn over.
      terminal.write(wipe + describe(step, time - begun).slice(0, (terminal.columns ?? 80) - 1))
    },
    end: () => {
      if (what !== undefined) terminal.write(wipe)
      what = undefined
      drawn = Number.NEGATIVE_INFINITY
    },
  }
}

const describe = (step: Step, milliseconds: number): string => {
  const { what, done, of, rows, unit = 'rows' } = step
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

export const megabytes = (bytes: number): number => Math.ceil(bytes / 1_000_000)
