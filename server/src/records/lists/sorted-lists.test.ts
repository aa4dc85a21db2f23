import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { comparisonsOf, fieldOf, type ListedName, listedNames, type Resource, resources } from '@masthead/contract'
import { runInSession } from '../../../test/processes/command-session.ts'
import { sampleRecord } from '../../../test/records/sample-records.ts'
import { startService, type TestTenant, walk } from '../../../test/service.ts'
import { newId } from '../identifiers.ts'
import { keyOf } from '../normalising.ts'
import type { Fields } from '../stored-record.ts'
import { dayIn } from './today.ts'

/** Every list in every order and by every filter, compared with the same done to the records in memory. */
const service = await startService()
let tenant: TestTenant
let token: string
const stored = new Map<ListedName, Fields[]>()

const names = ['Zoë', 'zoe', 'Ångström', 'Özil', 'ozil', 'Straße', 'STRASSE', 'Müller', 'mueller', null, 'Ødegård', '']
const count = 60

/** Few values, so that many records share one; some have none. */
const sampleOf = (kind: string, index: number): unknown => {
  if (index % 7 === 3) return null
  if (kind === 'date') return `2026-${String((index % 5) + 1).padStart(2, '0')}-1${index % 3}`
  if (kind === 'timestamp') return `2026-03-0${(index % 6) + 1}T10:00:00.${index % 4}00Z`
  if (kind === 'money') return ['-3.50', '0.00', '90000000000000000.00', '12.05', '12.50', '7.00'][index % 6]
  if (kind === 'integer') return String((index * 7) % 9)
  return names[index % names.length]
}

const record = (resource: ListedName, index: number, publicationId: string | null): Fields => {
  const { listing } = resources[resource]
  const sorted = listing.sorts.map((name) => {
    const { kind, isNullable, isIdentifier } = fieldOf(resource, name)
    const value = sampleOf(kind, (index * 13) % 31)
    if (isIdentifier) return [name, `N-${(index * 17) % 97}`]
    return [name, value ?? (isNullable ? null : sampleOf(kind, 1))]
  })
  const more: Fields = {
    ...('accountId' in resources[resource].record.properties && resource !== 'accounts'
      ? { accountId: `N-${((index % 4) * 17) % 97}` }
      : {}),
    ...(publicationId && 'publicationId' in resources[resource].record.properties ? { publicationId } : {}),
    ...('status' in resources[resource].record.properties ? { status: ['active', 'open', 'Paid'][index % 3] } : {}),
    ...('subscriptionId' in resources[resource].record.properties ? { subscriptionId: `S-${index}` } : {}),
    ...(resource === 'invoices' ? { isOpen: [1, 0, null][index % 3] } : {}),
    ...('deletedAt' in resources[resource].record.properties && index % 4 !== 1 ? { deletedAt: null } : {}),
    ...(resource === 'contacts' ? { hideContact: index % 5 === 0 } : {}),
    ...(resource === 'contacts' || resource === 'invoices' ? { externalId: `X-${index}` } : {}),
  }
  return { ...sampleRecord(resource, Object.fromEntries(sorted)), ...more }
}

before(async () => {
  tenant = await service.newTenant()
  token = await tenant.serviceToken()
  let publicationId: string | null = null
  for (const resource of listedNames) {
    const records: Fields[] = Array.from({ length: count }, (_, index) => record(resource, index, publicationId))
    const added = await tenant.add(resource, records)
    stored.set(resource, records)
    if (resource === 'publications') publicationId = String(added[0]?.id)
  }
})

/** What the service compares of a field, for the model. */
const keyIn = (resource: ListedName, record: Fields, name: string): string | bigint | null => {
  const { kind, keyForm } = fieldOf(resource, name)
  const value = record[name]
  if (value === null || value === undefined) return null
  const key = keyForm ? keyOf[keyForm](String(value)) : String(value)
  return kind === 'money' || kind === 'integer' || kind === 'number' ? BigInt(key) : key
}

const compare = (a: string | bigint, b: string | bigint): number => {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : Number(a > b)
}

