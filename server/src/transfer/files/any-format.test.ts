import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { sheetOf, workbookFile } from '../../../test/records/zip-file.ts'
import { Refusal } from '../../refusal.ts'
import { csvLine } from './csv-rows.ts'
import { type Escapes, escapedLine } from './escaped-rows.ts'
import { openSourceFile } from './source-file.ts'
import { type Encoding, encodeText } from './text-encoding.ts'
import { zipFile } from './zip-file.ts'

const folder = await mkdtemp(join(tmpdir(), 'masthead-formats-'))
after(() => rm(folder, { recursive: true, force: true }))

type Row = (string | null)[]
const header = ['one', 'two', 'three']

/** Undefined when it is refused unless somebody decides. */
const read = async (bytes: Uint8Array, name: string, escapes?: Escapes): Promise<Row[] | undefined> => {
  const path = join(folder, name)
  await writeFile(path, bytes)
  const file = await openSourceFile(path, { escapes }).catch((error) => {
    if (error instanceof Refusal) return null
    throw error
  })
  if (!file || file.isEncodingDoubtful || file.otherEscapes.length > 0) return undefined
  const rows: Row[] = []
  for await (const batch of file.rows())
    rows.push(...batch.map(({ cells }) => cells.map((cell) => cell as string | null))) // no cell is typed here
  return rows
}

const letters = (characters: string) => fc.string({ unit: fc.constantFrom(...characters), maxLength: 8 })
const special = 'aZ09 \t\r\n"\'\\N,;=+-@éß'
const cell = (characters: string) =>
  fc.oneof(letters(characters), fc.constantFrom(null, '\\N', '', 'sep=;', 'PK\x03\x04', '{"a":1}', '[{', "'=1"))
const table = (characters: string) =>
  fc.array(fc.tuple(cell(characters), cell(characters), cell(characters)), { minLength: 1, maxLength: 6 })

type Form = { characters: string; write: (rows: Row[]) => Buffer; name: string; escapes?: Escapes }
const forms: Record<string, Form> = {}
const escaped = (rows: Row[], delimiter: string, isEnclosed = false) =>
  Buffer.from(rows.map((row) => escapedLine(row, { delimiter, isEnclosed }, '\n')).join(''))
for (const delimiter of [',', ';', '\t'])
  for (const encoding of ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] satisfies Encoding[]) {
    const characters = encoding === 'windows-1252' ? `${special}€–` : `${special}€–Ж東😀\uFEFF`
    const mark = encoding.startsWith('utf-16') ? '\uFEFF' : ''
    forms[`CSV with ${JSON.stringify(delimiter)} in ${encoding}`] = {
      characters,
      name: 'a.csv',
      write: (rows) => encodeText(mark + [header, ...rows].map((row) => csvLine(row, delimiter)).join(''), encoding),
    }
  }
forms['tabs with backslashes'] = {
  characters: `${special}Ж😀`,
  name: 'a.tsv',
  // Only a cell that is null tells that there are escapes.
  write: (rows) => escaped([header, [null, null, null], ...rows], '\t'),
}
for (const delimiter of [',', '\t'])
  forms[`${JSON.stringify(delimiter)}, quotes and backslashes, where somebody says so`] = {
    characters: `${special}Ж😀`,
    name: 'a.csv',
    escapes: 'both',
    write: (rows) => escaped([header, ...rows], delimiter, true),
  }
forms['lines of JSON'] = {
  characters: `${special}Ж😀`,
  name: 'a.ndjson',
  write: (rows) => Buffer.from(rows.map((row) => JSON.stringify(objectOf(row))).join('\n')),
}
forms['an array of JSON, packed'] = {
  characters: `${special}Ж😀`,
  name: 'a.json',
  write: (rows) => gzipSync(JSON.stringify(rows.map(objectOf), null, 2)),
}
forms['a workbook'] = {
  characters: `${special}Ж😀<&>_x000D_`,
  name: 'a.xlsx',
  write: (rows) => workbookFile(sheetOf([header, ...rows])),
}
forms['a workbook in an archive'] = {
  characters: special,
  name: 'a.zip',
  write: (rows) => zipFile({ 'folder/accounts.xlsx': workbookFile(sheetOf([header, ...rows])) }),
}

const objectOf = (row: Row) => Object.fromEntries(header.map((name, index) => [name, row[index] ?? null]))

describe('whatever texts are in a table', () => {
  for (const [name, { characters, write, name: fileName, escapes }] of Object.entries(forms)) {
    test(`they are read as they were from ${name}`, async () => {
      await fc.assert(
        fc.asyncProperty(table(characters), async (rows) => {
          const bytes = write(rows)
          // The same bytes may be words in UTF-8, and only a person could tell.
          fc.pre(!/windows-1252/.test(name) || !isUtf8(bytes) || !/[\xe0-\xef]/.test(bytes.toString('latin1')))
          const got = await read(bytes, fileName, escapes)
          fc.pre(got !== undefined)
          const isSheet = /workbook/.test(name)
          // A sheet has neither empty texts nor empty rows.
          const expected = isSheet
            ? rows.map((row) => row.map((text) => text || null)).filter((row) => row.some((text) => text !== null))
            : rows
          assert.deepEqual(name === 'tabs with backslashes' ? got?.slice(1) : got, expected)
        }),
        { numRuns: 60 },
      )
    })
  }
})
