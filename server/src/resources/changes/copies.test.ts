import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceName } from '@masthead/contract'
import { until } from '../../../test/processes/masthead-process.ts'
import { FollowedCopy } from '../../../test/records/followed-copy.ts'
import { importer, newFolder } from '../../../test/records/import-files.ts'
import { sampleAccount } from '../../../test/records/sample-records.ts'
import { assertTenantTallies } from '../../../test/records/tallies.ts'
import { startService } from '../../../test/service.ts'
import { operator } from '../../audit/author.ts'
import { eraseContact } from '../contacts/erasure.ts'

const service = await startService()
const tenant = await service.newTenant()
const token = await tenant.serviceToken()
const { masthead, importAll } = importer(service, tenant)

const writers = 8
const roundsOfEach = 12
const imported = 40

/** How many records were written so far, by their lists. */
const written = new Map<ResourceName, number>()
const count = (resource: ResourceName, records: number) => written.set(resource, (written.get(resource) ?? 0) + records)

const call = async (method: string, path: string, body?: object) => {
  const answer = await service.call(method, path, { token, ...(body && { body }) })
  assert.ok(answer.status < 300, answer.text)
  return answer.body
}

/** A contact that is created, changed, left as it is, deleted, restored, and sometimes erased; and an account with its first contact. */
const write = async (writer: number, round: number): Promise<void> => {
  const { id } = await call('POST', '/contacts', { accountId: 'A', name: `${writer}` })
  await call('PATCH', `/contacts/${id}`, { accountId: 'A', name: `${writer} ${round}`, hideContact: round % 2 === 0 })
  await call('PATCH', `/contacts/${id}`, { accountId: 'A', name: `${writer} ${round}` })
  await call('DELETE', `/contacts/${id}`)
  count('contacts', 3)
  if (round % 3 === 0) {
    await call('POST', `/contacts/${id}/restore`)
    count('contacts', 1)
  }
  if (round % 4 === 0) {
    await eraseContact(service.database.forTenant(tenant.id), operator, id)
    count('contacts', 1)
    await call('POST', '/accounts', { company: `${writer}`, firstName: 'Ada' })
    count('accounts', 1)
    count('contacts', 1)
  }
}

/** What an import brings, another changes, and an undo takes back. */
const importAndUndo = async (): Promise<void> => {
  const rows = (name: string) => Array.from({ length: imported }, (_, row) => `X-${row},A,${name}`)
  const file = (name: string) => ({ 'contacts.csv': ['externalId,accountId,name', ...rows(name), ''].join('\n') })
  await importAll(await newFolder(file('first')))
  const { id } = await importAll(await newFolder(file('second')))
  const { code, stderr } = await masthead('import', 'undo', String(id))
  assert.equal(code, 0, stderr)
  count('contacts', 3 * imported)
}

test('copies by long polling, by a stream and by one who was away equal an export, and versions count the writes', async () => {
  await tenant.add('accounts', [sampleAccount('A')])
  count('accounts', 1)
  const over = new AbortController()
  const followed = { origin: () => service.origin, token, signal: over.signal }
  const [polled, streamed, away] = [new FollowedCopy(), new FollowedCopy(), new FollowedCopy()]
  const following = Promise.all([polled.poll(followed), streamed.stream(followed)])
  const importing = importAndUndo()
  const all = Array.from({ length: writers }, async (_, writer) => {
    for (let round = 0; round < roundsOfEach; round++) {
      await write(writer, round)
      // From then on it hears of nothing.
      if (writer === 0 && round === roundsOfEach / 2) await away.catchUp(followed)
    }
  })
  await Promise.all([...all, importing])
  await away.catchUp(followed)
  // A position says how far a copy is, whichever way it came there.
  await until('the copies have heard of everything', () =>
    [polled, streamed].every(({ cursor }) => cursor === away.cursor),
  )
  over.abort()
  await following
  const folder = await newFolder()
  const { code, stderr } = await masthead('export', '--to', folder, '--format', 'ndjson', '--force')
  assert.equal(code, 0, stderr)
  for (const copy of [polled, streamed, away]) await copy.assertEquals(folder)
  assert.ok(streamed.applied > away.applied)
  await assertTenantTallies(service.owner, tenant.id)
  const { rows } = await service.owner.query<{ resource: ResourceName; version: number }>(
    'select resource, version::integer from heads where tenant_id = $1 and version > 0 order by resource',
    [tenant.id],
  )
  assert.deepEqual(
    rows.map(({ resource, version }) => [resource, version]),
    [...written].sort(),
  )
})
