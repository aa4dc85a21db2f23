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

export const cellOfSpreadsheet = (cell: string | null): string | null => (cell?.startsWith(`'`) ? cell.slice(1) : cell)
