import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/processes/masthead-process.ts'
import { sampleAccount } from '../../test/records/sample-records.ts'
import { startService } from '../../test/service.ts'
import { startHousekeeping } from './housekeeping.ts'

test('what cannot be deleted of one tenant is reported, and holds up no other', async (context) => {
  const service = await startService()
  const tenants = await Promise.all([service.newTenant(), service.newTenant(), service.newTenant()])
  for (const tenant of tenants) {
    await tenant.add('accounts', [sampleAccount('A')])
    const token = await tenant.serviceToken()
    const headers = { 'idempotency-key': 'once' }
    assert.equal((await service.call('POST', '/contacts', { token, body: { accountId: 'A' }, headers })).status, 201)
  }
  const stuck = tenants.toSorted((a, b) => (a.slug < b.slug ? -1 : 1))[0]?.id
  await service.owner.query(`
    update idempotency_records set kept_at = now() - interval '3 days';
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'it stays'; end $$;
    create trigger stays before delete on idempotency_records for each row when (old.tenant_id = '${stuck}') execute function refuse()`)
  const failures: string[] = []
  const { connection } = service.database.forTenant(String(stuck))
  const housekeeping = startHousekeeping({ connection, onError: (message) => failures.push(message) })
  context.after(() => housekeeping.stop())
  await until('all others are deleted', async () => {
    const { rows } = await service.owner.query<{ tenant_id: string }>('select tenant_id from idempotency_records')
    return rows.length === 1 && rows[0]?.tenant_id === stuck
  })
  await until('it is reported', () => failures.length > 0)
  assert.deepEqual(failures, ['expired data could not be deleted: it stays'])
})
