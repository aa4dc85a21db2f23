import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { Refusal } from '../../refusal.ts'
import { CsvRows, csvLine, type SourceRow } from './csv-rows.ts'

const read = (millions: Iterable<string>): SourceRow[] => {
  const reader = new CsvRows('t.csv')
  return [...[...millions].flatMap((million) => reader.push(million)), ...reader.end()]
}
const cellsOf = (text: string) => read([text]).map(({ cells }) => cells)

/** Cuts the text at places that the numbers between 0 and 1 choose. */
const cut = (text: string, places: readonly number[]): string[] => {
  const ends = [...places.map((place) => Math.floor(place * text.length)), text.length].sort(
    (one, other) => one - other,
  )
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end))
}
const anyPlaces = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 })

describe('a row', () => {
  test('ends with \\n, with \\r\\n, or with the file', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const expected = [
        ['a', 'b'],
        ['1', '2'],
        ['3', '4'],
      ]
      assert.deepEqual(cellsOf(['a,b', '1,2', '3,4'].join(end)), expected)
      assert.deepEqual(cellsOf(['a,b', '1,2', '3,4', ''].join(end)), expected)
      assert.deepEqual(cellsOf(['"a",b', '1,"2"', '"3","4"', ''].join(end)), expected)
    }
  })

  test('keeps a \\r that ends no line', () => {
    assert.deepEqual(cellsOf('a,b\n1\r1,2\r\n"3\r",4\n'), [
      ['a', 'b'],
      ['1\r1', '2'],
      ['3\r', '4'],
    ])
  })

  test('has null for an empty cell and an empty text for quotes around nothing', () => {
    assert.deepEqual(cellsOf('a,b,c\n,"",\n"",,""\n,,'), [
      ['a', 'b', 'c'],
      [null, '', null],
      ['', null, ''],
      [null, null, null],
    ])
  })

  test('has in quotes whatever stands there, and one quote for two', () => {
    assert.deepEqual(cellsOf('a,b\n"x, ""y""\nz",""""\n'), [
      ['a', 'b'],
      ['x, "y"\nz', '"'],
    ])
  })

  test('keeps quotes and spaces of cells that do not begin with a quote', () => {
    assert.deepEqual(cellsOf('a,b\n5" nails, "x"\n'), [
      ['a', 'b'],
      ['5" nails', ' "x"'],
    ])
  })

  test('has as many cells as it has, whatever the header says', () => {
    assert.deepEqual(
      cellsOf('a,b\n1\n1,2,3\n"1"\n').map(({ length }) => length),
      [2, 1, 3, 1],
    )
  })

  test('names the line of its first character, counting blank lines and those in quotes', () => {
    const lines = (text: string) => read([text]).map(({ line }) => line)
    assert.deepEqual(lines('a,b\n1,2\n\n\n"3\n\n",4\n5,6'), [1, 2, 5, 8])
    assert.deepEqual(lines('\r\na,b\r\n"1\r\n2",3\r\n\r\n5,6\r\n'), [2, 3, 6])
    assert.deepEqual(lines('a,b\r"1\r2",3\r\r5,6\r'), [1, 2, 5])
  })

  test('is not a blank line', () => {
    assert.deepEqual(cellsOf('\n\na,b\n\n1,2\n\r\n\n'), [
      ['a', 'b'],
      ['1', '2'],
    ])
    assert.deepEqual(cellsOf('a\n\n1\n""\n\n'), [['a'], ['1'], ['']])
    assert.deepEqual(cellsOf('\n\r\n'), [])
    assert.deepEqual(cellsOf(''), [])
  })

  test('says what is wrong when text follows a closing quote, keeps it to the letter, and ends where its line does', () => {
    const rows = read(['a,b\n"1"x,2\n"3\n4" y,"5"\n6,"7"\n'])
    assert.deepEqual(rows, [
      { line: 1, cells: ['a', 'b'] },
      {
        line: 2,
        cells: ['"1"x', '2'],
        problem: 'text follows the quote that closes on line 2: a quote inside quotes must be doubled',
      },
      {
        line: 3,
        cells: ['"3\n4" y', '5'],
        problem: 'text follows the quote of line 3 that closes on line 4: a quote inside quotes must be doubled',
      },
      { line: 5, cells: ['6', '7'] },
    ])
  })

  test('with a quote that is never closed is refused, with the line of the quote', () => {
    const refused = (text: string, line: number) =>
      assert.throws(
        () => read([text]),
        new Refusal(
          `the quote that t.csv opens on line ${line} is never closed: close it, or double it where it is part of a text`,
        ),
      )
    refused('a,b\n1,2\n"3\n4","5\n6\n', 4)
    refused('a,b\n"1""\n', 2)
    refused('a,"b\n1,2\n', 1)
  })

  test('longer than 16 MiB is refused, quoted or not, and one just below it is read', () => {
    const million = 'x'.repeat(1 << 20)
    const read16 = (beginning: string, last: string) => {
      const reader = new CsvRows('t.csv')
      reader.push(`a,b\n1,2\n${beginning}`)
      for (let count = 0; count < 15; count++) assert.deepEqual(reader.push(million), [])
      return [...reader.push(last), ...reader.end()]
    }
    const tooLong = new Refusal(
      'the row on line 3 of t.csv is longer than 16 MiB: close the quote that is left open, or choose a file that holds a table',
    )
    for (const end of [million, `${million}\n`, `${million},1\n`]) assert.throws(() => read16('y', end), tooLong)
    for (const end of [million, `${million}"\n`, `\n${million}`]) assert.throws(() => read16('"', end), tooLong)
    assert.throws(() => read16('"', '"'.repeat(1 << 21)), tooLong)
    assert.equal(String(read16('', `${million}\n`)[0]?.cells[0]).length, 16 << 20)
    assert.equal(String(read16('"', `${million.slice(2)}"\n1,2`)[0]?.cells[0]).length, (16 << 20) - 2)
  })

  test('of more than 10,000 cells is refused, quoted or not, and one of so many is read', () => {
    const row = (count: number, cell: string) => `a,b\n${`${cell},`.repeat(count - 1)}${cell}\n`
    for (const cell of ['', '1', '"1"']) {
      assert.equal(cellsOf(row(10_000, cell))[1]?.length, 10_000)
      assert.throws(
        () => cellsOf(row(10_001, cell)),
        new Refusal('the row on line 2 of t.csv has more than 10,000 cells: choose a file that holds a table'),
      )
    }
  })
})

