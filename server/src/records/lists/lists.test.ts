import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { ResourceName } from '@masthead/contract'
import {
  sampleAccount,
  sampleContact,
  sampleInvoice,
  samplePublication,
  sampleSubscription,
} from '../../../test/records/sample-records.ts'
import { assertTallies } from '../../../test/records/tallies.ts'
import { type CallResponse, linksOf, startService, type TestTenant, walk } from '../../../test/service.ts'
import { SeededRandom } from '../../transfer/demo/seeded-random.ts'
import type { Fields } from '../stored-record.ts'

type Body = Record<string, unknown>

const service = await startService()
const nobody = '00000000-0000-7000-8000-000000000000'

/** Adds records in batches; `leap` leaves a gap between them, so that they lie in more blocks than they would fill. */
const addAll = async (
  tenant: TestTenant,
  resource: ResourceName,
  records: Fields[],
  { leap = 0, batch = 1_500 } = {},
): Promise<Body[]> => {
  const bodies: Body[] = []
  for (let start = 0; start < records.length; start += batch) {
    bodies.push(...(await tenant.add(resource, records.slice(start, start + batch))))
    await service.owner.query('update heads set last = last + $3 where tenant_id = $1 and resource = $2', [
      tenant.id,
      resource,
      leap,
    ])
  }
  return bodies
}

const get = async (token: string, path: string): Promise<CallResponse> => {
  const answer = await service.call('GET', path, { token })
  assert.equal(answer.status, 200, `${path}: ${answer.text}`)
  return answer
}

/** The list has exactly these items: by `next`, and on the first, a middle, the last and a later page by number. */
const assertList = async (token: string, path: string, expected: Body[], pageSize = 200): Promise<void> => {
  const list = `${path}${path.includes('?') ? '&' : '?'}pageSize=${pageSize}`
  const walked = await walk(service, token, list)
  assert.deepEqual(idsOf(walked), idsOf(expected), list)
  assert.deepEqual(walked, expected, list)
  const last = Math.max(1, Math.ceil(expected.length / pageSize))
  const pages = new Set([1, Math.ceil(last / 2), last, last + 1, 2_147_483_647])
  for (const page of pages) await assertPage(token, list, page, pageSize, expected)
}

const assertPage = async (token: string, list: string, page: number, pageSize: number, expected: Body[]) => {
  const { body } = await get(token, `${list}&page=${page}`)
  const items = expected.slice((page - 1) * pageSize, page * pageSize)
  assert.deepEqual(idsOf(body.items), idsOf(items), `${list}&page=${page}`)
  assert.deepEqual([body.page, body.pageSize, body.total], [page, pageSize, expected.length], `${list}&page=${page}`)
}

const idsOf = (records: Body[]): unknown[] => records.map(({ id }) => id)

/** The name of a filter's value in a query, and what it selects. */
type Choice = { query: string; selects: (record: Body) => boolean }
const everything: Choice = { query: '', selects: () => true }
const choice = (parameter: string, value: unknown, selects: Choice['selects']): Choice => ({
  query: `&${parameter}=${encodeURIComponent(String(value))}`,
  selects,
})
const byStatus = (given: string): Choice =>
  choice('status', given, ({ status }) => typeof status === 'string' && status.toLowerCase() === given.toLowerCase())

const combinations = (...dimensions: Choice[][]): Choice[] =>
  dimensions.reduce((all, more) =>
    all.flatMap((one) =>
      more.map((two) => ({
        query: one.query + two.query,
        selects: (record: Body) => one.selects(record) && two.selects(record),
      })),
    ),
  )

