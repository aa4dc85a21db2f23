import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Field, fieldOf, type ResourceName } from '@masthead/contract'
import fc from 'fast-check'
import { type Cell, TypedCell } from '../files/cell.ts'
import { cellOfNumber } from '../files/xlsx/serial-numbers.ts'
import { styleOf } from '../files/xlsx/workbook.ts'
import { readValue } from './cell-values.ts'
import { type FormatOptions, plainValue } from './column-format.ts'
import { evidenceOf } from './evidence-of.ts'
import { timeZoneNamed } from './time-zone.ts'
import { WrongCell } from './wrong-cell.ts'

/** What the cells of a column become; null where the column, or the cell, is refused. */
const read = (field: Field, cells: readonly Cell[], options: FormatOptions = {}, heading = ''): (string | null)[] => {
  const evidence = evidenceOf(field, heading)
  for (const cell of cells) evidence?.add(cell)
  const { read = null, noticed = null } = evidence?.decide(options) ?? {}
  if (noticed?.doubt) return cells.map(() => null)
  return cells.map((cell) => {
    const value = read ? read(cell) : plainValue(field, cell)
    return value instanceof WrongCell || value == null ? null : readValue(field, value)
  })
}

/** Each value is read as it was, or refused. */
const assertNoOther = (got: readonly (string | null)[], values: readonly string[]) => {
  for (const [index, value] of values.entries())
    assert.ok(got[index] === value || got[index] === null, `${got} ${values}`)
}

const field = (resource: ResourceName, name: string) => fieldOf(resource, name)
const dueDate = field('invoices', 'dueDate')
const total = field('invoices', 'total')
const copies = field('subscriptions', 'copies')
const decimals = field('publications', 'issueDecimals')
const createdAt = field('contacts', 'createdAt')
const hidden = field('contacts', 'hideContact')