test('blank lines are counted as rows, and those above the header as lines', () => {
  const reader = new CsvRows('t.csv')
  assert.deepEqual(reader.push('\n\r\n'.repeat(1 << 20)), [])
  assert.equal(reader.count, 2 << 20)
  assert.deepEqual(reader.push('a,b\n\n\n1,2\n').at(-1), { line: (2 << 20) + 4, cells: ['1', '2'] })
  assert.equal(reader.count, (2 << 20) + 4)
})

test('the delimiter is the one that the header has most of outside quotes', () => {
  assert.deepEqual(cellsOf('a;b;c,d\n1;2,2;3\n')[1], ['1', '2,2', '3'])
  assert.deepEqual(cellsOf('a\tb, c\td\n1\t2;\t3\n')[1], ['1', '2;', '3'])
  assert.deepEqual(cellsOf('"a;b;c","d ""e;"\n1;1;1,2\n')[1], ['1;1;1', '2'])
  assert.deepEqual(cellsOf('a "b;c,d\n1,2;\n')[1], ['1', '2;'])
  assert.deepEqual(cellsOf('a\n1,2\n')[1], ['1', '2'])
})

describe('whatever the table', () => {
  const hostile = fc.constantFrom(
    '"',
    '""',
    ',',
    ';',
    '\t',
    '\n',
    '\r\n',
    ' ',
    'é',
    '東',
    '😀',
    '\u2028',
    '\uFEFF',
    '\\',
  )
  const anyText = fc
    .array(fc.oneof(hostile, fc.string({ maxLength: 5 })), { maxLength: 5 })
    .map((parts) => parts.join(''))
  const anyCell = fc.oneof(fc.constant(null), anyText)
  const anyTable = fc
    .integer({ min: 1, max: 5 })
    .chain((width) =>
      fc.array(fc.array(anyCell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
    )

  test('what csvLine wrote is read again', () => {
    const property = fc.property(anyTable, ([first = [], ...others]) => {
      const header = first.map((_, index) => `c${index}`)
      // A single empty cell is the one thing that CSV cannot write.
      const expected = others.map((row) => (row.length === 1 ? [row[0] ?? ''] : row))
      assert.deepEqual(cellsOf([header, ...others].map((row) => csvLine(row)).join('')), [header, ...expected])
    })
    fc.assert(property, { numRuns: 500 })
  })

  test('also its header is', () => {
    const property = fc.property(
      fc.array(
        anyText.filter((text) => text !== ''),
        { minLength: 1, maxLength: 5 },
      ),
      (header) => {
        assert.deepEqual(cellsOf(csvLine(header) + csvLine(header)), [header, header])
      },
    )
    fc.assert(property, { numRuns: 500 })
  })

  test('it is read as csv-parse reads it, with each delimiter and line end', () => {
    const property = fc.property(
      anyTable,
      fc.constantFrom(',', ';', '\t'),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.boolean(),
      ([first = [], ...others], delimiter, lineEnd, endsLast) => {
        const header = first.map((_, index) => `c${index}`)
        const cell = (value: string | null) =>
          // Without quotes, \N is null to us and a text to them.
          value === null ? '' : /^$|^\\N$|[",;\t\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
        const text =
          [header, ...others].map((row) => row.map(cell).join(delimiter)).join(lineEnd) + (endsLast ? lineEnd : '')
        const ours = read([text]).map(({ cells }) => cells.map((value) => value ?? ''))
        // Told the delimiter only where the header shows none.
        const theirs: string[][] = parse(text, {
          delimiter: first.length === 1 ? ',' : delimiter,
          relax_column_count: true,
          record_delimiter: lineEnd,
          skip_empty_lines: true,
        })
        assert.deepEqual(ours, theirs)
      },
    )
    fc.assert(property, { numRuns: 1_000 })
  })

  test('the millions in which any text comes change nothing', () => {
    const millions = fc.constantFrom('"', '"', '""', ',', ';', '\n', '\r\n', '\r', 'a', 'b,c', '"d"', '😀', ' ')
    const property = fc.property(fc.array(millions, { maxLength: 40 }), anyPlaces, (parts, places) => {
      const text = parts.join('')
      const outcome = (given: Iterable<string>): unknown => {
        try {
          return read(given)
        } catch (error) {
          assert.ok(error instanceof Refusal)
          return error.message
        }
      }
      const expected = outcome([text])
      // By code units: the halves of an emoji come apart too.
      assert.deepEqual(outcome(text.split('')), expected)
      assert.deepEqual(outcome(cut(text, places)), expected)
    })
    fc.assert(property, { numRuns: 3_000 })
  })
})

test('csvLine quotes only where it must', () => {
  assert.equal(csvLine(['a', null, '', 'b c', "d'e"]), 'a,,"",b c,d\'e\n')
  assert.equal(
    csvLine(['a,b', 'c"d', 'e\nf', 'g\rh', ' i', 'j ', 'k;l', 'm\tn']),
    '"a,b","c""d","e\nf","g\rh"," i","j ","k;l","m\tn"\n',
  )
  assert.equal(csvLine([null]), '""\n')
  assert.equal(csvLine([null, null]), ',\n')
})
