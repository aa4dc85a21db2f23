import { styleText } from 'node:util'
import { printable } from '../foreign-text.ts'

export const showJson = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

export const showLines = (...lines: string[]): void => {
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Progress and warnings go to standard error, apart from what a script reads. */
export const say = (line: string): void => {
  process.stderr.write(`${styleText('dim', printable(line), { stream: process.stderr })}\n`)
}

/** A call of the API that can be pasted into a shell. */
export const curlLine = (api: string, token: string, list = 'contacts'): string =>
  `curl -H "Authorization: Bearer ${token}" "${api}/${list}?pageSize=3"`

/** Prints a failure in one line. */
export const complain = (message: string): void => {
  const name = styleText('red', 'masthead:', { stream: process.stderr })
  process.stderr.write(`${name} ${printable(message.trim().replaceAll(/\s*\n\s*/g, ' '))}\n`)
}

/** Prints the steps of a remedy so that they can be copied. */
export const showSteps = (steps: readonly string[]): void => {
  if (steps.length > 0) process.stderr.write(`\n${steps.map((step) => `  ${printable(step)}\n`).join('')}`)
}

export const strong = (text: string): string => styleText('bold', printable(text), { stream: process.stdout })
export const faint = (text: string): string => styleText('dim', printable(text), { stream: process.stdout })

export const count = (number: number, noun: string): string =>
  `${number} ${number === 1 ? noun : `${noun.replace(/y$/, 'ie')}s`}`

export const showTable = (
  rows: readonly Record<string, unknown>[],
  columns: readonly string[],
  textWithoutRows = '',
): void => {
  if (rows.length === 0) {
    showLines(faint(textWithoutRows))
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

/** As a shell takes it for one word. */
export const shellWord = (text: string): string =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
