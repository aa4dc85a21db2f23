import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { until } from '../../../test/processes/masthead-process.ts'
import { Refusal } from '../../refusal.ts'
import type { Bounds } from './bounds.ts'
import { TypedCell, textOfCell } from './cell.ts'
import type { SourceRow } from './csv-rows.ts'
import type { Escapes } from './escaped-rows.ts'
import { openSourceFile } from './source-file.ts'
import { type Encoding, encodeText, textReader } from './text-encoding.ts'

const folder = await mkdtemp(join(tmpdir(), 'masthead-source-'))
after(() => rm(folder, { recursive: true, force: true }))

let count = 0
const write = async (contents: string | Uint8Array, name = 'records.csv'): Promise<string> => {
  const path = join(folder, `${++count}`, name)
  await mkdir(join(folder, `${count}`))
  await writeFile(path, contents)
  return path
}
const allOf = async <R>(batches: AsyncGenerator<R[]>): Promise<R[]> => {
  const rows: R[] = []
  for await (const batch of batches) rows.push(...batch)
  return rows
}
const rowsOf = async (contents: string | Uint8Array, name?: string): Promise<SourceRow[]> =>
  allOf((await openSourceFile(await write(contents, name))).rows())
const openFiles = (): string[] =>
  readdirSync('/proc/self/fd').map((number) => {
    try {
      return readlinkSync(`/proc/self/fd/${number}`)
    } catch {
      // The one that listed them.
      return ''
    }
  })
const refusal = async (contents: string | Uint8Array, name?: string): Promise<string> => {
  const path = await write(contents, name)
  return refusalOf(path)
}
const refusalOf = async (path: string, bounds?: Bounds): Promise<string> => {
  try {
    await allOf<unknown>((await openSourceFile(path, { bounds })).rows())
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    assert.ok(error.message.includes(path), error.message)
    return error.message.replaceAll(path, 'FILE')
  }
  assert.fail('it was read')
}

