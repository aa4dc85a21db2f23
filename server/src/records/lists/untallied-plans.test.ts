import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  comparisonsOf,
  fieldOf,
  type Kind,
  type ListedName,
  listedNames,
  mostCounted,
  type Resource,
  resources,
} from '@masthead/contract'
import pg from 'pg'
import { nodesOf, type Plan } from '../../../test/records/plans.ts'
import { sampleRecord } from '../../../test/records/sample-records.ts'
import { linksOf, startService, type TestTenant } from '../../../test/service.ts'
import { serviceRole } from '../../database/connections/address.ts'
import type { Statement } from '../../database/connections/statement.ts'
import type { Database, TenantDatabase } from '../../database/database.ts'
import { tenantQuery } from '../../database/tenant-query.ts'
import { tables } from '../tables.ts'

/** What sorted and freely filtered lists cost in a list that is too large to be gathered. */
const sent: Statement[] = []
const noting = (tenant: TenantDatabase): TenantDatabase => ({
  ...tenant,
  asOfNow: async () => noting(await tenant.asOfNow()),
  asOf: (versions) => noting(tenant.asOf(versions)),
  read: tenantQuery(tenant.tenantId, (statement) => {
    sent.push(statement)
    return tenant.read.withoutTenant(statement)
  }),
})
const service = await startService({
  through: (database): Database => ({ ...database, forTenant: (id) => noting(database.forTenant(id)) }),
})
const session = new pg.Client(service.connectionString)
/**
 * More than a statement may read; of invoices several times as many, so that a walk ends early more than once. `PLAN_RECORDS=1000000`
 * tries it with a million of each, which takes a while.
 */
const lengthOf = (resource: ListedName): number =>
  Number(process.env.PLAN_RECORDS ?? (resource === 'invoices' ? 60_000 : 25_000))
let tenant: TestTenant
let token: string
let publicationId: unknown
let accountId: unknown

/** SQL: a value for the record of this number, so that most values are few and far between. */
const spread: Partial<Record<Kind, string>> = {
  text: `md5(number::text)`,
  uuid: `md5(number::text)::uuid`,
  date: `date '2020-01-01' + (number / 20)`,
  timestamp: `timestamptz '2020-01-01' + number * interval '1 hour'`,
  integer: 'number::bigint * 7919 % 100003',
}

/** As data is loaded in bulk: to make the indexes anew, and to check no reference, takes a third of the time. */
const inBulk = async (resource: ListedName, work: () => Promise<unknown>): Promise<void> => {
  const { rows } = await service.owner.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
      where indrelid = $1::regclass and not exists (select from pg_constraint where conindid = indexrelid) order by indexrelid`,
    [resource],
  )
  for (const { name } of rows) await service.owner.query(`drop index ${name}`)
  await service.owner.query(`set session_replication_role = replica; set maintenance_work_mem = '512MB'`)
  await work()
  await service.owner.query('reset session_replication_role')
  for (const { definition } of rows) await service.owner.query(definition)
}

/** Copies one record, with other values in what lists are sorted by. The position of a record follows its dates. */
const multiply = async (resource: ListedName): Promise<void> => {
  const { rows } = await service.owner.query<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns where table_schema = 'public' and table_name = $1`,
    [resource],
  )
  const sorted = new Set(tables[resource].paths.flatMap(({ order }) => order ?? []))
  const { businessIdentifier }: Resource = resources[resource]
  const unique = new Set([
    'id',
    'external_id',
    ...(businessIdentifier ? [fieldOf(resource, businessIdentifier).column] : []),
  ])
  const kinds: Record<string, Kind> = {
    date: 'date',
    bigint: 'integer',
    uuid: 'uuid',
    'timestamp with time zone': 'timestamp',
  }
  const values = rows.map(({ name, type }) => {
    if (name === 'position' || name === 'version') return `number + 1`
    return sorted.has(name) || unique.has(name) ? (spread[kinds[type] ?? 'text'] ?? name) : name
  })
  await service.owner.query(`select set_config('masthead.tenant', $1, false)`, [tenant.id])
  await inBulk(resource, () =>
    service.owner.query(
      `insert into ${resource} (${rows.map(({ name }) => name).join(', ')})
        select ${values.join(', ')} from ${resource}, generate_series(1, ${lengthOf(resource)}) as number where tenant_id = $1`,
      [tenant.id],
    ),
  )
  await service.owner.query(
    'update tallies set count = count + $2 where tenant_id = $1 and resource = $3 and level = 62',
    [tenant.id, lengthOf(resource), resource],
  )
}

