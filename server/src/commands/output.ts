import { styleText } from 'node:util'
import { printable } from '../foreign-text.ts'

/** What a command says: one JSON document with `--json`, otherwise words for a person. */
export type Shown = Record<string, unknown>

export const showJson = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

export const showLines = (...lines: string[]): void => {
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Progress and warnings, away from what a script reads. */
export const say = (line: string): void => {
  process.stderr.write(`${styleText('dim', printable(line), { stream: process.stderr })}\n`)
}

/** A failure, in one line. */
export const complain = (message: string): void => {
  const name = styleText('red', 'masthead:', { stream: process.stderr })
  process.stderr.write(`${name} ${printable(message.trim().replaceAll(/\s*\n\s*/g, ' '))}\n`)
}

/** What to do about it, where that takes more than a line: to be copied as it stands. */
export const showSteps = (steps: readonly string[]): void => {
  if (steps.length > 0) process.stderr.write(`\n${steps.map((step) => `  ${printable(step)}\n`).join('')}`)
}

/** What went wrong, also when several addresses of a host were tried and the error of the whole says nothing. */
export const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}

export const strong = (text: string): string => styleText('bold', printable(text), { stream: process.stdout })
export const faint = (text: string): string => styleText('dim', printable(text), { stream: process.stdout })

export const showTable = (rows: readonly Shown[], columns: readonly string[], nothing: string): void => {
  if (rows.length === 0) {
    showLines(faint(nothing))
    return
  }
  const cells = rows.map((row) => columns.map((column) => printable(cellOf(row[column]))))
  const widths = columns.map((column, index) => Math.max(column.length, ...cells.map((row) => row[index]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  showLines(strong(line(columns)), ...cells.map(line))
}

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return '-'
  if (value instanceof Date) return value.toISOString()
  return Array.isArray(value) ? value.join(' ') : String(value)
}
