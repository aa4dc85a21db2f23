import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { sampleAccount, sampleContact } from '../../../test/records/sample-records.ts'
import { assertTenantTallies } from '../../../test/records/tallies.ts'
import { type Service, startService, type TestTenant, walk } from '../../../test/service.ts'
import { newId } from '../identifiers.ts'
import { insertRecords } from '../writes/write.ts'

const service = await startService()
const program = new URL('../../../test/records/inserting-process.ts', import.meta.url)
const children: ChildProcess[] = []
// Several look at once, which one client cannot do.
const owners = new pg.Pool({ connectionString: service.connectionString })
let tenant: TestTenant
let token: string

after(async () => {
  for (const child of children) child.kill('SIGKILL')
  await owners.end()
})

before(async () => {
  tenant = await service.newTenant()
  token = await tenant.serviceToken()
  await tenant.add('accounts', [sampleAccount('W-1'), sampleAccount('W-2')])
})

const contacts = (length: number) => Array.from({ length }, () => sampleContact('W-1'))

/** Resolves when the process has inserted something. */
const startInserting = async (seed: number): Promise<void> => {
  const child = fork(program, [service.connectionString, tenant.id, 'W-1', String(seed)], { execArgv: [] })
  children.push(child)
  const [said] = await Promise.race([once(child, 'message'), once(child, 'exit')])
  assert.equal(said, 'inserting')
}

const stopInserting = async (child: ChildProcess): Promise<number> => {
  child.send('stop')
  const [[inserted], [code]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  assert.equal(code, 0)
  return Number(inserted)
}

const visiblePositions = async (): Promise<{ count: number; last: number }> => {
  const { rows } = await owners.query<{ count: number; last: number }>(
    'select count(*) as count, coalesce(max(position), 0) as last from contacts where tenant_id = $1',
    [tenant.id],
  )
  return rows[0] ?? { count: 0, last: 0 }
}
const countContacts = async (): Promise<number> => (await visiblePositions()).count

const storedIds = async (): Promise<string[]> => {
  const { rows } = await owners.query<{ id: string }>('select id from contacts where tenant_id = $1', [tenant.id])
  return rows.map(({ id }) => id)
}

test('a record that commits late comes before one that another caller begins after it', async () => {
  await tenant.add('contacts', contacts(10))
  const late = sampleContact('W-1', { id: newId() })
  const { promise: inserted, resolve: hasInserted } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const lateInsert = service.database.forTenant(tenant.id).transaction(async (query) => {
    await insertRecords(query, 'contacts', [late])
    hasInserted()
    await released
  })
  await inserted
  const overtaking = service.call('POST', '/contacts', { token, body: { accountId: 'W-1', name: 'Ada Lovelace' } })
  // The other insert is in flight: it waits for the lock, or has overtaken.
  let isAnswered = false
  const answered = overtaking.finally(() => {
    isAnswered = true
  })
  while (!isAnswered && !(await someoneWaits()));
  const path = '/contacts?pageSize=200'
  const seen = await walk(service, token, path)
  release()
  await lateInsert
  const { body: overtaker } = await answered
  const ids = (await walk(service, token, path)).map(({ id }) => id)
  assert.deepEqual(
    ids.slice(0, seen.length),
    seen.map(({ id }) => id),
  )
  assert.deepEqual(ids.slice(seen.length), [late.id, overtaker.id])
})

const someoneWaits = async (): Promise<boolean> => {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await owners.query(waiting)).rowCount !== 0
}

test('a walk returns all that was there exactly once while other processes insert, change and delete', async () => {
  await tenant.add('contacts', contacts(600))
  await Promise.all([1, 2, 3].map(startInserting))
  const before = (await visiblePositions()).count
  const paths = [
    '/contacts?pageSize=50',
    '/contacts?accountId=W-1&pageSize=70',
    '/contacts?search=lovelace&pageSize=200',
    '/contacts?includeHidden=true&includeSubsOnly=true&includeDeleted=true&pageSize=60',
  ]
  const walks = new Map(paths.map((path) => [path, 0]))
  let hasFailed = false
  const goesOn = (): boolean => !hasFailed && [...walks.values()].some((count) => count < 3)
  const touched = new Set<string>()

  const watchPositions = async (): Promise<void> => {
    for (; goesOn(); await delay(10)) {
      const { count, last } = await visiblePositions()
      assert.equal(count, last, 'no position is visible before those below it')
    }
  }
  const changeOthers = async (): Promise<void> => {
    const changes = [
      (id: string) => service.call('DELETE', `/contacts/${id}`, { token }),
      (id: string) =>
        service.call('PATCH', `/contacts/${id}`, { token, body: { accountId: 'W-1', hideContact: true } }),
      (id: string) => service.call('PATCH', `/contacts/${id}`, { token, body: { accountId: 'W-2', name: 'Moved' } }),
      (id: string) => service.call('PATCH', `/contacts/${id}`, { token, body: { accountId: 'W-1', subsOnly: true } }),
    ]
    for (let turn = 0; goesOn(); turn++, await delay(10)) {
      const ids = (await storedIds()).filter((id) => !touched.has(id))
      const id = ids[(turn * 7919) % ids.length] ?? ''
      touched.add(id)
      const answer = await changes[turn % changes.length]?.(id)
      assert.equal(answer?.status, 200)
    }
  }
  const watched: Service = {
    ...service,
    call: (...request) => {
      for (const child of children) child.send('page')
      return service.call(...request)
    },
  }
  const walkAgainAndAgain = async (path: string): Promise<void> => {
    // No more often, because each walk makes the next ones longer.
    for (let times = 0; goesOn() && times < 3; times++) {
      const there = await storedIds()
      const ids = (await walk(watched, token, path)).map(({ id }) => String(id))
      assert.equal(new Set(ids).size, ids.length, `${path} returns nothing twice`)
      const returned = new Set(ids)
      const missed = there.filter((id) => !returned.has(id) && !touched.has(id))
      assert.deepEqual(missed, [], `${path} misses nothing`)
      walks.set(path, (walks.get(path) ?? 0) + 1)
    }
  }
  // A failure of one ends all, so that nothing is left running.
  const outcomes = await Promise.allSettled(
    [watchPositions(), changeOthers(), ...paths.map(walkAgainAndAgain)].map((work) =>
      work.catch((error) => {
        hasFailed = true
        throw error
      }),
    ),
  )
  const inserted = await Promise.all(children.map(stopInserting))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  assert.ok(
    inserted.every((count) => count > 0),
    'every process inserted',
  )
  assert.ok((await countContacts()) > before, 'records arrived during the walks')
  const { count, last } = await visiblePositions()
  assert.equal(count, last)
  await assertTenantTallies(service.owner, tenant.id)
})