before(async () => {
  tenant = await service.newTenant()
  token = await tenant.serviceToken()
  const [publication] = await tenant.add('publications', [sampleRecord('publications')])
  const [account] = await tenant.add('accounts', [sampleRecord('accounts')])
  publicationId = publication?.id
  accountId = account?.accountId
  for (const resource of listedNames) {
    if (resource !== 'publications' && resource !== 'accounts') {
      const { properties } = resources[resource].record
      const refers = 'publicationId' in properties ? { publicationId } : {}
      await tenant.add(resource, [sampleRecord(resource, { accountId, ...refers })])
    }
    await multiply(resource)
  }
  await service.owner.query('analyze')
  await session.connect()
  await session.query(`set role ${serviceRole}`)
  await session.query(`select set_config('masthead.tenant', $1, false)`, [tenant.id])
})
after(() => session.end())

/** How many rows the statement reads of the table. */
const rowsRead = async (resource: string, { text, values = [] }: Statement): Promise<number> => {
  const { rows } = await session.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
    `explain (analyze, timing off, format json) ${text}`,
    values,
  )
  const nodes = nodesOf(rows[0]?.['QUERY PLAN'][0]?.Plan ?? assert.fail('no plan'))
  const scans = nodes.filter((node) => node['Relation Name'] === resource)
  return scans.reduce((sum, node) => {
    const left = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
    return sum + ((node['Actual Rows'] ?? 0) + left) * (node['Actual Loops'] ?? 0)
  }, 0)
}

/** A page gathers or passes by so many, finds again where it ended, and reads its own bodies. */
const most = 2 * (mostCounted + 1) + 200

const judge = async (resource: string, path: string): Promise<void> => {
  sent.length = 0
  const { status, text } = await service.call('GET', path, { token })
  assert.equal(status, 200, `${path}: ${text}`)
  const statements = sent.filter(({ isPlannedEachTime }) => isPlannedEachTime)
  assert.ok(statements.length > 0, path)
  for (const statement of statements) {
    const read = await rowsRead(resource, statement)
    assert.ok(read <= most, `${path} read ${read} rows:\n${statement.text}\n${statement.values}`)
  }
}