describe('filtered lists', () => {
  let tenant: TestTenant
  let token: string
  let accounts: Body[]
  let publications: Body[]
  const random = new SeededRandom(1)
  const accountIds = Array.from({ length: 7 }, (_, index) => `L-${index}`)

  before(async () => {
    tenant = await service.newTenant()
    token = await tenant.serviceToken()
    accounts = await tenant.add(
      'accounts',
      accountIds.map((id) => sampleAccount(id)),
    )
    publications = await tenant.add(
      'publications',
      ['Wk', 'wk', 'DAILY', 'M&L'].map((code) => samplePublication(code)),
    )
    // Another tenant with the same names, whose records are nobody else's.
    const other = await service.newTenant()
    await other.add('accounts', [sampleAccount('L-0')])
    const [publication] = await other.add('publications', [samplePublication('Wk')])
    await other.add('subscriptions', [sampleSubscription('L-0', String(publication?.id))])
    await other.add('invoices', [sampleInvoice('L-0', null)])
  })

  const byAccount = (): Choice[] => {
    const [, , account] = accounts
    const selects = ({ accountId }: Body) => accountId === 'L-2'
    return [
      everything,
      choice('accountId', 'L-2', selects),
      choice('accountId', account?.id, selects),
      choice('accountId', String(account?.id).toUpperCase(), selects),
      choice('accountId', 'l-2', () => false),
      choice('accountId', nobody, () => false),
    ]
  }
  const byPublication = (): Choice[] => {
    const [, second, , fourth] = publications
    const isSecond = ({ publicationId }: Body) => publicationId === second?.id
    return [
      everything,
      choice('publicationId', second?.id, isSecond),
      choice('publicationId', String(second?.id).toUpperCase(), isSecond),
      choice('publicationId', 'wk', isSecond),
      choice('publicationId', 'M&L', ({ publicationId }) => publicationId === fourth?.id),
      choice('publicationId', 'WK', () => false),
      choice('publicationId', nobody, () => false),
    ]
  }
  const statuses = [null, '', 'active', 'ACTIVE', 'Active', 'grace', 'Läuft', 'a&publicationId=b', "it's"]
  const byStatuses = [
    everything,
    ...['active', 'aCTIVE', 'LÄUFT', '', 'a&publicationId=b', "it's", 'none'].map(byStatus),
  ]

  test('of subscriptions combine status, publication, account and deletion', async () => {
    const subscriptions = await addAll(
      tenant,
      'subscriptions',
      Array.from({ length: 2_500 }, () =>
        sampleSubscription(random.pick(accountIds), String(random.pick(publications).id), {
          status: random.pick(statuses),
          deletedAt: random.chance(10) ? '2026-03-04T05:06:07.089Z' : null,
        }),
      ),
      { leap: 4_000, batch: 500 },
    )
    const live: Choice = { query: '', selects: ({ deletedAt }) => deletedAt === null }
    const byDeletion = [
      live,
      { ...live, query: '&includeDeleted=false' },
      { ...everything, query: '&includeDeleted=true' },
    ]
    const choices = combinations(byDeletion, byAccount(), byPublication(), byStatuses)
    // Each choice meets each other one often enough when every eleventh combination is looked at.
    for (const { query, selects } of choices.filter((_, index) => index % 11 === 0)) {
      await assertList(token, `/subscriptions?${query.slice(1)}`, subscriptions.filter(selects))
    }
    await everyPage(token, '/subscriptions?pageSize=97', 97, subscriptions.filter(live.selects))
    await everyPage(token, '/subscriptions?includeDeleted=true&pageSize=103', 103, subscriptions)
  })

  test('of invoices combine status, publication and account', async () => {
    const invoices = await addAll(
      tenant,
      'invoices',
      Array.from({ length: 1_500 }, () =>
        sampleInvoice(random.pick(accountIds), random.pick([null, ...publications.map(({ id }) => String(id))]), {
          status: random.pick(statuses.filter((status) => status !== null)),
        }),
      ),
      { leap: 4_096, batch: 500 },
    )
    const choices = combinations(byAccount(), byPublication(), byStatuses)
    for (const { query, selects } of choices.filter((_, index) => index % 5 === 0)) {
      await assertList(token, `/invoices?${query.slice(1)}`, invoices.filter(selects))
    }
    await everyPage(token, '/invoices?pageSize=200&status=active', 200, invoices.filter(byStatus('active').selects))
  })

  test('of accounts combine status and search', async () => {
    const own = await service.newTenant()
    const key = await own.serviceToken()
    const given = Array.from({ length: 1_500 }, (_, index) =>
      sampleAccount(`N${index}`, {
        status: random.pick(statuses),
        company: random.pick(['Ink', 'Paper', null]),
        city: random.pick(['Oslo', null, 'Ål']),
        billingEmail: null,
        webAddress: `https://${random.pick(['www', 'shop'])}.example.com`,
      }),
    )
    const stored = await addAll(own, 'accounts', given, { leap: 4_000, batch: 500 })
    const fields = ['accountId', 'company', 'city', 'billingEmail', 'webAddress']
    const searches = ['', 'INK', 'n12', 'oslo shop', 'al', 'n1 paper www', 'absent'].map((search) =>
      search === '' ? everything : bySearch(search, fields),
    )
    for (const { query, selects } of combinations(byStatuses, searches)) {
      await assertList(key, `/accounts?${query.slice(1)}`, stored.filter(selects))
    }
  })

  test('of publications combine isActive, which may be unknown, and search', async () => {
    const own = await service.newTenant()
    const key = await own.serviceToken()
    const given = Array.from({ length: 1_600 }, (_, index) =>
      samplePublication(`P${index}`, {
        isActive: random.pick([true, false, null]),
        name: random.pick([null, 'Zeitschrift', 'Revue']),
      }),
    )
    const stored = await addAll(own, 'publications', given, { leap: 4_000 })
    const byActivity = [
      everything,
      ...[true, false].map((flag) => choice('isActive', flag, (one) => one.isActive === flag)),
    ]
    const searches = [
      everything,
      ...['revue', 'P9', 'p1 zeit', 'z'].map((search) => bySearch(search, ['code', 'name'])),
    ]
    for (const { query, selects } of combinations(byActivity, searches)) {
      await assertList(key, `/publications?${query.slice(1)}`, stored.filter(selects), 151)
    }
  })

  test('leave tallies that equal a recount', () => assertTallies(service.owner))
})

