/**
 * What a spreadsheet could take for the beginning of a formula, as OWASP lists it, and the apostrophe itself: a class of
 * characters in regular expressions of both JavaScript and PostgreSQL.
 */
const risky = `[=+@\\t\\r\\n＝＋－＠'-]`

/** For SQL, too. */
export const riskyBeginning = `^${risky}`
const isRisky = new RegExp(riskyBeginning)

/** A cell that begins so gets an apostrophe in front, and no other does: whoever removes one in front of a cell has what it was. */
export const spreadsheetCell = (cell: string | null): string | null =>
  cell !== null && isRisky.test(cell) ? `'${cell}` : cell

export const cellOfSpreadsheet = (cell: string | null): string | null => (cell?.startsWith(`'`) ? cell.slice(1) : cell)
