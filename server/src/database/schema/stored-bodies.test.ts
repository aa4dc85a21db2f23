import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { ResourceName } from '@masthead/contract'
import pg from 'pg'
import {
  sampleAccount,
  sampleContact,
  sampleInvoice,
  samplePublication,
  sampleSubscription,
} from '../../../test/records/sample-records.ts'
import { startService, type TestTenant } from '../../../test/service.ts'
import { insertRecords } from '../../records/writes/write.ts'
import { unpreparedOn } from '../connections/session.ts'
import { tenantQuery } from '../tenant-query.ts'

const service = await startService()
const text = `"quoted" \\ back\\slash 'single' \u0001\u001f\u007f\u2028 tab\t line\r\n 東京 👩‍👩‍👧 $1 %L {}`
const instants = { createdAt: '2026-07-01T23:59:59.999Z', updatedAt: '2026-12-31T00:00:00.001Z' }
let tenant: TestTenant
let publicationId: string

before(async () => {
  tenant = await service.newTenant()
  const [publication] = await tenant.add('publications', [samplePublication('P')])
  publicationId = String(publication?.id)
  await tenant.add('accounts', [sampleAccount('A')])
})

const samples = (): [ResourceName, Record<string, unknown>][] => [
  ['publications', samplePublication('Q', { ...instants, name: text, issueDecimals: 1.5, isActive: null })],
  ['accounts', sampleAccount('B', { ...instants, company: text, doNotEmail: true })],
  ['contacts', sampleContact('A', { ...instants, name: text, deletedAt: '2024-02-29T12:30:00.050Z' })],
  [
    'subscriptions',
    sampleSubscription('A', publicationId, {
      ...instants,
      notes: text,
      status: text,
      copies: '9007199254740993',
      totalDue: '-0.10',
      startDate: '2024-02-29',
      deletedAt: '1999-12-31T23:59:59.999Z',
    }),
  ],
  [
    'invoices',
    sampleInvoice('A', publicationId, {
      ...instants,
      notes: text,
      totalDue: '-1234567.89',
      total: '12345678901234.50',
      isOpen: 0,
      datePaid: '2026-02-03',
    }),
  ],
]

describe('a stored body', () => {
  const settings: Record<string, string[]> = {
    TimeZone: ['Pacific/Kiritimati', 'America/St_Johns', 'UTC'],
    DateStyle: ['SQL, DMY', 'German', 'Postgres, MDY'],
    IntervalStyle: ['sql_standard', 'iso_8601'],
    extra_float_digits: ['-15', '3'],
    lc_time: ['C'],
    lc_numeric: ['C'],
    standard_conforming_strings: ['off'],
    escape_string_warning: ['off'],
    backslash_quote: ['off'],
    bytea_output: ['escape'],
    xmloption: ['document'],
    search_path: ['pg_catalog, public'],
  }

  test('is the same whatever the settings of the session that writes it', async () => {
    const records = samples()
    const expected = await bodiesUnder(null, records)
    for (const [setting, values] of Object.entries(settings)) {
      for (const value of values) {
        assert.deepEqual(await bodiesUnder([setting, value], records), expected, `${setting} = ${value}`)
      }
    }
  })

  test('says what was stored, field by field', async () => {
    const records = samples()
    const bodies = await bodiesUnder(null, records)
    for (const [index, [resource, record]] of records.entries()) {
      const { balanceCents, ...stored } = JSON.parse(bodies[index] ?? '')
      assert.deepEqual(stored, record)
      assert.equal(balanceCents, resource === 'invoices' ? -123456789 : undefined)
    }
  })
})

/** Writes the records in a transaction that is taken back, in a session of its own: functions are parsed once a session. */
const bodiesUnder = async (
  setting: [string, string] | null,
  records: [ResourceName, Record<string, unknown>][],
): Promise<string[]> => {
  const session = new pg.Client(service.connectionString)
  await session.connect()
  try {
    await session.query('begin')
    await session.query(`select set_config('masthead.tenant', $1, true)`, [tenant.id])
    if (setting) await session.query('select set_config($1, $2, true)', setting)
    const bodies: string[] = []
    for (const [resource, record] of records) {
      bodies.push(...(await insertRecords(tenantQuery(tenant.id, unpreparedOn(session)), resource, [record])))
    }
    return bodies
  } finally {
    await session.end()
  }
}

test('every character that PostgreSQL can hold survives in a body as JSON has it', async () => {
  const notes: string[] = []
  for (let first = 1; first <= 0x10ffff; first += 9_000) {
    const codes = Array.from({ length: 9_000 }, (_, index) => first + index)
    const isCharacter = (code: number) => code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    notes.push(String.fromCodePoint(...codes.filter(isCharacter)))
  }
  const given = notes.map((text) => ({ ...sampleContact('A'), notes: text }))
  const stored = await tenant.add('contacts', given)
  assert.ok(stored.every((contact, index) => contact.notes === notes[index]))
})