const everyPage = async (token: string, list: string, pageSize: number, expected: Body[]): Promise<void> => {
  const last = Math.ceil(expected.length / pageSize)
  for (let page = 1; page <= last; page++) await assertPage(token, list, page, pageSize, expected)
}

/** For texts of ASCII and a few letters with accents. */
const plain = (text: string): string =>
  text.toLowerCase().replaceAll(/[åä]/g, 'a').replaceAll('é', 'e').replaceAll('ß', 'ss')

const bySearch = (search: string, fields: readonly string[]): Choice =>
  choice('search', search, (record) =>
    plain(search)
      .split(' ')
      .every((word) => fields.some((field) => plain(String(record[field] ?? '')).includes(word))),
  )

describe('search', () => {
  test('finds every e-mail address and phone number by its whole text, alone and beside another word', async () => {
    const tenant = await service.newTenant()
    const token = await tenant.serviceToken()
    await tenant.add('accounts', [sampleAccount('S')])
    const texts = [
      'j@b-c.com',
      '01-23-45-67-89',
      '+1(2)3-4',
      'a.b.c.d.e.f@g.h',
      'x'.repeat(50),
      '-'.repeat(12),
      'é-ü-ö-ß-é-ab',
      '%_\\%_\\%_\\abc',
    ]
    const others = Array.from({ length: 1_500 }, (_, index) => sampleContact('S', { name: `Person ${index}` }))
    await tenant.add('contacts', others)
    await tenant.add(
      'contacts',
      texts.map((text) => sampleContact('S', { name: 'Zorblax', email: text, phone: null })),
    )
    for (const text of texts) {
      for (const search of [text, `zorblax ${text}`, `${text} zorblax`]) {
        const { body } = await get(token, `/contacts?search=${encodeURIComponent(search)}`)
        assert.deepEqual(
          body.items.map(({ email }: Body) => email),
          [text],
          search,
        )
      }
    }
  })

  test('ignores case, accents and compatibility forms, and takes every other character as it is', async () => {
    const cases: [stored: string, finds: string[], misses: string[]][] = [
      [
        'Müller',
        ['müller', 'MULLER', 'Mu\u0308ller', 'ü', 'Ull', 'Mueller', 'muel'],
        ['m ller x', 'miller', 'eller', 'mue'],
      ],
      ['Mueller', ['müller', 'muller', 'mueller', 'eller', 'ELLER'], ['moller']],
      ['Straße', ['STRASSE', 'straße', 'ß', 'ss', 'ẞ'], ['strase']],
      ['Søren Kjær', ['soren kjar', 'SOEREN KJAER', 'Sören', 'kjær', 'æ', 'Ø'], ['sern', 'kjer']],
      ['Ålborg', ['aalborg', 'alborg', 'å', 'AALB'], ['elborg']],
      ['Wałęsa, Łódź', ['walesa', 'lodz', 'WAŁĘSA', 'ł'], ['łodzia']],
      ['Guðrún Þórsdóttir', ['gudrun thorsdottir', 'GUÐRÚN', 'þór'], ['porsdottir']],
      ['Cœur de Lion', ['coeur', 'cœur', 'COEUR'], ['ceur', 'cor']],
      ['Manuel', ['manuel', 'el', 'uel', 'nuel', 'Manül'], ['manel']],
      ['Đặng O’Brien', ['dang', 'đặng', "o'brien", 'O’Brien'], ['bang']],
      ['Bauer-Frauenfeld', ['bauer', 'enfeld', 'er-frau', 'frauenfeld', 'bauer–frauen'], ['bayer']],
      ['joe.raether@example.com', ['joe.raether@example.com', 'e.raether@', 'er@example', 'räther'], ['ja.raether']],
      ['jo@example.com', ['jo@example.com', 'JÖ@example.com'], ['joe@example.com', 'joe@', 'joe']],
      ['joe@example.com', ['joe@example.com', 'Joe', 'oe@ex', 'jo@example.com'], ['jose@example.com']],
      ['A-00815 0049 30 1', ['00815', 'A-00815', '0049'], ['0815 2', '0048']],
      ['ΟΔΥΣΣΕΎΣ', ['οδυσσεύς', 'Οδυσσευσ', 'ς', 'Σ', 'σ'], ['ζ']],
      ['Чайковский', ['чайковскии', 'ЧАЙ', 'ч'], ['щ']],
      ['東京タワー', ['東京', '京', 'ﾀﾜｰ', 'タワ'], ['京東']],
      ['İstanbul ısı', ['istanbul', 'ISTANBUL', 'isi'], ['ostanbul']],
      ['ﬁle № 5', ['file', 'FI', 'no'], ['fine']],
      ['100% cotton', ['100%', '%', '0% cot'], ['100_', '1%0', '%%']],
      ['snake_case', ['e_c', '_'], ['snakeXcase', 'e__c', '%']],
      ['C:\\temp\\new', ['\\', '\\temp', 'C:\\', '\\n'], ['\\\\', '/temp', '\\%']],
      [`O'Neill "Bob" $1 {a}`, ["o'neill", '"bob"', '$1', '{a}', "'", '"'], ["''", '$2', '{b}']],
      ['x', ['x', 'X'], ['xx', 'y']],
      ['e\u0301té 👩‍👩‍👧', ['ete', 'ÉTÉ', '👩'], ['👨']],
    ]
    const tenant = await service.newTenant()
    const token = await tenant.serviceToken()
    await tenant.add('accounts', [sampleAccount('S')])
    const blank = { name: null, firstName: null, lastName: null, email: null, phone: null, title: null }
    const people = await tenant.add(
      'contacts',
      cases.map(([stored], index) => sampleContact('S', { ...blank, [index % 2 ? 'title' : 'phone2']: stored })),
    )
    for (const more of ['', '&accountId=S']) {
      for (const [index, [stored, finds, misses]] of cases.entries()) {
        for (const search of [...finds, ...misses]) {
          const { body } = await get(token, `/contacts?search=${encodeURIComponent(search)}${more}`)
          const isFound = body.items.some(({ id }: Body) => id === people[index]?.id)
          assert.equal(isFound, finds.includes(search), `"${search}" in "${stored}"${more}`)
        }
      }
    }
  })

  test('looks in every field that it promises and in no other', async () => {
    const promised: [ResourceName, string[], (more: Fields) => Fields][] = [
      [
        'contacts',
        ['name', 'firstName', 'lastName', 'email', 'phone', 'phone2', 'title'],
        (more) => sampleContact('F', more),
      ],
      [
        'accounts',
        ['accountId', 'company', 'city', 'billingEmail', 'webAddress'],
        (more) => sampleAccount('F-2', more),
      ],
      ['publications', ['code', 'name'], (more) => samplePublication('F', more)],
    ]
    const texts = ['notes', 'extension', 'address', 'suite', 'zip', 'state', 'country', 'frequency', 'issFrequency']
    for (const [resource, fields, sample] of promised) {
      const tenant = await service.newTenant()
      const token = await tenant.serviceToken()
      await tenant.add('accounts', [sampleAccount('F')])
      const others = texts.filter((field) => field in sample({}))
      for (const field of [...fields, ...others]) {
        const [record] = await tenant.add(resource, [sample({ [field]: `qq${field}zz` })])
        const { body } = await get(token, `/${resource}?search=QQ${field}ZZ`)
        assert.deepEqual(idsOf(body.items), fields.includes(field) ? [record?.id] : [], `${resource} ${field}`)
        // The next one would have the same business identifier.
        await tenant.add(resource, []).then(() => rename(resource, tenant.id))
      }
    }
  })

  test('finds several words in different fields, but no word across two', async () => {
    const tenant = await service.newTenant()
    const token = await tenant.serviceToken()
    await tenant.add('accounts', [sampleAccount('W', { company: 'Wood', city: 'Land', webAddress: 'a\tb' })])
    const total = async (search: string) =>
      (await get(token, `/accounts?search=${encodeURIComponent(search)}`)).body.total
    for (const search of ['land wood', ' wood  land ', 'woo oo LAN', 'wood wood', '\t', 'a\tb']) {
      assert.equal(await total(search), 1, search)
    }
    for (const search of ['woodland', 'dland', 'wood landx', 'landwood', 'wood\tland', 'null', 'nullnull']) {
      assert.equal(await total(search), 0, search)
    }
    for (const search of ['', ' ', '   ', 'x'.repeat(201)]) {
      const answer = await service.call('GET', `/accounts?search=${encodeURIComponent(search)}`, { token })
      assert.equal(answer.status, 400, search)
    }
    assert.equal(await total('x'.repeat(200)), 0)
  })

  test('gives the same answers whether it looks into an account, reads in order or uses the index', async () => {
    const random = new SeededRandom(2)
    const syllables = ['ka', 'Lo', 'mé', 'zu', 'ß', '%', '_', 'Ta', 'n9', '-']
    const word = () => Array.from({ length: random.between(1, 4) }, () => random.pick(syllables)).join('')
    const tenant = await service.newTenant()
    const token = await tenant.serviceToken()
    await tenant.add('accounts', [sampleAccount('T-1'), sampleAccount('T-2')])
    const records = Array.from({ length: 3_000 }, (_, index) =>
      sampleContact(index % 3 ? 'T-1' : 'T-2', {
        name: word(),
        firstName: null,
        lastName: word(),
        phone: null,
        email: random.chance(60) ? 'common@example.com' : null,
        title: index % 500 ? null : 'Rare Bird',
        hideContact: random.chance(20),
        deletedAt: random.chance(10) ? '2026-01-01T00:00:00.000Z' : null,
      }),
    )
    const contacts = await addAll(tenant, 'contacts', records, { leap: 2_000 })
    const fields = ['name', 'lastName', 'email', 'title']
    const searches = [
      'k',
      'ß',
      'lo',
      '%',
      '_%',
      'kalo',
      'MEZU',
      'tan9',
      'lolo ta',
      'common',
      'common kaka',
      'rare',
      'bird',
      'rare common',
      'rd k',
      'kakaka',
      'absent',
      'absent common',
      'n9-',
      ...Array.from({ length: 6 }, word),
    ]
    const inAccount = ['T-1', 'T-2'].map((id) => choice('accountId', id, ({ accountId }) => accountId === id))
    const shown: Choice[] = [
      { query: '', selects: ({ hideContact, deletedAt }) => !hideContact && deletedAt === null },
      { query: '&includeHidden=true&includeDeleted=true', selects: () => true },
    ]
    const choices = combinations(
      searches.map((search) => bySearch(search, fields)),
      [everything, ...inAccount],
      shown,
    )
    for (const { query, selects } of choices) {
      const expected = contacts.filter(selects)
      const path = `/contacts?${query.slice(1)}`
      assert.deepEqual(idsOf(await walk(service, token, `${path}&pageSize=200`)), idsOf(expected), path)
      await assertPage(token, `${path}&pageSize=20`, 2, 20, expected)
    }
  })
})