describe('a file', () => {
  const table = 'id,name\n1,Ada\n'
  const lines = '{"id":1}\n{"id":2}\n'

  test('is what its bytes say, and what its name says where they leave doubt', async () => {
    for (const name of ['a.csv', 'a.tsv', 'a.txt', 'A.CSV', 'a.csv.gz', 'a.b.Csv', 'a', 'a.xlsx']) {
      assert.deepEqual(await rowsOf(table, name), [{ line: 2, cells: ['1', 'Ada'] }], name)
    }
    const objects = [1, 2].map((id) => ({ line: id, cells: [new TypedCell('number', `${id}`)], json: `{"id":${id}}` }))
    for (const name of ['a.ndjson', 'a.jsonl', 'a.JSONL', 'a.ndjson.gz', 'a.csv', 'a'])
      assert.deepEqual(await rowsOf(lines, name), objects, name)
    for (const name of ['a.json', 'a.txt'])
      assert.deepEqual(await rowsOf('[{"id":1},\n {"id":2}]\n', name), objects, name)
  })

  test('of JSON has a column for each property, those of nested objects by dotted names', async () => {
    const file = await openSourceFile(
      await write('[{"id":"1","address":{"city":"Ort","geo":{"lat":1.5}}},{"name":null,"id":"2","tags":[1]}]'),
    )
    const rows = await allOf(file.rows())
    assert.deepEqual(file.header, ['id', 'address.city', 'address.geo.lat', 'name', 'tags'])
    assert.deepEqual(
      rows.map(({ cells }) => Array.from(cells, (cell) => textOfCell(cell))),
      [
        ['1', 'Ort', '1.5'],
        ['2', null, null, null, 'must be a text, true, false, null, or a number of at most 15 digits'],
      ],
    )
    for (const text of ['[{"id":1}', '[{"id":1}] x', '[{"id":"'])
      assert.match(await refusal(text), /^FILE cannot be read: (its array is not closed|something follows its array)/)
  })

  test('may have a line in front that names its separator', async () => {
    for (const [text, expected] of [
      ['sep=;\nid,x;name\n1;Ada\n', ['1', 'Ada']],
      ['"sep=,"\r\nid;x,name\r\n1,Ada\r\n', ['1', 'Ada']],
      ['sep=\t\nid\tname,first\n1\tAda\n', ['1', 'Ada']],
    ] as const)
      assert.deepEqual(await rowsOf(text), [{ line: 3, cells: expected }])
    assert.deepEqual((await openSourceFile(await write('sepal,petal\n1,2\n'))).header, ['sepal', 'petal'])
    assert.deepEqual((await openSourceFile(await write('sep\n1\n'))).header, ['sep'])
  })

  test('has null for an unquoted \\N, with any separator, and text for a quoted one', async () => {
    for (const separator of [',', ';']) {
      const text = ['id,name,note', '1,\\N,"\\N"', '2,"a",C:\\New'].join('\n').replaceAll(',', separator)
      const cells = (await rowsOf(text)).map((row) => row.cells)
      assert.deepEqual(cells, [
        ['1', null, '\\N'],
        ['2', 'a', 'C:\\New'],
      ])
    }
  })

  test('of tabs with \\N has backslash escapes, and one without has none', async () => {
    const escaped = await openSourceFile(
      await write('id\tname\tnote\n1\t\\N\ta\\tb\\nc\\\\d\\\ne\n2\t"x\t\\\tz\n', 'a.tsv'),
    )
    assert.equal(escaped.escapes, 'backslashes')
    assert.deepEqual(await allOf(escaped.rows()), [
      { line: 2, cells: ['1', null, 'a\tb\nc\\d\ne'] },
      { line: 4, cells: ['2', '"x', '\tz'] },
    ])
    const windows = await openSourceFile(await write('id\tname\r\n\\N\tC:\\\\\r\n2\ta\\\r\r\n', 'a.tsv'))
    assert.deepEqual(
      (await allOf(windows.rows())).map(({ cells }) => cells),
      [
        [null, 'C:\\'],
        ['2', 'a\r'],
      ],
    )
    const plain = await openSourceFile(await write('id\tname\n1\tC:\\New\\N\n', 'a.tsv'))
    assert.equal(plain.escapes, 'quotes')
    assert.deepEqual((await allOf(plain.rows()))[0]?.cells, ['1', 'C:\\New\\N'])
  })

  test('of tabs with \\N and quotes, or of commas with \\N and backslashes, can be read in several ways', async () => {
    const cellsOf = async (path: string, escapes?: Escapes) => {
      const file = await openSourceFile(path, { escapes })
      return [file.otherEscapes, ...(await allOf(file.rows())).map(({ cells }) => cells)]
    }
    const tabs = await write('id\tname\tnote\n1\t\\N\t"a\\\\b"\n', 'a.tsv')
    assert.deepEqual(await cellsOf(tabs), [
      ['backslashes', 'both'],
      ['1', null, 'a\\\\b'],
    ])
    assert.deepEqual(await cellsOf(tabs, 'quotes'), [[], ['1', null, 'a\\\\b']])
    assert.deepEqual(await cellsOf(tabs, 'backslashes'), [[], ['1', null, '"a\\b"']])
    assert.deepEqual(await cellsOf(tabs, 'both'), [[], ['1', null, 'a\\b']])
    const commas = await write('id,name,note\n1,\\N,"C:\\\\Temp, \\"x\\""\n2,\\N,"a\\\nb"\n')
    assert.deepEqual((await cellsOf(commas))[0], ['both'])
    assert.deepEqual(await cellsOf(commas, 'both'), [[], ['1', null, 'C:\\Temp, "x"'], ['2', null, 'a\nb']])
    // Quotes that backslashes protect leave the last one open, or meet in one cell.
    const inches = await write('id,name,note\n1,\\N,"5\\""\n2,\\N,b\n')
    assert.deepEqual(await cellsOf(inches), [['backslashes'], ['1', null, '5"'], ['2', null, 'b']])
    const pairs = await write('id;name;note\n1;\\N;"5\\""\n2;\\N;"6\\""\n')
    assert.deepEqual((await cellsOf(pairs))[0], ['both'])
    assert.deepEqual(await cellsOf(pairs, 'both'), [[], ['1', null, '5"'], ['2', null, '6"']])
    assert.match(await refusal('id,name,note\n1,\\N,a\n2,\\N,"open\n'), /opens on line 3 is never closed/)
    // MySQL would have doubled these.
    const paths = await write('id,name,note\n1,\\N,"\\\\server\\share"\n')
    assert.deepEqual(await cellsOf(paths), [[], ['1', null, '\\\\server\\share']])
  })

  test('that is a picture, a web page or no text at all is refused as what it is', async () => {
    const picture = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
    assert.equal(await refusal(picture), 'FILE is a picture (PNG): export the table as CSV or .xlsx')
    assert.match(await refusal('RIFF\x10\0\0\0WEBPVP8 '), /^FILE is a picture \(WebP\)/)
    assert.match(await refusal('\n<html><body><table>', 'contacts.xls'), /^FILE is a web page \(HTML\): open it in/)
    const bytes = Buffer.from(Array.from({ length: 4_000 }, (_, index) => (index * 7_919 + (index >> 3) * 31) % 256))
    assert.match(await refusal(bytes), /^FILE is not text, and no workbook/)
  })

  test('is unpacked when its bytes are gzip, whatever its name', async () => {
    for (const name of ['a.csv', 'a.csv.gz']) {
      const expected = [{ line: 2, cells: ['1', 'Ada'] }]
      assert.deepEqual(await rowsOf(table, name), expected)
      assert.deepEqual(await rowsOf(gzipSync(table), name), expected)
      const [start, end] = [table.slice(0, 4), table.slice(4)]
      assert.deepEqual(await rowsOf(Buffer.concat([gzipSync(start), gzipSync(end)]), name), expected)
      assert.deepEqual(await rowsOf(Buffer.concat([gzipSync(table), Buffer.alloc(512)]), name), expected)
    }
  })

  test('has a header whose names are trimmed, and otherwise as they are', async () => {
    const header = async (text: string) => (await openSourceFile(await write(text))).header
    assert.deepEqual(await header(' id ,"full name ",,id\n'), ['id', 'full name', '', 'id'])
    assert.deepEqual(await header('\uFEFF"id";name'), ['id', 'name'])
    assert.deepEqual(await header('\n\r\nid\n'), ['id'])
  })

  test('can be read again, and tells how far it has been read', async () => {
    const row = `${'x'.repeat(99)},1\n`
    const contents = `id,name\n${row.repeat(20_000)}`
    for (const given of [contents, gzipSync(contents, { level: 0 })]) {
      const file = await openSourceFile(await write(given))
      assert.equal(file.size, Buffer.byteLength(given))
      for (const _ of ['once', 'twice']) {
        let rows = 0
        let before = 0
        for await (const batch of file.rows()) {
          assert.ok(file.bytes() >= before && file.bytes() <= file.size)
          if (rows === 0) assert.ok(file.bytes() < file.size / 2, 'it is not read at once')
          before = file.bytes()
          rows += batch.length
        }
        assert.equal(file.bytes(), file.size)
        assert.equal(rows, 20_000)
      }
    }
  })

  test('is closed when its reader stops early', { skip: !existsSync('/proc/self/fd') }, async () => {
    const contents = `id\n${'1\n'.repeat(500_000)}`
    for (const given of [contents, gzipSync(contents)]) {
      const file = await openSourceFile(await write(given))
      for await (const _ of file.rows()) break
      await until('it is closed', () => !openFiles().includes(file.path))
      assert.equal((await allOf(file.rows())).length, 500_000)
    }
  })

  test('gives the lines of NDJSON that are not blank', async () => {
    const file = await openSourceFile(await write('\uFEFF{"a":1}\r\n\n  \n {"b":"\u2028"}\n[1', 'a.ndjson'))
    const expected = [
      { line: 1, json: '{"a":1}' },
      { line: 4, json: '{"b":"\u2028"}' },
      { line: 5, json: '[1' },
    ]
    const linesOf = async () => (await allOf(file.rows())).map(({ line, json }) => ({ line, json }))
    assert.deepEqual(await linesOf(), expected)
    assert.deepEqual(await linesOf(), expected)
  })

  test('of NDJSON may be empty: that is how no records are written', async () => {
    for (const contents of ['', '\n\n', gzipSync('')]) {
      assert.deepEqual(await allOf<unknown>((await openSourceFile(await write(contents, 'a.ndjson'))).rows()), [])
    }
  })
})