const anyDate = fc
  .date({ min: new Date('1800-01-01'), max: new Date('2200-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const dates = fc.array(anyDate, { minLength: 1, maxLength: 8 })

const dateForms: Record<string, (date: string) => string> = {
  iso: (date) => date,
  'with a time': (date) => `${date} 00:00:00`,
  slashes: (date) => date.replaceAll('-', '/'),
  german: (date) => date.split('-').reverse().join('.'),
  'german without zeros': (date) => date.split('-').reverse().map(Number).join('.'),
  'day first': (date) => date.split('-').reverse().join('/'),
  'day first with dashes': (date) => date.split('-').reverse().join('-'),
  'month first': (date) => [date.slice(5, 7), date.slice(8), date.slice(0, 4)].join('/'),
  'month first without zeros': (date) => [date.slice(5, 7), date.slice(8), date.slice(0, 4)].map(Number).join('/'),
  'two digits': (date) =>
    date
      .split('-')
      .reverse()
      .join('.')
      .replace(/\d\d(\d\d)$/, '$1'),
}

describe('dates in any form', () => {
  for (const [name, write] of Object.entries(dateForms)) {
    test(`${name}: are read as they were, or refused`, () => {
      fc.assert(fc.property(dates, (values) => assertNoOther(read(dueDate, values.map(write)), values)))
    })
  }

  test('are read where a day is after the twelfth, and in doubt where none is', () => {
    const write = dateForms['day first'] ?? String
    assert.deepEqual(read(dueDate, ['2026-02-01', '2026-12-31'].map(write)), ['2026-02-01', '2026-12-31'])
    assert.deepEqual(read(dueDate, ['2026-02-01'].map(write)), [null])
    assert.deepEqual(read(dueDate, ['2026-02-01'].map(write), { dates: 'dmy' }), ['2026-02-01'])
    assert.deepEqual(read(dueDate, ['2026-02-02'].map(write)), ['2026-02-02'], 'both readings are the same day')
    const [one, other] = ['31/12/2026', '12/31/2026']
    assert.deepEqual(read(dueDate, [one, other]), [null, null])
    assert.deepEqual(read(dueDate, [one, other], { dates: 'mdy' }), [null, '2026-12-31'])
  })

  test('of two digits for the year are never read', () => {
    for (const options of [{}, { dates: 'dmy' } as const])
      assert.deepEqual(read(dueDate, ['31.12.26', '1/2/26'], options), [null, null])
  })
})

const anyAmount = fc
  .bigInt({ min: -(10n ** 15n - 1n), max: 10n ** 15n - 1n })
  .map(
    (cents) =>
      `${cents < 0n ? '-' : ''}${cents < 0n ? -cents / 100n : cents / 100n}.${String((cents < 0n ? -cents : cents) % 100n).padStart(2, '0')}`,
  )
const amounts = fc.array(fc.oneof(anyAmount, fc.constantFrom('1.00', '1234.00', '1000.00', '-1234.50', '0.05')), {
  minLength: 1,
  maxLength: 8,
})

const grouped = (amount: string, group: string, decimal: string) => {
  const [whole = '', cents = ''] = amount.split('.')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, group)}${decimal}${cents}`
}
const amountForms: Record<string, (amount: string) => string> = {
  plain: (amount) => amount,
  'of a database': (amount) => `${amount}00`,
  'without cents where there are none': (amount) => amount.replace('.00', ''),
  german: (amount) => grouped(amount, '.', ','),
  'german without cents': (amount) => grouped(amount, '.', ',').replace(',00', ''),
  'german with a currency': (amount) => `${grouped(amount, '.', ',')} €`,
  french: (amount) => `${grouped(amount, '\u202f', ',')}\u00a0EUR`,
  english: (amount) => grouped(amount, ',', '.'),
  'english without cents': (amount) => grouped(amount, ',', '.').replace('.00', ''),
  american: (amount) => grouped(amount, ',', '.').replace(/^-?/, '$&$'),
  swiss: (amount) => `CHF ${grouped(amount, "'", '.')}`,
  'with the sign behind': (amount) => grouped(amount, '.', ',').replace(/^-(.*)$/, '$1-'),
}

describe('amounts in any form', () => {
  for (const [name, write] of Object.entries(amountForms)) {
    test(`${name}: are read as they were, or refused`, () => {
      fc.assert(fc.property(amounts, (values) => assertNoOther(read(total, values.map(write)), values)))
    })
  }

  test('are in doubt where a sign may group or precede decimals', () => {
    assert.deepEqual(read(total, ['1.234', '5.678']), [null, null])
    assert.deepEqual(read(total, ['1.234'], { decimal: 'comma' }), ['1234.00'])
    assert.deepEqual(read(total, ['1.234', '0,50']), ['1234.00', '0.50'])
    assert.deepEqual(read(total, ['1,234', '0.50']), ['1234.00', '0.50'])
    assert.deepEqual(read(total, ['1.234,50', '1,234.50'], { decimal: 'point' }), [null, '1234.50'])
  })

  test('that the API writes in the same way are grouped where somebody says so, and nothing else tells', () => {
    assert.deepEqual(read(decimals, ['1.234']), ['1.234'])
    assert.deepEqual(read(decimals, ['1.234', '5'], { decimal: 'comma' }), ['1234', '5'])
    assert.deepEqual(read(decimals, ['1.234', '2.5'], { decimal: 'comma' }), ['1.234', '2.5'])
    assert.deepEqual(read(decimals, [new TypedCell('number', '1.234')], { decimal: 'comma' }), ['1.234'])
  })

  test('that are refused are shown as they stand in the file', () => {
    const evidence = evidenceOf(total, '')
    for (const cell of ['1,234', '0,50']) evidence?.add(cell)
    const value = evidence?.decide({ decimal: 'comma' }).read?.('1,234')
    assert.ok(value instanceof WrongCell)
    assert.match(value.reason, /^"1,234" is no amount of money: write at most 13 digits and two decimals/)
  })

  test('of two currencies are refused', () => {
    assert.deepEqual(read(total, ['1,50 €', '2,50 €']), ['1.50', '2.50'])
    assert.deepEqual(read(total, ['1,50 €', '2,50 $']), [null, null])
    assert.deepEqual(read(total, ['1,50 €', '2,50 EUR', 'EUR 3']), ['1.50', '2.50', '3.00'], 'one by two names')
    assert.deepEqual(read(total, ['$1.50', 'US$2.50', '3 USD']), ['1.50', '2.50', '3.00'])
  })

  test('that are whole are read with decimals of zero, as programs write them', () => {
    assert.deepEqual(read(copies, ['2.0', '25.0']), ['2', '25'])
    assert.deepEqual(read(copies, ['1', '1.200']), ['1', '1200'], 'nobody has 1.2 copies')
    assert.deepEqual(read(copies, ['1.000']), [null])
    assert.deepEqual(read(copies, ['1.5']), [null])
  })
})

const anyInstant = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => `${date.toISOString().slice(0, 19)}.000Z`)
const instants = fc.array(anyInstant, { minLength: 1, maxLength: 6 })

const instantForms: Record<string, (instant: string) => string> = {
  canonical: (instant) => instant,
  postgresql: (instant) => `${instant.slice(0, 19).replace('T', ' ')}+00`,
  'with an offset': (instant) => `${new Date(Date.parse(instant) + 5.5 * 3_600_000).toISOString().slice(0, 19)}+0530`,
  german: (instant) => `${instant.slice(0, 10).split('-').reverse().join('.')} ${instant.slice(11, 19)} UTC`,
  'day first': (instant) => `${instant.slice(0, 10).split('-').reverse().join('/')} ${instant.slice(11, 19)}Z`,
  seconds: (instant) => String(Date.parse(instant) / 1_000),
  milliseconds: (instant) => String(Date.parse(instant)),
  'without a zone': (instant) => instant.slice(0, 19).replace('T', ' '),
}

describe('instants in any form', () => {
  for (const [name, write] of Object.entries(instantForms)) {
    test(`${name}: are read as they were, or refused`, () => {
      fc.assert(fc.property(instants, (values) => assertNoOther(read(createdAt, values.map(write)), values)))
    })
  }

  test('are rounded to the millisecond', () => {
    const written = ['2024-06-01T00:00:42.1234999Z', '2024-06-01 00:00:42.1235+00', '2024-12-31T23:59:59.9996Z']
    assert.deepEqual(read(createdAt, written), [
      '2024-06-01T00:00:42.123Z',
      '2024-06-01T00:00:42.124Z',
      '2025-01-01T00:00:00.000Z',
    ])
    assert.deepEqual(read(createdAt, ['9999-12-31T23:59:59.9999Z']), [null])
  })

  test('without a zone are those of clocks in a zone, but for times that clocks skip or repeat', () => {
    for (const name of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC', '+05:30']) {
      const timeZone = timeZoneNamed(name)
      const format = new Intl.DateTimeFormat('sv-SE', {
        timeZone: name,
        dateStyle: 'short',
        timeStyle: 'medium',
      })
      fc.assert(
        fc.property(instants, (values) => {
          const written = values.map((instant) => format.format(new Date(instant)))
          assertNoOther(read(createdAt, written, { timeZone }), values)
        }),
        { numRuns: 50 },
      )
    }
    const timeZone = timeZoneNamed('Europe/Berlin')
    const written = [
      '2026-03-29 01:59',
      '2026-03-29 02:30',
      '2026-10-25 02:30',
      '2026-10-25 03:00',
      '31.12.2026 3:45 PM',
    ]
    assert.deepEqual(read(createdAt, written, { timeZone }), [
      '2026-03-29T00:59:00.000Z',
      null,
      null,
      '2026-10-25T02:00:00.000Z',
      '2026-12-31T14:45:00.000Z',
    ])
    assert.deepEqual(read(createdAt, ['2026-06-01 12:00']), [null])
  })

  test('that are numbers count seconds or milliseconds where these leave no doubt, or the column says so', () => {
    const instant = '2025-01-01T10:20:30.000Z'
    assert.deepEqual(read(createdAt, ['1735726830']), [instant])
    assert.deepEqual(read(createdAt, [new TypedCell('number', '1735726830000')]), [instant])
    assert.deepEqual(read(createdAt, ['2024060112']), [null], 'an hour, written without signs')
    assert.deepEqual(read(createdAt, ['157766400000'], {}, 'created_ms'), ['1975-01-01T00:00:00.000Z'])
    const mixed = read(createdAt, ['1735726830000', '1735726830'], { epoch: 'milliseconds' })
    assert.deepEqual(mixed, [instant, null], 'seconds among milliseconds')
    assert.deepEqual(read(createdAt, ['20240601'], { epoch: 'seconds' }), [null], 'a day, written without signs')
    assert.deepEqual(read(createdAt, ['60'], { epoch: 'seconds' }), [null])
  })
})

test('cells that are made to cost much are refused at once', () => {
  const spaces = ' '.repeat(5_000_000)
  for (const text of [
    `1${spaces}x`,
    `1${'.'.repeat(5_000_000)}x`,
    `$${spaces}-`,
    `1.1.2026${spaces}x`,
    '1,'.repeat(2_500_000),
  ])
    for (const one of [total, copies, dueDate, createdAt, hidden]) assert.deepEqual(read(one, [text]), [null])
})

test('booleans are words of four languages, and marks are alone', () => {
  const words = ['t', 'f', 'TRUE', 'no', 'Y', '0', 'ja', 'Nein', 'WAHR', 'faux', 'sí', 'falso']
  const expected = ['t', 'f', 't', 'f', 't', 'f', 't', 'f', 't', 'f', 't', 'f']
  assert.deepEqual(read(hidden, words), expected)
  assert.deepEqual(read(hidden, ['x', null, 'X', '']), ['t', 'f', 't', 'f'])
  assert.deepEqual(read(hidden, ['x', null, 'nein']), ['t', null, 'f'])
  assert.deepEqual(read(hidden, ['maybe', 'x', null]), [null, 't', 'f'], 'a wrong one says nothing about the others')
  const evidence = evidenceOf(hidden, '')
  for (const cell of ['maybe', 'x', null]) evidence?.add(cell)
  const { fits, values } = evidence?.decide({}).noticed ?? {}
  assert.deepEqual([fits, values], [1, 2])
})

describe('cells of a sheet', () => {
  const date = styleOf(14, undefined)
  test('are days by their style, from 1900 or 1904, and times to the second', () => {
    const property = fc.property(anyDate, fc.nat(86_399), fc.boolean(), (day, second, isFrom1904) => {
      if (day < '1904-01-02') return
      const epoch = isFrom1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30)
      const serial = (Date.parse(`${day}T00:00:00Z`) - epoch) / 86_400_000
      assert.deepEqual(cellOfNumber(String(serial), date, isFrom1904), new TypedCell('date', day))
      const local = new Date(Date.parse(`${day}T00:00:00Z`) + second * 1_000).toISOString().slice(0, -1)
      const cell = cellOfNumber(String(serial + second / 86_400), date, isFrom1904)
      if (second > 0) assert.deepEqual(cell, new TypedCell('local time', local))
    })
    fc.assert(property, { numRuns: 1_000 })
    assert.deepEqual(cellOfNumber('59', date, false), new TypedCell('date', '1900-02-28'))
    assert.deepEqual(cellOfNumber('60', date, false), new TypedCell('number', '60'), 'there was no such day')
    assert.deepEqual(cellOfNumber('61', date, false), new TypedCell('date', '1900-03-01'))
  })

  test('are the amounts that were typed, whatever digits are stored', () => {
    fc.assert(
      fc.property(anyAmount, (amount) => {
        const cell = cellOfNumber(String(Number(amount)), undefined, false)
        const [value] = read(total, [cell])
        // A sheet has 15 digits.
        if (amount.replace(/\D/g, '').length <= 15) assert.equal(value, amount === '-0.00' ? '0.00' : amount)
      }),
    )
    assert.deepEqual(read(total, [cellOfNumber('19.989999999999998', undefined, false)]), ['19.99'])
  })

  test('have the zeros in front that their style shows, where they are texts', () => {
    const cell = cellOfNumber('1067', styleOf(170, '00000'), false)
    assert.equal(plainValue(field('accounts', 'zip'), cell), '01067')
    assert.deepEqual(read(total, [cell]), ['1067.00'])
  })

  test('are days by any format of days, and by no other', () => {
    for (const code of ['dd.mm.yyyy', 'yyyy\\-mm\\-dd', '[$-407]d. mmmm yyyy', 'm/d/yy h:mm', '[h]:mm'])
      assert.ok(styleOf(170, code).isDate, code)
    for (const code of ['0.00', '#,##0.00 "Std."', '[Red]0', '#,##0.00\\ [$EUR]', 'General', '@', '0.00" m"'])
      assert.ok(!styleOf(170, code).isDate, code)
  })
})