/** Frees the business identifiers of a tenant's records for the next ones. */
const rename = async (resource: ResourceName, tenantId: string): Promise<void> => {
  const column = { accounts: 'account_id', publications: 'code' }[String(resource)]
  if (!column) return
  const renaming = `update ${resource} set ${column} = gen_random_uuid()::text where tenant_id = $1 and ${column} like 'F%'`
  await service.owner.query(renaming, [tenantId])
}

describe('a search with many matches', () => {
  let token: string
  let publications: Body[]

  before(async () => {
    const tenant = await service.newTenant()
    token = await tenant.serviceToken()
    const names = (index: number) => (index < 10_000 ? `Weekly exact ${index}` : 'Weekly')
    publications = await addAll(
      tenant,
      'publications',
      Array.from({ length: 10_050 }, (_, index) => samplePublication(`B${index}`, { name: names(index) })),
    )
  })

  test('has no total and no last page beyond 10,000, while next walks all of them exactly once', async () => {
    const first = await get(token, '/publications?search=weekly&pageSize=200')
    assert.equal(first.body.total, null)
    assert.deepEqual(Object.keys(linksOf(first.headers)), ['first', 'next'])
    const walked = await walk(service, token, '/publications?search=weekly&pageSize=200')
    assert.deepEqual(idsOf(walked), idsOf(publications))
    const last = await get(token, '/publications?search=weekly&pageSize=200&page=51')
    assert.deepEqual(idsOf(last.body.items), idsOf(publications.slice(10_000)))
    assert.deepEqual([last.body.total, Object.keys(linksOf(last.headers))], [null, ['first', 'prev']])
    const beyond = await get(token, '/publications?search=weekly&pageSize=200&page=52')
    assert.deepEqual([beyond.body.items, beyond.body.total], [[], null])
  })

  test('has its total and its last page at exactly 10,000', async () => {
    const { body, headers } = await get(token, '/publications?search=exact&pageSize=200')
    assert.equal(body.total, 10_000)
    assert.equal(linksOf(headers).last, '/publications?search=exact&pageSize=200&page=50')
    const last = await get(token, '/publications?search=exact&pageSize=200&page=50')
    assert.deepEqual(idsOf(last.body.items), idsOf(publications.slice(9_800, 10_000)))
    assert.equal(linksOf(last.headers).next, undefined)
  })

  test('shares its list with pages that begin exactly where a block does', async () => {
    // Positions begin at 1, so the first block holds 4,095 of them.
    for (const page of [4_095, 4_096, 4_097, 8_191, 8_192, 8_193]) {
      await assertPage(token, '/publications?pageSize=1', page, 1, publications)
      await assertPage(token, '/publications?pageSize=1&isActive=true', page, 1, publications)
    }
  })

  test('knows its total where no search is, whatever the number', async () => {
    const { body, headers } = await get(token, '/publications?isActive=true&page=10050&pageSize=1')
    assert.deepEqual([body.total, idsOf(body.items)], [10_050, idsOf(publications.slice(-1))])
    assert.equal(linksOf(headers).last, '/publications?isActive=true&pageSize=1&page=10050')
  })
})

