import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { spawnMasthead, until } from '../../../test/processes/masthead-process.ts'
import { environmentOf, importer, newFolder } from '../../../test/records/import-files.ts'
import { assertTenantTallies } from '../../../test/records/tallies.ts'
import { startService, type TestTenant, walk } from '../../../test/service.ts'

const service = await startService()
/** Two batches of an import and a little more. */
const count = 5_200
const accounts = `accountId,company\n${Array.from({ length: 100 }, (_, index) => `A-${index},Company ${index}`).join('\n')}\n`
const contacts = (name: string) =>
  `externalId,accountId,name\n${Array.from({ length: count }, (_, index) => `x${index},A-${index % 100},${name} ${index}`).join('\n')}\n`

const rowsOf = async ({ id }: TestTenant, condition = 'true'): Promise<number> => {
  const { rows } = await service.owner.query(
    `select count(*)::integer as count from contacts where tenant_id = $1 and ${condition}`,
    [id],
  )
  return rows[0]?.count
}

/** A terminal sends its signals to these, too. */
const childrenOf = ({ pid }: ChildProcess): number[] =>
  execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number)

describe('an import that is interrupted', () => {
  const begin = async (name: string) => {
    const tenant = await service.newTenant()
    const folder = await newFolder({ 'accounts.csv': accounts, 'contacts.csv': contacts(name) })
    const { child, ended } = spawnMasthead(
      ['import', folder, '--tenant', tenant.slug, '--json'],
      environmentOf(service),
    )
    return { tenant, folder, child, ended, ...importer(service, tenant) }
  }

  const interruptions: [when: string, signal: NodeJS.Signals, reached: number | null][] = [
    ['before it wrote anything', 'SIGKILL', null],
    ['after its first contacts', 'SIGKILL', 2_500],
    ['before its last contacts', 'SIGKILL', 5_000],
    ['by Ctrl-C', 'SIGINT', 2_500],
  ]
  for (const [when, signal, reached] of interruptions) {
    test(`${when} is completed by the same command, with no duplicate`, async () => {
      const release = await holdAt(reached ?? 0)
      const { tenant, folder, child, ended, counts, masthead } = await begin('Ada')
      await (reached === null ? until('it has begun to stage', isStaging) : until('it has come so far', isHeld))
      if (signal === 'SIGINT') for (const pid of childrenOf(child)) process.kill(pid, signal)
      child.kill(signal)
      const { code, stderr } = await ended
      await release()
      if (signal === 'SIGINT') {
        assert.equal(code, 1)
        assert.match(stderr, /interrupted; the same command completes it/)
      }
      await until('the database has noticed', nobodyImports)
      const written = await rowsOf(tenant)
      assert.ok(written < count, 'it was interrupted in time')
      const known = await service.owner.query('select from accounts where tenant_id = $1', [tenant.id])
      assert.deepEqual(await counts(folder), {
        accounts: [100 - (known.rowCount ?? 0), 0, known.rowCount ?? 0, 0],
        contacts: [count - written, 0, written, 0],
      })
      assert.equal(await rowsOf(tenant), count)
      await assertTenantTallies(service.owner, tenant.id)
      const imports = JSON.parse((await masthead('import', 'list', '--json')).stdout)
      const states = imports.map(({ state }: { state: string }) => state)
      assert.deepEqual(states, reached === null ? ['done'] : ['done', 'interrupted'])
      for (const { id } of imports) assert.equal((await masthead('import', 'undo', id)).code, 0)
      assert.equal(await rowsOf(tenant), 0)
      await assertTenantTallies(service.owner, tenant.id)
    })
  }

  test('while it changes records leaves each as it was or as it should be', async () => {
    const { tenant, folder, ended, counts } = await begin('Ada')
    await ended
    // As autovacuum would by now: without statistics, the next import compares each row with each record.
    await service.owner.query('analyze')
    const second = await newFolder({ 'contacts.csv': contacts('Bob') })
    const release = await holdAt(2_500)
    const { child, ended: killed } = spawnMasthead(['import', second, '--tenant', tenant.slug], environmentOf(service))
    await until('some contacts have changed', isHeld)
    child.kill('SIGKILL')
    await killed
    await release()
    await until('the database has noticed', nobodyImports)
    const changed = await rowsOf(tenant, `name like 'Bob%'`)
    assert.ok(changed > 0 && changed < count, `${changed}`)
    assert.deepEqual(await counts(join(second, 'contacts.csv')), { contacts: [0, count - changed, changed, 0] })
    assert.deepEqual((await counts(folder)).contacts, [0, count, 0, 0])
    await assertTenantTallies(service.owner, tenant.id)
  })
})

