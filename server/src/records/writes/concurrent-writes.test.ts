import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { resourceNames, resources } from '@masthead/contract'
import pg from 'pg'
import { attachUnreachable } from '../../../test/outside/stored-deliveries.ts'
import { until } from '../../../test/processes/masthead-process.ts'
import { newFolder } from '../../../test/records/import-files.ts'
import { sampleAccount } from '../../../test/records/sample-records.ts'
import { assertTenantTallies } from '../../../test/records/tallies.ts'
import { startService, walk } from '../../../test/service.ts'
import { chainWaiting, entriesAfter, verifyChain } from '../../audit/queries.ts'
import { isConnectionLost } from '../../database/connections/unavailable.ts'
import { SeededRandom } from '../../transfer/demo/seeded-random.ts'
import { importFiles } from '../../transfer/import/import.ts'
import { listImports } from '../../transfer/import/journal.ts'
import { undoImport } from '../../transfer/import/undo.ts'
import type { Fields } from '../stored-record.ts'

const service = await startService()
const tenant = await service.newTenant()
const token = await tenant.serviceToken()
await tenant.add('accounts', [sampleAccount('C-1'), sampleAccount('C-2')])
await attachUnreachable(service.owner, tenant.id)

/** Contacts that callers were told of, and what became of each write, by a text that stands in no other. */
const ids: string[] = []
const outcomes = new Map<string, number>()
let written = 0
let ended = 0
let isOver = false

const ask = async (marker: string, method: string, path: string, body?: object) => {
  const answer = await service.call(method, path, { token, ...(body && { body }) })
  assert.ok([200, 201, 409, 422, 503].includes(answer.status), answer.text)
  outcomes.set(marker, answer.status)
  if (answer.status < 300) written++
  return answer
}

/** One thing after the other, without keys, so that all queue up. Now and then an account is named that is not there. */
const call = async (random: SeededRandom, caller: number): Promise<void> => {
  for (let count = 0; !isOver; count++) {
    const name = `N ${outcomes.size}-${caller}-${count}`
    const kind = random.between(0, 9)
    const id = kind > 3 && ids[random.between(0, ids.length - 1)]
    if (kind === 0) await ask(name, 'POST', '/accounts', { company: name, firstName: 'Ada', lastName: 'L' })
    else if (kind === 1) await ask(name, 'POST', '/tasks', { accountId: 'C-2', title: name, dueDate: '2026-01-02' })
    else if (id && kind > 7) await ask('', 'DELETE', `/contacts/${id}`)
    else if (id && kind > 6) await ask('', 'POST', `/contacts/${id}/restore`)
    else if (id) await ask(name, 'PATCH', `/contacts/${id}`, { accountId: 'C-1', name })
    else {
      const body = { accountId: random.chance(5) ? 'nobody' : 'C-1', name }
      const answer = await ask(name, 'POST', '/contacts', body)
      if (answer.status === 201) ids.push(answer.body.id)
    }
  }
}

/**
 * Ends sessions that write, in the middle of what they do: one for so many writes of callers, because on a busy machine
 * an import that lost its session at a fixed pace would begin again for ever.
 */