/** As if so many visible contacts, each at its position, stood before all others: what leads to a page asks the tallies only. */
const pretend = async (tenant: TestTenant, count: number): Promise<void> => {
  const tallies = `insert into tallies (tenant_id, resource, facet, class, level, block, count)
    select $1, 'contacts', '', 0, level, block, least($2, 1::bigint << level)
    from unnest(array[10, 16, 22, 62]) as level, generate_series(0, ($2 - 1) >> level) as block`
  await service.owner.query(tallies, [tenant.id, count])
  await service.owner.query(`insert into heads (tenant_id, resource, last) values ($1, 'contacts', $2 - 1)`, [
    tenant.id,
    count,
  ])
}

for (const count of [2 ** 10, 3 * 2 ** 16, 2 ** 22]) {
  test(`a page behind ${count.toLocaleString('en')} others begins where it does without them`, async () => {
    const tenant = await service.newTenant()
    await pretend(tenant, count)
    await tenant.add('accounts', [sampleAccount('A-1')])
    await addAll(
      tenant,
      'contacts',
      Array.from({ length: 2_100 }, (_, index) => sampleContact('A-1', { hideContact: index % 3 === 0 })),
      { leap: 5_000 },
    )
    const token = await tenant.serviceToken()
    for (const list of ['/contacts?pageSize=128', '/contacts?pageSize=128&includeHidden=true']) {
      const walked = await walk(service, token, list)
      const all = [...new Array<Body>(count).fill({}), ...walked]
      assert.equal(walked.length, list.includes('Hidden') ? 2_100 : 1_400)
      const last = Math.ceil(all.length / 128)
      for (let page = count / 128 + 1; page <= last + 1; page++) await assertPage(token, list, page, 128, all)
    }
  })
}
