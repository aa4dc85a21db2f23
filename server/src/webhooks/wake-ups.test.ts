import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { attachTo } from '../../test/outside/webhook-receiver.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { sampleAccount } from '../../test/records/sample-records.ts'
import { startService } from '../../test/service.ts'

/** No worker runs here: the jobs stay as they were added. */
const service = await startService()

const connect = async (): Promise<pg.Client> => {
  const client = new pg.Client(service.connectionString)
  await client.connect()
  after(() => client.end())
  return client
}

const newTenant = async () => {
  const tenant = await service.newTenant()
  await tenant.add('accounts', [sampleAccount('A')])
  await attachTo(service, tenant, { url: 'http://127.0.0.1:1/', secret: '' })
  const token = await tenant.serviceToken()
  const create = () => service.call('POST', '/contacts', { token, body: { accountId: 'A' } })
  const key = `webhooks:${tenant.id}:contacts`
  return { tenant, create, key }
}

describe('a job', () => {
  test('is one for many writes, and names nothing but the tenant', async () => {
    const { tenant, create, key } = await newTenant()
    for (let write = 0; write < 3; write++) assert.equal((await create()).status, 201)
    const { rows } = await service.owner.query('select payload from graphile_worker._private_jobs where key = $1', [
      key,
    ])
    assert.deepEqual(rows, [{ payload: { tenantId: tenant.id } }])
  })

  test('is not announced by NOTIFY, which would make the writes of all tenants wait for each other', async () => {
    const [listener, { create }] = [await connect(), await newTenant()]
    const heard: (string | undefined)[] = []
    listener.on('notification', ({ payload }) => heard.push(payload))
    await listener.query('listen "jobs:insert"')
    assert.equal((await create()).status, 201)
    await service.owner.query(`notify "jobs:insert", 'this one'`)
    await until('the listener hears', () => heard.length > 0)
    assert.deepEqual(heard, ['this one'])
  })

  test('is left behind by a write also when a worker takes the one before at that very moment', async () => {
    const { create, key } = await newTenant()
    await create()
    const taking = await connect()
    await taking.query('begin')
    // As a worker takes a job.
    await taking.query(
      `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'test', attempts = attempts + 1 where key = $1`,
      [key],
    )
    const written = create()
    await until('the write waits for the job', async () => {
      const { rows } = await service.owner.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    })
    await taking.query('commit')
    assert.equal((await written).status, 201)
    const { rows } = await service.owner.query(
      `select key is not null as keyed, locked_at is not null as locked from graphile_worker._private_jobs
        where key = $1 or locked_by = 'test' order by id`,
      [key],
    )
    assert.deepEqual(rows, [
      { keyed: false, locked: true },
      { keyed: true, locked: false },
    ])
  })

  test('is added anew for what is due and has none, and not for what is held back', async () => {
    const [orphaned, held] = [await newTenant(), await newTenant()]
    for (const { create } of [orphaned, held]) await create()
    await service.owner.query('delete from graphile_worker._private_jobs')
    await service.owner.query('update webhook_deliveries set failed_at = now() where tenant_id = $1', [held.tenant.id])
    await service.database.transaction((query) => query({ text: 'select wake_webhook_worker_where_due()' }))
    const { rows } = await service.owner.query('select key from graphile_worker.jobs')
    const keys = rows.map(({ key }) => key)
    assert.ok(keys.includes(`webhooks:${orphaned.tenant.id}:later`))
    assert.ok(!keys.includes(`webhooks:${held.tenant.id}:later`))
  })
})