for (const resource of listedNames) {
  describe(`a page of ${resource}`, () => {
    const { sorts, filters } = resources[resource].listing
    const comparisons = comparisonsOf(resource)
    const values: Record<string, string> = {
      date: '2024-01-01',
      timestamp: '2024-01-01T00:00:00.000Z',
      text: 'sample',
      number: 'true',
    }
    const asked = (): string[] => [
      ...comparisons.map(({ parameter, field }) => `${parameter}=${values[field.kind]}`),
      ...filters.map((field) => `${field}=${{ status: 'active', isActive: 'true', publicationId }[field as string]}`),
      ...('accountId' in (resources[resource].record.properties as object) && resource !== 'accounts'
        ? [`accountId=${accountId}`]
        : []),
      ...('overdue' in resources[resource].listing ? ['overdue=true', 'overdue=false'] : []),
    ]

    test('reads no more rows of a large list than it may, in every order, alone and with each filter', async () => {
      // An index is read the same way backwards, so each filter is tried with every order in one of its directions.
      for (const [index, sort] of sorts.entries()) {
        await judge(resource, `/${resource}?sort=${sort}`)
        await judge(resource, `/${resource}?sort=-${sort}`)
        for (const flag of Object.keys(resources[resource].listing.leftOutUnless))
          await judge(resource, `/${resource}?sort=-${sort}&${flag}=true`)
        for (const [turn, filter] of asked().entries())
          await judge(resource, `/${resource}?sort=${(index + turn) % 2 ? '-' : ''}${sort}&${filter}`)
      }
      for (const filter of asked().filter(
        (one) => ![...filters, 'accountId'].some((field) => one.startsWith(`${field}=`)),
      ))
        await judge(resource, `/${resource}?${filter}`)
    })

    test('costs the same after any number of others', async () => {
      for (const sort of sorts) {
        let path: string | undefined = `/${resource}?sort=${sort}&pageSize=200`
        for (let page = 1; page <= 3 && path; page++) {
          await judge(resource, path)
          path = linksOf((await service.call('GET', path, { token })).headers).next
        }
      }
    })
  })
}

describe('a large list', () => {
  test('is sampled for a search by as many lookups as the sample has records, with a plan of their own', async () => {
    sent.length = 0
    await service.call('GET', '/contacts?search=nobody', { token })
    const [sample = assert.fail('no sample was read')] = sent.filter(({ text }) => text.includes('generate_series'))
    // A plan that was cached for a short list reads the whole of a long one for each record.
    assert.equal(sample.isPlannedEachTime, true)
    const read = await rowsRead('contacts', sample)
    assert.ok(read >= 500 && read <= 512, `${read} rows`)
  })

  test('has no total when it is sorted, and no numbered page beyond the first 10,000 records', async () => {
    const last = await service.call('GET', '/invoices?sort=total&pageSize=200&page=50', { token })
    assert.equal(last.status, 200)
    assert.deepEqual([last.body.items.length, last.body.total], [200, null])
    const beyond = await service.call('GET', '/invoices?sort=total&pageSize=200&page=51', { token })
    assert.equal(beyond.status, 400)
    assert.equal(beyond.body.errors[0].parameter, 'page')
    assert.match(beyond.body.errors[0].detail, /first 10,000 records.*`cursor`/)
    const { next = '' } = linksOf(last.headers)
    const { body, headers } = await service.call('GET', next, { token })
    assert.deepEqual([body.page, body.items.length], [51, 200])
    assert.ok(linksOf((await service.call('GET', linksOf(headers).next ?? '', { token })).headers).prev === undefined)
  })

  test('ends a page early that would pass by more than 10,000 records, and goes on from there', async () => {
    const { rows } = await service.owner.query<{ count: number }>(
      `select count(*)::integer as count from invoices where tenant_id = $1 and due_date <= '2021-12-31'`,
      [tenant.id],
    )
    let [found, early] = [0, 0]
    for (let path: string | undefined = '/invoices?dueDateTo=2021-12-31&sort=-issueDate&pageSize=200'; path; ) {
      const { status, body, headers, text } = await service.call('GET', path, { token })
      assert.equal(status, 200, text)
      path = linksOf(headers).next
      found += body.items.length
      if (path && body.items.length < 200) early++
    }
    assert.equal(found, rows[0]?.count)
    assert.ok(early > 3, `${early} pages ended early`)
  })

  test('refuses to sort what a search finds in more than 10,000 records, and says so', async () => {
    await service.owner.query(
      `insert into search_texts (tenant_id, resource, position, class, text)
        select tenant_id, 'contacts', position, class, 'sample' from contacts where tenant_id = $1 and position > 1`,
      [tenant.id],
    )
    const { status, body } = await service.call('GET', '/contacts?search=sample&sort=name', { token })
    assert.equal(status, 400)
    assert.match(body.errors[0].detail, /more than 10,000 records.*Add a word/)
  })
})