const endSessions = async (client: pg.Client): Promise<void> => {
  for (let next = 0; !isOver; await delay(20)) {
    if (written < next) continue
    next = written + 10
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'
          and (query like '%heads%' or query = 'commit') order by random() limit 1`,
    )
    ended += rowCount ?? 0
  }
}

/** Positions must appear in their order: a walk that has passed one never comes back. */
const watchPositions = async (client: pg.Client): Promise<void> => {
  const seen = new Set<number>()
  let last = 0
  for (; !isOver; await delay(20)) {
    const { rows } = await client.query<{ position: string }>(
      'select position from contacts where tenant_id = $1 order by position',
      [tenant.id],
    )
    const positions = rows.map(({ position }) => Number(position))
    const late = positions.filter((position) => position <= last && !seen.has(position))
    assert.deepEqual(late, [], `positions that appeared after ${last}`)
    for (const position of positions) seen.add(position)
    last = Math.max(last, ...positions)
  }
}

/** What a reader has who asks, over and over, for what came after the last version that it has seen. */
const copy = new Map<string, number>()
let lastSeen = 0

const readOn = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ id: string; version: number; isRemoved: boolean }>(
    `select id, version::int, false as "isRemoved" from contacts where tenant_id = $1 and version > $2
    union all
    select id, version::int, true from removed_records where tenant_id = $1 and resource = 'contacts' and version > $2
    order by version`,
    [tenant.id, lastSeen],
  )
  for (const { id, version, isRemoved } of rows) {
    if (isRemoved) copy.delete(id)
    else copy.set(id, version)
    lastSeen = version
  }
}

const followVersions = async (client: pg.Client): Promise<void> => {
  for (; !isOver; await delay(10)) await readOn(client)
}

/** Whoever follows has all that there is, and nothing else. */
const assertFollowed = async (): Promise<void> => {
  await readOn(service.owner)
  const { rows } = await service.owner.query<{ id: string; version: number }>(
    'select id, version::int from contacts where tenant_id = $1',
    [tenant.id],
  )
  assert.deepEqual([...copy].sort(), rows.map(({ id, version }) => [id, version]).sort())
}

const connected = async (): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: service.connectionString, application_name: 'test' })
  await client.connect()
  return client
}

const during = async (work: () => Promise<void>): Promise<void> => {
  isOver = false
  const [killer, watcher, follower] = [await connected(), await connected(), await connected()]
  const callers = Array.from({ length: 50 }, (_, number) => call(new SeededRandom(number), number))
  const all = Promise.all([endSessions(killer), watchPositions(watcher), followVersions(follower), ...callers])
  try {
    await Promise.race([all, work()])
  } finally {
    isOver = true
    await all
    await Promise.all([killer.end(), watcher.end(), follower.end()])
  }
}

const seenIn = (values: Fields | null | undefined): unknown[] => [values?.name, values?.deletedAt, values?.updatedAt]

type Values = { before: Fields | null; after: Fields | null }

const assertAll = async (): Promise<void> => {
  await assertTenantTallies(service.owner, tenant.id)
  await assertFollowed()
  const database = service.database.forTenant(tenant.id)
  while (await chainWaiting(service.database));
  const { waiting, broken } = await database.transaction((query) => verifyChain(query))
  assert.deepEqual([waiting, broken], [0, null])
  const entries = await database.transaction((query) => entriesAfter(query, 0, 1_000_000))
  const { rows } = await service.owner.query<{ resource: string; told: string }>(
    `select split_part(event.type, '.', 1) || 's' as resource, event.record_id || ' ' || event.type as told
      from webhook_events as event join webhook_deliveries using (tenant_id, sequence) where tenant_id = $1 order by sequence`,
    [tenant.id],
  )
  const done = new Map<unknown, number>()
  for (const resource of ['accounts', 'contacts', 'tasks'] as const) {
    const byCallers = entries.filter((entry) => entry.resource === resource && 'token' in entry.author)
    const told = rows.filter((row) => row.resource === resource).map((row) => row.told)
    const noted = byCallers.map(({ recordId, action }) => `${recordId} ${resources[resource].singular}.${action}`)
    assert.deepEqual(told, noted, `every write of ${resource} is delivered once, in order`)
    const last = new Map<string, Fields | null>()
    for (const { recordId, values } of byCallers) {
      const { before, after }: Values = JSON.parse(values ?? '{}')
      assert.deepEqual(seenIn(before), seenIn(last.get(recordId)), 'a change has seen the one before it')
      last.set(recordId, after)
      const marker = after?.company ?? after?.title ?? after?.name
      if (before?.name !== marker) done.set(marker, (done.get(marker) ?? 0) + 1)
    }
  }
  for (const [marker, status] of outcomes) {
    const times = done.get(marker) ?? 0
    if (marker === '') continue
    if (status === 503) assert.ok(times <= 1, `${marker} was done ${times} times`)
    else assert.equal(times, status < 300 ? 1 : 0, `${marker} was answered ${status}`)
  }
}

/** While nothing was removed. */
const assertNoGaps = async (): Promise<void> => {
  for (const resource of resourceNames) {
    const { rows } = await service.owner.query(
      `select (select count(*)::integer from ${resource} where tenant_id = $1) as count,
        (select last::integer from heads where tenant_id = $1 and resource = $2) as last`,
      [tenant.id, resource],
    )
    assert.equal(rows[0].count, rows[0].last ?? 0, `positions of ${resource}`)
  }
}

/** Until it goes well: a session of it may be ended, too. */
const insist = async <T>(work: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isConnectionLost(error) && !isConnectionLost((error as Error).cause)) throw error
    }
  }
}

test('writes, imports and their undoing at one time, with sessions that end in the middle, leave nothing half done', async () => {
  const database = service.database.forTenant(tenant.id)
  // A transaction of an import creates 2,500 of them at most.
  const rows = Array.from({ length: 3_000 }, (_, row) => `x${row},${row % 2 ? 'C-1' : 'I-1'},Imported ${row}`)
  const folder = await newFolder({
    'accounts.csv': 'accountId,company\nI-1,Imported\n',
    'contacts.csv': ['externalId,accountId,name', ...rows].join('\n'),
  })
  await during(async () => {
    await insist(() => importFiles(database, [folder]))
    await until('callers have written, too', () => outcomes.size > 300)
  })
  await assertAll()
  await assertNoGaps()

  await during(async () => {
    for (const { id } of await insist(() => database.transaction(listImports))) {
      await insist(() => undoImport(database, id))
    }
  })
  await assertAll()
  assert.ok(ended > 0, 'no session was ended')
  assert.ok((await walk(service, token, '/contacts?pageSize=200')).every(({ name }) => !/^Imported/.test(String(name))))
})
