import { constants, deflateRawSync } from 'node:zlib'
import { type PackedFile, zipFile } from '../../src/transfer/files/zip-file.ts'

/** The same text again and again between two others, packed in parts, as packing all of it at once would take seconds. */
export const packedAgain = (before: string, text: string, count: number, after = ''): PackedFile => {
  const part = (content: string) => deflateRawSync(Buffer.from(content), { finishFlush: constants.Z_FULL_FLUSH })
  const times = Math.max(Math.ceil(1_000_000 / text.length), 1)
  const large = part(text.repeat(times))
  const parts = [
    part(before),
    ...Array<Buffer>(Math.ceil(count / times)).fill(large),
    deflateRawSync(Buffer.from(after)),
  ]
  const size = before.length + text.length * times * Math.ceil(count / times) + after.length
  return { packed: Buffer.concat(parts), size, checksum: 0 }
}

const relations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="worksheet" Target="worksheets/sheet1.xml"/></Relationships>`
const main = `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`

/** A workbook with one sheet, of which only the parts are given that matter. */
export const workbookFile = (sheet: string | PackedFile, more: Record<string, string | PackedFile> = {}): Buffer =>
  zipFile({
    'xl/workbook.xml': main,
    'xl/_rels/workbook.xml.rels': relations,
    ...more,
    'xl/worksheets/sheet1.xml': sheet,
  })

/** The XML of a sheet with texts in its cells. */
export const sheetOf = (rows: readonly (readonly (string | null)[])[]): string => {
  const cellOf = (text: string | null) =>
    text === null ? '<c/>' : `<c t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`
  return `<worksheet><sheetData>${rows.map((row) => `<row>${row.map(cellOf).join('')}</row>`).join('')}</sheetData></worksheet>`
}

/** What XML does not hold is written as `_x000D_`, and so is what looks like that. */
const escapeXml = (text: string): string =>
  text
    .replaceAll(/_(?=x[0-9a-fA-F]{4}_)/g, '_x005F_')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML does not hold
    .replaceAll(/[\x00-\x1f\ufffe\uffff]/g, (one) => `_x${one.charCodeAt(0).toString(16).padStart(4, '0')}_`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
