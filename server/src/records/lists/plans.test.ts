import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type ListedName, listedNames, type ResourceName } from '@masthead/contract'
import pg from 'pg'
import { until } from '../../../test/processes/masthead-process.ts'
import { nodesOf, type Plan } from '../../../test/records/plans.ts'
import {
  sampleAccount,
  sampleContact,
  samplePublication,
  sampleSubscription,
} from '../../../test/records/sample-records.ts'
import { startService, type TestTenant } from '../../../test/service.ts'
import { operator } from '../../audit/author.ts'
import { serviceRole } from '../../database/connections/address.ts'
import { queryOn, short } from '../../database/connections/session.ts'
import { tenantQuery } from '../../database/tenant-query.ts'
import { bodyStatement } from '../identifiers.ts'
import type { Fields } from '../stored-record.ts'
import { tables } from '../tables.ts'
import { writeRecords } from '../writes/write.ts'
import { changesStatement } from './changes-statement.ts'
import type { Filters } from './filters.ts'
import { type Place, pageStatement } from './page-statement.ts'
import { newSearchTidier } from './search.ts'
import { searchStatement } from './searched-page.ts'

const service = await startService()
/** A page of every class at 15,000, and one of a status at 5,000, are deeper than the rows that they may read. */
const sizes = { contacts: 16_000, subscriptions: 9_000 }
let large: TestTenant
let small: TestTenant
let fresh: TestTenant
let publicationId: string
const session = new pg.Client(service.connectionString)

const addAll = async (tenant: TestTenant, resource: ResourceName, length: number, make: (index: number) => Fields) => {
  for (let start = 0; start < length; start += 2_000) {
    await tenant.add(
      resource,
      Array.from({ length: Math.min(2_000, length - start) }, (_, index) => make(start + index)),
    )
  }
}

const fill = async (counts: typeof sizes): Promise<TestTenant> => {
  const tenant = await service.newTenant()
  const [publication] = await tenant.add('publications', [samplePublication('P-1'), samplePublication('P-2')])
  publicationId = String(publication?.id)
  await addAll(tenant, 'accounts', 100, (index) => sampleAccount(`A-${index}`))
  await addAll(tenant, 'contacts', counts.contacts, (index) =>
    sampleContact(`A-${index % 100}`, { hideContact: index % 5 === 0, subsOnly: index % 7 === 0 }),
  )
  await addAll(tenant, 'subscriptions', counts.subscriptions, (index) =>
    sampleSubscription(`A-${index % 100}`, publicationId, {
      status: ['active', 'grace', 'active', 'expired', 'active'][index % 5],
    }),
  )
  return tenant
}

before(async () => {
  small = await fill({ contacts: 200, subscriptions: 200 })
  large = await fill(sizes)
  await service.owner.query('analyze')
  // It arrives after the statistics were made, as an import does.
  fresh = await fill({ contacts: 2_000, subscriptions: 2_000 })
  await session.connect()
  await session.query(`set role ${serviceRole}`)
})
after(() => session.end())

/** The generic plan, which every session of the service keeps, as it is carried out for the tenant after it was made for another. */
const planOf = async (tenant: TestTenant, statement: { text: string; values?: unknown[] }) => {
  const setTenant = ({ id }: TestTenant) => session.query(`select set_config('masthead.tenant', $1, true)`, [id])
  const execute = ({ id }: TestTenant) =>
    `execute looked_at (${[id, ...(statement.values ?? [])].map(literal).join(', ')})`
  await session.query('begin')
  try {
    await session.query('set local plan_cache_mode = force_generic_plan')
    await setTenant(small)
    await session.query(`prepare looked_at as ${statement.text}`)
    await session.query(execute(small))
    await setTenant(tenant)
    const { rows } = await session.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      `explain (analyze, timing off, format json) ${execute(tenant)}`,
    )
    return nodesOf(rows[0]?.['QUERY PLAN'][0]?.Plan ?? assert.fail('no plan'))
  } finally {
    await session.query('rollback')
    await session.query('deallocate all')
  }
}

const literal = (value: unknown): string =>
  value === null ? 'null' : pg.escapeLiteral(Array.isArray(value) ? `{${value.join(',')}}` : String(value))

/** Rows that a node read, kept or not. */
const rowsRead = (node: Plan): number =>
  ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0)

const everyClass = [0, 1, 2, 3, 4, 5, 6, 7]
const filters = (more: Partial<Filters> = {}): Filters => ({
  classes: [0],
  values: new Map(),
  search: null,
  conditions: [],
  notOverdue: null,
  ids: null,
  sort: null,
  isOfToday: false,
  ...more,
})
const first: Place = { size: 50, skip: 0 }
const deep = (skip: number): Place => ({ size: 50, skip })
const after4000: Place = { size: 50, after: 4_000 }