describe('a text', () => {
  test('may have a byte order mark, and any other stays', async () => {
    assert.deepEqual((await rowsOf('\uFEFFid,name\n1,\uFEFF\n'))[0]?.cells, ['1', '\uFEFF'])
  })

  test('in UTF-16 is read, with a byte order mark or without, and one in UTF-32 is refused', async () => {
    const utf16 = Buffer.from('id,name\n1,Ada\n', 'utf16le')
    const bigEndian = Buffer.from(utf16).swap16()
    const utf32 = Buffer.concat([...'id,name\n'].map((character) => Buffer.from([character.charCodeAt(0), 0, 0, 0])))
    const marked = (mark: number[], text: Buffer) => Buffer.concat([Buffer.from(mark), text])
    for (const contents of [utf16, bigEndian, marked([0xff, 0xfe], utf16), marked([0xfe, 0xff], bigEndian)]) {
      for (const given of [contents, gzipSync(contents)])
        assert.deepEqual(await rowsOf(given), [{ line: 2, cells: ['1', 'Ada'] }])
    }
    for (const contents of [
      utf32,
      marked([0xff, 0xfe, 0, 0], utf32),
      marked([0, 0, 0xfe, 0xff], Buffer.from(utf32).swap32()),
    ]) {
      assert.equal(await refusal(contents), 'FILE is UTF-32, save it as UTF-8')
    }
  })

  test('that is no UTF-8 is Windows-1252, unless it is said to be Latin-1', async () => {
    const bytes = Buffer.from('id,name\n1,Ren\xe9 \x80\x96\n', 'latin1')
    const file = await openSourceFile(await write(bytes))
    assert.deepEqual([file.encoding, file.isEncodingSure], ['windows-1252', true])
    assert.deepEqual((await allOf(file.rows()))[0]?.cells, ['1', 'René €–'])
    const latin = await openSourceFile(await write(bytes), { encoding: 'latin1' })
    assert.deepEqual((await allOf(latin.rows()))[0]?.cells, ['1', 'René \x80\x96'])
  })

  test('is written again in its encoding', () => {
    const texts: Record<Encoding, string> = {
      'utf-8': 'aé€😀\u{10080}\uDC80',
      'utf-16le': 'aé€😀',
      'utf-16be': 'aé€😀',
      'windows-1252': 'aé€–Ÿ\uDC80',
      latin1: 'aéÿ\x80',
    }
    for (const [name, text] of Object.entries(texts)) {
      const encoding = name as Encoding // one of its keys
      const reader = textReader(encoding)
      assert.equal(reader.push(encodeText(text, encoding)) + reader.end(), text, encoding)
    }
  })

  test('that is partly UTF-8 makes only its own cells ill-formed', async () => {
    const latin = Buffer.from('id,name,city\n1,Ren\xe9,Z\xfcrich\n2,Ada,\n', 'latin1')
    const utf8 = Buffer.from('3,René,\uFFFD\n4,😀,\uD7FF\n')
    const cut = Buffer.from('5,😀', 'utf8').subarray(0, 5)
    const cells = (await rowsOf(Buffer.concat([latin, utf8, cut]))).map((row) => row.cells)
    assert.deepEqual(cells, [
      ['1', 'Ren\uDC80', 'Z\uDC80rich'],
      ['2', 'Ada', null],
      ['3', 'René', '\uFFFD'],
      ['4', '😀', '\uD7FF'],
      ['5', '\uDC80'],
    ])
    assert.deepEqual(
      cells.flat().map((cell) => cell?.isWellFormed() ?? true),
      [true, false, false, true, true, true, true, true, true, true, true, true, true, false],
    )
  })

  test('is the same in whatever pieces its bytes come', () => {
    const decode = (pieces: Uint8Array[]): string => {
      const text = textReader('utf-8')
      return pieces.map((piece) => text.push(piece)).join('') + text.end()
    }
    const characters = fc.constantFrom('a', ',', 'é', '東', '😀', '\uFFFD', '\uFEFF').map((text) => Buffer.from(text))
    const bytes = fc.uint8Array({ maxLength: 3 }).map((array) => Buffer.from(array))
    const leads = fc
      .constantFrom(0xc3, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff, 0x80, 0xbf)
      .map((byte) => Buffer.from([byte]))
    const property = fc.property(
      fc.array(fc.oneof(characters, bytes, leads), { maxLength: 30 }),
      fc.nat(40),
      (parts, size) => {
        // Begins with letters, so that it is no other encoding.
        const all = Buffer.concat([Buffer.from('name'), ...parts])
        const inPieces = (length: number) =>
          Array.from({ length: Math.ceil(all.length / length) }, (_, index) =>
            all.subarray(index * length, (index + 1) * length),
          )
        const expected = decode([all])
        assert.equal(decode(inPieces(1)), expected)
        assert.equal(decode(inPieces(size + 1)), expected)
        const unreadable = new TextDecoder('utf-8', { ignoreBOM: true }).decode(all)
        assert.equal(expected.replaceAll(/(?<![\uD800-\uDBFF])\uDC80/g, '\uFFFD'), unreadable)
        if (!/(?<![\uD800-\uDBFF])\uDC80/.test(expected)) assert.deepEqual(Buffer.from(expected), all)
      },
    )
    fc.assert(property, { numRuns: 2_000 })
  })
})

