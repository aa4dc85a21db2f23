/** A format that is recognised by how its bytes begin, and what to do with such a file. */
type OtherFormat = { name: string; remedy: string }

const save = 'save it as .xlsx or CSV'
const table = 'export the table as CSV or .xlsx'
const unpack = 'unpack it first'

/** Each begins with these bytes, as Latin-1, after so many others. */
const formats: [beginning: string, name: string, remedy: string, after?: number][] = [
  ['\xd0\xcf\x11\xe0', 'an old workbook (.xls)', save],
  ['%PDF', 'a PDF', table],
  ['\x89PNG', 'a picture (PNG)', table],
  ['\xff\xd8\xff', 'a picture (JPEG)', table],
  ['GIF8', 'a picture (GIF)', table],
  ['WEBP', 'a picture (WebP)', table, 8],
  ['II*\0', 'a picture (TIFF)', table],
  ['MM\0*', 'a picture (TIFF)', table],
  ['ftyp', 'a picture or a film', table, 4],
  ['{\\rtf', 'a text document (RTF)', table],
  ['SQLite format 3\0', 'a database (SQLite)', table],
  ['PAR1', 'a Parquet file', table],
  ['7z\xbc\xaf', 'an archive (7z)', unpack],
  ['Rar!', 'an archive (RAR)', unpack],
  ['BZh', 'an archive (bzip2)', unpack],
  ['\xfd7zXZ', 'an archive (xz)', unpack],
  ['\x28\xb5\x2f\xfd', 'an archive (zstd)', unpack],
]

/** Some programs write a web page and call it .xls. */
const webPage = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head|body|table)\b/i

export const otherFormatOf = (beginning: Buffer): OtherFormat | null => {
  const text = beginning.subarray(0, 512).toString('latin1')
  if (webPage.test(text)) return { name: 'a web page (HTML)', remedy: `open it in a spreadsheet, and ${save}` }
  if (/^(?:\xef\xbb\xbf)?<\?xml\b/.test(text)) return { name: 'XML', remedy: table }
  const [, name, remedy] = formats.find(([beginning, , , after = 0]) => text.startsWith(beginning, after)) ?? []
  return name === undefined || remedy === undefined ? null : { name, remedy }
}

/** Of other bytes, every tenth is a control character that no text has. A single one is told of with its row. */
const mostControls = 0.05
const fewestControls = 4

export const isText = (beginning: Uint8Array): boolean => {
  let controls = 0
  for (const byte of beginning) if ((byte < 0x20 && (byte < 0x08 || byte > 0x0d)) || byte === 0x7f) controls++
  return controls < fewestControls || controls <= beginning.length * mostControls
}