/** The records in the order of a sort; those without a value last, and those with the same one as they arrived. */
const inOrderOf = (resource: ListedName, records: Fields[], sort: string): Fields[] => {
  const sign = sort.startsWith('-') ? -1 : 1
  const field = sort.replace('-', '')
  return records
    .map((one, place) => ({ one, place, key: keyIn(resource, one, field) }))
    .toSorted((a, b) => {
      if (a.key !== null && b.key !== null) return sign * (compare(a.key, b.key) || a.place - b.place)
      if (a.key === null && b.key === null) return sign * (a.place - b.place)
      return a.key === null ? 1 : -1
    })
    .map(({ one }) => one)
}

const withDeleted = (resource: ListedName): Fields[] =>
  (stored.get(resource) ?? []).filter(({ hideContact }) => hideContact !== true)
const shown = (resource: ListedName): Fields[] => withDeleted(resource).filter(({ deletedAt }) => !deletedAt)
const idsOf = (records: readonly Fields[]): unknown[] => records.map(({ id }) => id)

/** Values to ask for: one that some have, at the edge of a range that leaves some out. */
const askedOf = (resource: ListedName, parameter: string, field: string): string => {
  if (parameter === 'isOpen') return 'true'
  const values = shown(resource).flatMap((one) => (one[field] ? [String(one[field])] : []))
  return values[Math.floor(values.length / 2)] ?? assert.fail('no value')
}

const isAsked = (resource: ListedName, record: Fields, by: string, field: string, asked: string): boolean => {
  const key = keyIn(resource, record, field)
  const wanted = keyIn(resource, { [field]: asked === 'true' ? '1' : asked }, field)
  if (key === null || wanted === null) return false
  const order = compare(key, wanted)
  return { '=': order === 0, '>=': order >= 0, '<=': order <= 0, '<': order < 0 }[by] ?? assert.fail(by)
}

for (const resource of listedNames) {
  describe(`${resource}`, () => {
    const { sorts } = resources[resource].listing
    const comparisons = comparisonsOf(resource)

    test('come in the order of every sort, in both directions, each exactly once', async () => {
      for (const sort of sorts.flatMap((field) => [field, `-${field}`])) {
        const walked = await walk(service, token, `/${resource}?sort=${sort}&pageSize=7`)
        assert.deepEqual(idsOf(walked), idsOf(inOrderOf(resource, shown(resource), sort)), sort)
        if (!('includeDeleted' in resources[resource].listing.leftOutUnless)) continue
        const all = await walk(service, token, `/${resource}?sort=${sort}&includeDeleted=true&pageSize=7`)
        assert.deepEqual(idsOf(all), idsOf(inOrderOf(resource, withDeleted(resource), sort)), `${sort} with deleted`)
      }
    })

    test('come by every filter, in order of arrival and in every other, with their total', async () => {
      for (const { parameter, field, by } of comparisons) {
        const asked = askedOf(resource, parameter, field.name)
        const matching = shown(resource).filter((one) => isAsked(resource, one, by, field.name, asked))
        const filter = `${parameter}=${encodeURIComponent(asked)}`
        const list = await service.call('GET', `/${resource}?${filter}&pageSize=5`, { token })
        assert.equal(list.status, 200, list.text)
        assert.equal(list.body.total, matching.length, filter)
        const walked = await walk(service, token, `/${resource}?${filter}&pageSize=5`)
        assert.deepEqual(idsOf(walked), idsOf(matching), filter)
        for (const sort of [sorts[0], `-${sorts[1]}`, `-${field.name}`].filter((one) =>
          sorts.some((sort) => sort === one?.replace('-', '')),
        )) {
          const sorted = await walk(service, token, `/${resource}?${filter}&sort=${sort}&pageSize=5`)
          assert.deepEqual(idsOf(sorted), idsOf(inOrderOf(resource, matching, String(sort))), `${filter} ${sort}`)
        }
      }
    })

    test('come by each filter that has a kept total, with that total, in every order', async () => {
      for (const field of resources[resource].listing.filters as readonly string[]) {
        const [value] = shown(resource).flatMap((one) => one[field] ?? [])
        const matching = shown(resource).filter((one) => one[field] === value)
        for (const sort of sorts.flatMap((one) => [one, `-${one}`])) {
          const path = `/${resource}?${field}=${encodeURIComponent(String(value))}&sort=${sort}&pageSize=200`
          const { status, body, text } = await service.call('GET', path, { token })
          assert.equal(status, 200, text)
          assert.equal(body.total, matching.length, path)
          assert.deepEqual(idsOf(body.items), idsOf(inOrderOf(resource, matching, sort)), path)
        }
      }
    })

    test('come by numbered pages as by cursor', async () => {
      const sort = `-${sorts[1]}`
      const expected = idsOf(inOrderOf(resource, shown(resource), sort))
      for (const page of [1, 3, 6]) {
        const { body } = await service.call('GET', `/${resource}?sort=${sort}&pageSize=9&page=${page}`, { token })
        assert.deepEqual(idsOf(body.items), expected.slice((page - 1) * 9, page * 9))
        assert.equal(body.total, expected.length)
      }
    })

    test('come by their ids, of either kind, and those that are unknown do not', async () => {
      const [first, second, third] = shown(resource)
      const { businessIdentifier = 'id' }: Resource = resources[resource]
      const ids = [third?.id, first?.[businessIdentifier], second?.id, 'nobody', '018f0000-0000-7000-8000-000000000000']
      const { status, body, text } = await service.call('GET', `/${resource}?ids=${ids.join(',')}`, { token })
      assert.equal(status, 200, text)
      assert.deepEqual(idsOf(body.items), [first?.id, second?.id, third?.id])
      assert.equal(body.total, 3)
    })
  })
}

