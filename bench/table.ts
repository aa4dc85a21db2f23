import { styleText } from 'node:util'
import type { JudgedBar } from './bars.ts'
import { type Results, summaryOf } from './rounds.ts'
import { type ServerName, serverNames } from './workloads.ts'

/** What is shown on the terminal. */
const labels: Record<ServerName, string> = {
  masthead: 'Masthead',
  memory: 'limit: in memory',
  stored: 'limit: stored bodies',
  express: 'peer: Express, TypeORM',
  go: 'peer: Go, pgx',
  tunedGo: 'peer: Go, tuned',
  postgres: 'PostgreSQL alone',
}

const strong = (text: string): string => styleText('bold', text, { stream: process.stdout })
const faint = (text: string): string => styleText('dim', text, { stream: process.stdout })

export const tableOf = (results: Results): string => {
  const lines = [strong(line('', '', 'per second', 'p50 ms', 'p99 ms', 'CPU µs', 'Masthead'))]
  for (const [{ name: workload, charted }, ofServers] of results) {
    if (charted) continue
    const ours = summaryOf(ofServers.masthead)
    let name = workload
    for (const server of serverNames) {
      const summary = summaryOf(ofServers[server])
      if (!summary) continue
      const { rate, p50, p99, processor } = summary
      const ratio = server === 'masthead' || !ours ? '' : `× ${digits(ours.rate / rate)}`
      const text = line(name, labels[server], ...[rate, p50, p99, processor].map(digits), ratio)
      lines.push(server === 'masthead' ? text : faint(text))
      name = ''
    }
  }
  return lines.length > 1 ? lines.join('\n') : ''
}

const line = (name: string, server: string, ...cells: readonly string[]): string =>
  `${name.padEnd(32)} ${server.padEnd(22)} ${cells.map((cell) => cell.padStart(10)).join(' ')}`.trimEnd()

/** Three digits that count. */
const digits = (value: number): string => {
  if (Number.isNaN(value)) return '–'
  if (value >= 1_000) return Math.round(value).toLocaleString('en')
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

export const barsTable = (bars: JudgedBar[]): string =>
  bars
    .map(({ name, value, unit, least, most, reached }) => {
      const bar = most === undefined ? `at least ${digits(least ?? 0)}` : `at most ${digits(most)}`
      const verdict = reached ? styleText('green', 'reached', out) : styleText('red', 'NOT REACHED', out)
      return `${name.padEnd(46)} ${digits(value).padStart(8)} ${unit.padEnd(4)} ${bar.padEnd(15)} ${verdict}`
    })
    .join('\n')

const out = { stream: process.stdout }