describe('plans of lists', () => {
  /** `most`: how many rows the page may read, whatever the size of the tenant. A block has 4,096 positions. */
  type Case = [name: string, resource: ResourceName, filters: () => Filters, place: Place, index: string, most: number]
  const byPosition = (resource: string) => `${resource}_tenant_id_class_position_key`
  const byStatus = () => filters({ values: new Map([['status', 'active']]) })
  const byPublication = () => filters({ values: new Map([['publicationId', publicationId]]) })
  const byBoth = () => filters({ values: new Map([...byPublication().values, ...byStatus().values]) })
  const block = 4_096
  const cases: Case[] = [
    ['first page', 'contacts', () => filters(), first, byPosition('contacts'), 200],
    ['deep page', 'contacts', () => filters(), deep(9_000), byPosition('contacts'), block + 200],
    ['page after a mark', 'contacts', () => filters(), after4000, byPosition('contacts'), 200],
    [
      'first page of every class',
      'contacts',
      () => filters({ classes: everyClass }),
      first,
      byPosition('contacts'),
      1_000,
    ],
    [
      'deep page of every class',
      'contacts',
      () => filters({ classes: everyClass }),
      deep(15_000),
      byPosition('contacts'),
      3 * block,
    ],
    [
      'mark in every class',
      'contacts',
      () => filters({ classes: everyClass }),
      after4000,
      byPosition('contacts'),
      1_000,
    ],
    [
      'account',
      'contacts',
      () => filters({ values: new Map([['accountId', 'A-7']]) }),
      first,
      'contacts_tenant_id_account_id_class_position_idx',
      600,
    ],
    [
      'account, every class',
      'contacts',
      () => filters({ values: new Map([['accountId', 'A-7']]), classes: everyClass }),
      first,
      'contacts_tenant_id_account_id_class_position_idx',
      1_000,
    ],
    ['first page', 'subscriptions', () => filters(), first, byPosition('subscriptions'), 200],
    ['status', 'subscriptions', byStatus, first, 'subscriptions_tenant_id_status_key_class_position_idx', 200],
    [
      'deep page of a status',
      'subscriptions',
      byStatus,
      deep(5_000),
      'subscriptions_tenant_id_status_key_class_position_idx',
      block + 200,
    ],
    [
      'status after a mark',
      'subscriptions',
      byStatus,
      after4000,
      'subscriptions_tenant_id_status_key_class_position_idx',
      200,
    ],
    [
      'publication and status',
      'subscriptions',
      byBoth,
      first,
      'subscriptions_tenant_id_publication_id_status_key_class_pos_idx',
      200,
    ],
  ]

  for (const [name, resource, given, place, index, most] of cases) {
    test(`${resource}, ${name}: reads no more than it shows, by ${index}`, async () => {
      const statement = pageStatement(tables[resource], given(), place)
      for (const [tenant, label] of [
        [large, 'large'],
        [fresh, 'fresh'],
      ] as const) {
        const nodes = await planOf(tenant, statement)
        const scans = nodes.filter((node) => node['Relation Name'] === resource)
        const about = `${label}: ${JSON.stringify(scans, null, 1)}`
        assert.ok(!scans.some((node) => node['Node Type'] === 'Seq Scan'), about)
        // The value of the tenant is hidden from the planner, and compared with that of the transaction once a scan.
        assert.ok(
          scans.every((node) => node['Index Cond']?.startsWith('((tenant_id = $1) AND ')),
          about,
        )
        assert.ok(
          nodes.filter((node) => node['One-Time Filter']?.includes('masthead.tenant')).length >= scans.length,
          about,
        )
        // A bitmap names its index, not its table.
        const used = nodes.flatMap((node) => node['Index Name'] ?? []).filter((one) => one.startsWith(`${resource}_`))
        assert.deepEqual([...new Set(used)], [index], about)
        const read = scans.reduce((sum, node) => sum + rowsRead(node), 0)
        assert.ok(read <= most, `${read} rows read; ${about}`)
      }
    })
  }

  test('a record is found by its id and by its business identifier without a scan', async () => {
    const statements: [ResourceName, string, string][] = [
      ['contacts', '00000000-0000-7000-8000-000000000000', 'contacts_pkey'],
      ['subscriptions', '00000000-0000-7000-8000-000000000000', 'subscriptions_pkey'],
      ['subscriptions', 'S-1', 'subscriptions_tenant_id_subscription_id_key'],
    ]
    for (const [resource, given, index] of statements) {
      const { text, key } = bodyStatement(resource, given) ?? assert.fail(`${resource} cannot be named ${given}`)
      const nodes = await planOf(large, { text, values: [[key]] })
      assert.deepEqual(
        nodes.flatMap((node) => node['Index Name'] ?? []),
        [index],
      )
    }
  })
})