describe('a refusal', () => {
  test('says that there is nothing in the file', async () => {
    for (const contents of ['', '\n', '\r\n\r\n', '\uFEFF', '\uFEFF\n', gzipSync(''), gzipSync('\n')]) {
      assert.equal(await refusal(contents), 'FILE is empty: its first line must name the columns')
    }
  })

  test('says that there is no such file, or that it is none', async () => {
    assert.equal(await refusalOf(join(folder, 'none.csv')), 'FILE does not exist: check the path')
    const directory = join(folder, 'folder.csv')
    await mkdir(directory)
    assert.equal(await refusalOf(directory), 'FILE is a folder, not a file: name the file in it')
    assert.equal(await refusalOf(join(await write('id\n'), 'below.csv')), 'FILE does not exist: check the path')
  })

  test('says that a pipe is no file, without waiting for it', { skip: process.platform === 'win32' }, async () => {
    const pipe = join(folder, 'pipe.csv')
    execFileSync('mkfifo', [pipe])
    assert.equal(await refusalOf(pipe), 'FILE is not a regular file, and could not be read twice: copy it into one')
  })

  test('says that the file may not be read', { skip: process.platform === 'win32' }, async () => {
    const path = await write('id\n')
    await chmod(path, 0)
    const isRoot = process.geteuid?.() === 0
    // Root may read everything, so nobody reads it.
    if (isRoot) process.seteuid?.(65_534)
    try {
      assert.equal(await refusalOf(path), 'FILE may not be read by this user: let it read the file')
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
  })

  test('says that gzip data is cut off or damaged', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => `${index},${(index * 7919) % 10_007}\n`).join('')
    const packed = gzipSync(`id,name\n${rows}`)
    for (const end of [5, 12, packed.length >> 1, packed.length - 1]) {
      assert.equal(
        await refusal(packed.subarray(0, end)),
        'FILE is cut off: its gzip data ends too early, copy it again',
      )
    }
    const damaged = [packed.length >> 1, packed.length - 6].map((place) => {
      const copy = Buffer.from(packed)
      copy.writeUInt8((copy[place] ?? 0) ^ 0x55, place)
      return copy
    })
    for (const contents of [...damaged, Buffer.concat([packed, Buffer.from('more')])]) {
      assert.equal(await refusal(contents), 'FILE is damaged: its gzip data cannot be unpacked, copy it again')
    }
  })

  test('says that the file is something else, or a damaged archive', async () => {
    assert.match(await refusal('PK\x03\x04 and so on'), /^FILE is damaged: its ZIP data cannot be unpacked/)
    const old = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1])
    assert.equal(await refusal(old, 'a.xls'), 'FILE is an old workbook (.xls): save it as .xlsx or CSV')
    assert.equal(await refusal('%PDF-1.7'), 'FILE is a PDF: export the table as CSV or .xlsx')
  })

  test('says that the file changed between two readings', async () => {
    const path = await write('id\n1\n')
    const file = await openSourceFile(path)
    await utimes(path, 1, 1)
    await assert.rejects(
      allOf(file.rows()),
      new Refusal(`${path} was changed while it was being read: start again when it is complete`),
    )
  })

  test('says where a quote or a line is without end', async () => {
    assert.equal(
      await refusal('id,name\n1,"Ada\n'),
      'the quote that FILE opens on line 2 is never closed: close it, or double it where it is part of a text',
    )
    assert.equal(
      await refusal(`id,name\n1,"Ada\n${'2,Bob\n'.repeat(3_000_000)}`),
      'the row on line 2 of FILE is longer than 16 MiB: close the quote that is left open, or choose a file that holds a table',
    )
    assert.equal(
      await refusal(`{"a":1}\n[${'{"a":2},'.repeat(2_200_000)}]`, 'a.ndjson'),
      'line 2 of FILE is longer than 16 MiB: write one JSON object a line',
    )
  })

  test('says what it may hold at most, and what reading it may cost', async () => {
    const bounded = async (bounds: Partial<Bounds>, contents: string | Uint8Array, name?: string) => {
      const most = { bytes: 1e9, rows: 1e9, processorSeconds: 1e9, ...bounds }
      return refusalOf(await write(contents, name), most)
    }
    const remedy = 'split it into several files, or ask the operator of the service to import it from the command line'
    const packed = gzipSync(`id\n${'1\n'.repeat(1_000_000)}`)
    assert.ok(packed.length < 10_000)
    const bytes = `FILE holds more than 10,000 bytes, unpacked: ${remedy}`
    assert.equal(await bounded({ bytes: 10_000 }, packed, 'a.csv.gz'), bytes)
    const rows = `FILE has more than 1,000 rows: ${remedy}`
    assert.equal(await bounded({ rows: 1_000 }, packed, 'a.csv.gz'), rows)
    for (const name of ['a.csv', 'a.ndjson'])
      for (const text of ['1\n', '\n']) assert.equal(await bounded({ rows: 1_000 }, text.repeat(1_001), name), rows)
    const time = `reading FILE took more than 0 seconds of processor time: ${remedy}`
    assert.equal(await bounded({ processorSeconds: 0 }, 'id\n1\n'), time)
    const enough = { bytes: 2_000, rows: 1_000, processorSeconds: 1e9 }
    for (const [name, count] of [
      ['a.csv', 999],
      ['a.ndjson', 1_000],
    ] as const) {
      const file = await openSourceFile(await write('1\n'.repeat(1_000), name), { bounds: enough })
      assert.equal((await allOf<unknown>(file.rows())).length, count)
    }
  })

  test('says that the header cannot be read', async () => {
    assert.match(await refusal('"id"x,name\n'), /^the header of FILE cannot be read: text follows the quote/)
  })
})
