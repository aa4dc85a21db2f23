import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { storedFieldsOf } from '@masthead/contract'
import { runInSession } from '../../test/processes/command-session.ts'
import { environmentOf, importer, newFolder } from '../../test/records/import-files.ts'
import { addSamples } from '../../test/records/populated-tenant.ts'
import { assertTenantTallies } from '../../test/records/tallies.ts'
import { startService, type TestTenant } from '../../test/service.ts'
import { insertRecords } from '../records/writes/write.ts'
import { demoData } from './demo/demo-data.ts'

const service = await startService()

const exportOf = async ({ slug }: TestTenant, ...words: string[]): Promise<string> => {
  const folder = await newFolder()
  const { code, stderr } = await runInSession(
    ['export', '--tenant', slug, '--to', folder, ...words],
    environmentOf(service),
  )
  assert.equal(code, 0, stderr)
  return folder
}

const contentOf = async (folder: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all(
      (await readdir(folder)).sort().map(async (name) => [name, await readFile(join(folder, name), 'base64')] as const),
    ),
  )

/** Every kind of text and value that can be stored, in records that came in by every way. */
const populate = async (tenant: TestTenant): Promise<void> => {
  await addSamples(tenant, ['Sample'])
  const database = service.database.forTenant(tenant.id)
  await database.transaction(async (query) => {
    for (const { resource, record } of demoData({ accounts: 30, seed: 7, today: '2026-11-15' })) {
      const values: Record<string, unknown> = record
      const stored = storedFieldsOf(resource).map(({ name }) => [name, values[name] ?? null])
      await insertRecords(query, resource, [Object.fromEntries(stored)])
    }
  })
  const texts = [
    '',
    ' ',
    'a,b;c\td',
    '"',
    '""',
    'line\nbreak\r\nand\rmore',
    '\\N',
    '\\',
    '\u2028\u{1F600}',
    "o'",
    '\ufeffbom',
    'ẞς\u0301',
  ]
  const folder = await newFolder({
    'accounts.ndjson': texts
      .map((text, index) =>
        JSON.stringify({
          accountId: index === 0 ? 'X' : `X${text.slice(0, 20)}`,
          company: text,
          category: text,
          quality: null,
          userId: text,
          primaryPublicationId: null,
          notes: undefined,
        }),
      )
      .join('\n'),
    'contacts.ndjson': texts
      .map((text, index) =>
        JSON.stringify({
          externalId: `e${index}${text}`,
          accountId: 'X',
          name: text,
          notes: text,
          ownerId: text,
          hideContact: index % 2 === 0,
          deletedAt: index % 3 === 0 ? '0001-01-01T00:00:00Z' : null,
          createdAt: '9999-12-31T23:59:59.999Z',
        }),
      )
      .join('\n'),
    'invoices.csv':
      'externalId,accountId,status,totalDue,isOpen,issueDate\nv1,X,"",-0.00,,0001-01-01\nv2,X,Ö,-9999999999999.99,0.5,9999-12-31\n',
    'tasks.csv':
      'id,accountId,title,dueDate,userId,priority\n01890000-0000-7000-8000-000000000001,X,Call,2026-01-01,"",high\n',
  })
  const { files } = await importer(service, tenant).importAll(folder)
  assert.deepEqual(
    files.map(({ refused }) => refused),
    files.map(() => 0),
  )
  const token = await tenant.serviceToken()
  const body = { accountId: 'X', title: 'By the API', dueDate: '2026-02-02' }
  assert.equal((await service.call('POST', '/tasks', { token, body })).status, 201)
}

describe('export, import into an empty tenant and export again', () => {
  const original = service.newTenant().then(async (tenant) => {
    await populate(tenant)
    return tenant
  })
  for (const words of [
    ['--format', 'csv'],
    ['--format', 'ndjson'],
    ['--format', 'csv', '--gzip'],
    ['--format', 'ndjson', '--gzip'],
  ]) {
    test(`gives the same bytes with ${words.join(' ')}`, async () => {
      const first = await exportOf(await original, ...words)
      const copy = await service.newTenant()
      const { counts } = importer(service, copy)
      for (const [resource, [created, ...others]] of Object.entries(await counts(first))) {
        assert.ok((created ?? 0) > 0, resource)
        assert.deepEqual(others, [0, 0, 0], resource)
      }
      const second = await exportOf(copy, ...words)
      assert.deepEqual(await contentOf(second), await contentOf(first))
      await assertTenantTallies(service.owner, copy.id)
      for (const [resource, [created, changed, , refused]] of Object.entries(await counts(second))) {
        assert.deepEqual([created, changed, refused], [0, 0, 0], `${resource} are left alone`)
      }
    })
  }
})