describe('a page of changes', () => {
  const cases: [name: string, versions: [ListedName, number][]][] = [
    ['from the beginning', [...listedNames.map((name): [ListedName, number] => [name, 0])]],
    ['from the middle of a list', [['contacts', sizes.contacts / 2]]],
    ['from near its end', [['contacts', sizes.contacts - 10]]],
    ['after everything', [['contacts', 10 * sizes.contacts]]],
  ]
  for (const [name, versions] of cases)
    test(`${name} reads no more than it shows, by the indexes of versions`, async () => {
      for (const tenant of [large, fresh, small]) {
        const nodes = await planOf(tenant, changesStatement(new Map(versions), 201))
        // The other tables have a page of rows at most here, which PostgreSQL reads whole.
        const scans = nodes.filter((node) => ['contacts', 'subscriptions'].includes(node['Relation Name'] ?? ''))
        const about = JSON.stringify(nodes, null, 1)
        assert.deepEqual(
          scans.map((node) => node['Index Name']),
          ['contacts_tenant_id_version_idx', 'subscriptions_tenant_id_version_idx'],
          about,
        )
        const read = scans.reduce((sum, node) => sum + rowsRead(node), 0)
        assert.ok(read <= 201, `${read} rows read; ${about}`)
      }
    })
})

test('a search costs no scan of the tenant for each of its matches, however new the tenant is', async () => {
  for (const parts of [null, ['lovelace']]) {
    const search = { words: ['lovelace'], partsFor: () => parts, many: null }
    const asked = { ...filters({ classes: everyClass }), search }
    for (const tenant of [fresh, large, small]) {
      const nodes = await planOf(tenant, searchStatement(tables.contacts, asked, first, null))
      const read = nodes
        .filter((node) => node['Relation Name'] === 'contacts')
        .reduce((sum, node) => sum + rowsRead(node), 0)
      assert.ok(read <= 100, `${read} rows read: ${JSON.stringify(nodes)}`)
    }
  }
})

test('writes find their records by an index, by a plan that is kept, whichever tenant comes first', async () => {
  const client = new pg.Client(service.connectionString)
  await client.connect()
  const plans: Plan[] = []
  client.on('notice', ({ message = '' }) => {
    const [, plan] = /plan:\n(\{.*)$/s.exec(message) ?? []
    const told: { 'Query Text': string; Plan: Plan } | null = plan ? JSON.parse(plan) : null
    if (told && /with (given|head) as/.test(told['Query Text'])) plans.push(told.Plan)
  })
  const author = operator
  try {
    await client.query(`load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on;
      set auto_explain.log_format = json; set client_min_messages = log; set plan_cache_mode = force_generic_plan;
      set enable_seqscan = off; set role masthead_service`)
    for (const tenant of [small, fresh, large]) {
      await client.query('begin')
      await client.query(`select set_config('masthead.tenant', $1, true)`, [tenant.id])
      const query = tenantQuery(tenant.id, queryOn(client, short))
      const created = { ...sampleContact('A-7'), id: randomUUID() }
      const changed = { ...created, name: 'Another', hideContact: true }
      await writeRecords(query, 'contacts', [{ before: null, after: created, author }])
      await writeRecords(query, 'contacts', [{ before: created, after: changed, author, delivery: {} }])
      await writeRecords(query, 'contacts', [{ before: changed, after: null, author }])
      await client.query('rollback')
    }
  } finally {
    await client.end()
  }
  assert.equal(plans.length, 9)
  for (const plan of plans) {
    const scans = nodesOf(plan).filter((node) => node['Relation Name'] && /Scan$/.test(node['Node Type']))
    const good = scans.filter((node) => node['Node Type'] !== 'Seq Scan' && rowsRead(node) <= 12)
    assert.ok(scans.length > 0 && good.length === scans.length, JSON.stringify(scans, null, 1))
  }
})

test('what is written waits for the index of searches until writing pauses, and is found meanwhile', async () => {
  const tidied: string[] = []
  const tidy = newSearchTidier({
    ...service.database,
    query: (statement) => {
      if (/tidy_search/.test(statement.text)) tidied.push(statement.text)
      return service.database.query(statement)
    },
  })
  const token = await fresh.serviceToken()
  const pagesThatWait = async (): Promise<number> => {
    const { rows } = await service.owner.query(`select gin_clean_pending_list('search_texts_by_text') as pages`)
    return Number(rows[0]?.pages)
  }
  const finds = async (word: string) => (await service.call('GET', `/contacts?search=${word}`, { token })).body.total
  await tidy()
  assert.deepEqual([tidied.length, await pagesThatWait()], [1, 0])
  await fresh.add('contacts', [sampleContact('A-7', { name: 'Xanthippe' })])
  assert.equal(await finds('Xanthippe'), 1)
  await until('what waits is put into the index', async () => {
    await tidy()
    return tidied.length === 2
  })
  assert.deepEqual([await pagesThatWait(), await finds('Xanthippe')], [0, 1])
})