describe('while an import runs', () => {
  test('it shows as running, and another one is refused', async () => {
    const tenant = await service.newTenant()
    const { counts, complaint, masthead } = importer(service, tenant)
    const folder = await newFolder({ 'accounts.csv': accounts })
    await counts(folder)
    // Its first batch waits for this lock.
    await service.owner.query('begin')
    await service.owner.query('select from heads where tenant_id = $1 for update', [tenant.id])
    const second = await newFolder({ 'accounts.csv': accounts.replaceAll('Company', 'Firm') })
    const { ended } = spawnMasthead(['import', second, '--tenant', tenant.slug], environmentOf(service))
    const states = async (): Promise<string[]> =>
      JSON.parse((await masthead('import', 'list', '--json')).stdout).map(({ state }: { state: string }) => state)
    await until('it shows as running', async () => (await states())[0] === 'running')
    assert.match(await complaint(folder), /another import or undo of this tenant is running/)
    await service.owner.query('commit')
    assert.equal((await ended).code, 0)
    assert.deepEqual(await states(), ['done', 'done'])
  })

  test('callers may create accounts under the numbers of its rows', async () => {
    const tenant = await service.newTenant()
    const token = await tenant.serviceToken()
    const rows = Array.from({ length: count }, (_, index) => `A${index + 1},Imported`)
    const folder = await newFolder({ 'accounts.csv': `accountId,company\n${rows.join('\n')}\n` })
    const { ended } = spawnMasthead(['import', folder, '--tenant', tenant.slug], environmentOf(service))
    let over = false
    const finished = ended.finally(() => (over = true))
    let created = 0
    for (; !over || created === 0; created++) {
      const answer = await service.call('POST', '/accounts', { token, body: { company: 'Mine' } })
      assert.equal(answer.status, 201, answer.text)
    }
    const { code, stderr } = await finished
    assert.deepEqual([code, stderr], [0, ''])
    const all = await walk(service, token, '/accounts?pageSize=200')
    assert.equal(new Set(all.map(({ accountId }) => accountId)).size, all.length)
    assert.equal(all.filter(({ company }) => company === 'Imported').length, count)
    await assertTenantTallies(service.owner, tenant.id)
  })

  test('callers read and write the same records', async () => {
    const tenant = await service.newTenant()
    const token = await tenant.serviceToken()
    await importer(service, tenant).counts(await newFolder({ 'accounts.csv': accounts }))
    const folder = await newFolder({ 'contacts.csv': contacts('Ada') })
    const { ended } = spawnMasthead(['import', folder, '--tenant', tenant.slug], environmentOf(service))
    let over = false
    const finished = ended.finally(() => (over = true))
    const written: string[] = []
    for (let number = 0; !over; number++) {
      const body = { accountId: `A-${number % 100}`, name: `Mine ${number}` }
      const answer = await service.call('POST', '/contacts', { token, body })
      assert.equal(answer.status, 201, answer.text)
      written.push(answer.body.id)
      assert.equal((await service.call('GET', `/contacts?page=${number + 1}`, { token })).status, 200)
    }
    assert.equal((await finished).code, 0)
    const all = await walk(service, token, '/contacts?pageSize=200')
    assert.equal(all.length, count + written.length)
    const ids = new Set(all.map(({ id }) => id))
    assert.ok(written.every((id) => ids.has(id)))
    await assertTenantTallies(service.owner, tenant.id)
  })

  test('a caller need not wait for longer than a request may, also where the machine is slow', async (context) => {
    const tenant = await service.newTenant()
    const token = await tenant.serviceToken()
    const rows = Array.from({ length: 2_500 }, (_, index) => `S${index},Slow`)
    const folder = await newFolder({ 'accounts.csv': `accountId,company\n${rows.join('\n')}\n` })
    await service.owner.query(`
      create function take_long() returns trigger language plpgsql as $$ begin perform pg_sleep(0.02); return new; end $$;
      create trigger slow before insert on accounts for each row when (new.account_id like 'S%0') execute function take_long()`)
    const { child, ended } = spawnMasthead(['import', folder, '--tenant', tenant.slug], environmentOf(service))
    context.after(async () => {
      child.kill()
      await service.owner.query('drop trigger slow on accounts; drop function take_long')
    })
    let over = false
    const finished = ended.finally(() => (over = true))
    while (!over) {
      const answer = await service.call('POST', '/accounts', { token, body: { company: 'Mine' } })
      assert.equal(answer.status, 201, answer.text)
      // As somebody who types: too seldom to be met with smaller batches from the beginning.
      await delay(300)
    }
    assert.equal((await finished).code, 0)
  })
})

/** Whoever writes this row of the file waits until it is released. */
const holdAt = async (row: number): Promise<() => Promise<void>> => {
  await service.owner.query(`
    create table held (); create function wait_while_held() returns trigger security definer language plpgsql as $$
      begin perform from public.held; return new; end $$;
    create trigger held before insert or update on contacts for each row
      when (new.external_id = 'x${row}') execute function wait_while_held()`)
  await service.owner.query('begin')
  await service.owner.query('lock table held')
  return async () => {
    await service.owner.query('commit')
    await service.owner.query('drop trigger held on contacts; drop function wait_while_held; drop table held')
  }
}

const isHeld = async (): Promise<boolean> => {
  const { rowCount } = await service.owner.query(
    `select from pg_locks where relation = 'held'::regclass and not granted`,
  )
  return (rowCount ?? 0) > 0
}

const isStaging = async (): Promise<boolean> => {
  const { rowCount } = await service.owner.query(`select from pg_class where relname = 'staged_accounts'`)
  return (rowCount ?? 0) > 0
}

const nobodyImports = async (): Promise<boolean> => {
  const { rowCount } = await service.owner.query(
    `select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
  )
  return rowCount === 0
}
