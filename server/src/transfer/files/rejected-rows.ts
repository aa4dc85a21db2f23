/** Columns that a file of rejected rows has in front of its own; an import passes by them. */
export const rejectionColumns = ['rejected_line', 'rejected_column', 'rejected_reason']
/** The column that holds a line of NDJSON as it was. */
export const rowOfRejection = 'rejected_row'

/** Its cells are those of a spreadsheet, in which it is mended. */
export const isOfRejectedRows = (header: readonly string[]): boolean =>
  rejectionColumns.some((name) => header.includes(name))
