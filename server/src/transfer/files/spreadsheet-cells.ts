import type { Cell } from './cell.ts'

/**
 * What a spreadsheet could take for the beginning of a formula, as OWASP lists it, and the apostrophe itself: a class of
 * characters in regular expressions of both JavaScript and PostgreSQL.
 */
const risky = `[=+@\\t\\r\\n＝＋－＠'-]`

export const riskyBeginning = `^${risky}`
const isRisky = new RegExp(riskyBeginning)

/** Only risky cells get an apostrophe in front, so removing one always restores the cell. */
export const spreadsheetCell = (cell: string | null): string | null =>
  cell !== null && isRisky.test(cell) ? `'${cell}` : cell

export const cellOfSpreadsheet = (cell: Cell): Cell =>
  typeof cell === 'string' && cell.startsWith(`'`) ? cell.slice(1) : cell

/** Whether a text speaks for marks, against them, or for neither: without marks, no text begins in a risky way. */
export const markOf = (text: string): 'marked' | 'unmarked' | null => {
  if (!isRisky.test(text)) return null
  return text.startsWith(`'`) && isRisky.test(text.slice(1)) ? 'marked' : 'unmarked'
}