describe('overdue', () => {
  // The day there is always an earlier one than in the other.
  const [behind, ahead] = ['Pacific/Niue', 'Pacific/Kiritimati'] as const
  const put = async (timeZone: string): Promise<void> => {
    const { code, stderr } = await runInSession(['tenant', 'set', shop.slug, '--time-zone', timeZone], {
      DATABASE_URL: service.connectionString,
    })
    assert.equal(code, 0, stderr)
  }
  const list = async (query: string): Promise<{ ids: unknown[]; total: number }> => {
    const { status, body, text } = await service.call('GET', `/invoices?${query}`, { token: shopToken })
    assert.equal(status, 200, text)
    return { ids: idsOf(body.items), total: body.total }
  }
  let shop: TestTenant
  let shopToken: string
  const invoices: Fields[] = []

  before(async () => {
    shop = await service.newTenant()
    shopToken = await shop.serviceToken()
    await shop.add('accounts', [sampleRecord('accounts', { accountId: 'A-1' })])
    const today = dayIn(behind)
    const add = (dueDate: string | null, isOpen: number | null) =>
      invoices.push({ ...sampleRecord('invoices'), externalId: newId(), accountId: 'A-1', dueDate, isOpen })
    add('2026-01-01', 1)
    add(today, 1)
    add('2026-01-01', 0)
    add('2026-01-01', null)
    add(null, 1)
    add('2199-01-01', 1)
    await shop.add('invoices', invoices)
  })

  test('is what is open and was due before today, where the tenant is, at once when that changes', async () => {
    const [old, lastDay, ...others] = idsOf(invoices)
    await put(behind)
    assert.deepEqual(await list('overdue=true'), { ids: [old], total: 1 })
    assert.deepEqual(await list('overdue=false'), { ids: [lastDay, ...others], total: 5 })
    await put(ahead)
    assert.deepEqual(await list('overdue=true'), { ids: [old, lastDay], total: 2 })
    assert.deepEqual(await list('overdue=false'), { ids: others, total: 4 })
    assert.deepEqual(await list('overdue=true&sort=-dueDate'), { ids: [lastDay, old], total: 2 })
  })

  test('cannot be of a place that nobody knows', async () => {
    const { code, stderr } = await runInSession(['tenant', 'set', shop.slug, '--time-zone', '+01:00'], {
      DATABASE_URL: service.connectionString,
    })
    assert.equal(code, 1)
    assert.match(stderr, /"\+01:00" is no time zone: give a name such as Europe\/Berlin/)
  })
})
