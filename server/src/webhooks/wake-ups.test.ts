import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { attachTo } from '../../test/outside/webhook-receiver.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { sampleAccount } from '../../test/records/sample-records.ts'
import { startService } from '../../test/service.ts'
import { takeWakes, wakeWhereDue } from './deliveries/queries.ts'

/** No worker runs here: wake-ups stay until the tests take them. */
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
  const token = await tenant.serviceToken()
  const create = () => service.call('POST', '/contacts', { token, body: { accountId: 'A' } })
  const wakes = async () => {
    const { rows } = await service.owner.query('select name from webhook_wakes where tenant = $1 order by name', [
      tenant.id,
    ])
    return rows.map(({ name }) => name)
  }
  const attach = () => attachTo(service, tenant, { url: 'http://127.0.0.1:1/', secret: '' })
  return { tenant, create, wakes, attach }
}

describe('a wake-up', () => {
  test('is one for many writes of a list, and none without an endpoint', async () => {
    const { tenant, create, wakes, attach } = await newTenant()
    await create()
    assert.deepEqual(await wakes(), [])
    await attach()
    assert.deepEqual(await takeWakes(service.database), [tenant.id])
    for (let write = 0; write < 3; write++) assert.equal((await create()).status, 201)
    assert.deepEqual(await wakes(), ['contacts'])
    assert.deepEqual(await takeWakes(service.database), [tenant.id])
    assert.deepEqual(await wakes(), [])
    assert.deepEqual(await takeWakes(service.database), [])
  })

  test('is not announced by NOTIFY, which would make the writes of all tenants wait for each other', async () => {
    const { create, attach } = await newTenant()
    await attach()
    const { rows: before } = await service.owner.query('select pg_notification_queue_usage() as usage')
    assert.equal((await create()).status, 201)
    assert.deepEqual((await service.owner.query('select pg_notification_queue_usage() as usage')).rows, before)
  })

  test('stays for a write in flight, and is left behind by one that a worker overtakes', async () => {
    const { tenant, create, wakes, attach } = await newTenant()
    await attach()
    await create()
    await takeWakes(service.database)
    await create()
    const writing = await connect()
    await writing.query('begin')
    await writing.query(`select set_config('masthead.tenant', $1, true)`, [tenant.id])
    await writing.query(`select wake_webhook_worker($1, 'contacts', now())`, [tenant.id])
    // Its deliveries cannot be seen yet, but those of others can.
    assert.deepEqual(await takeWakes(service.database), [tenant.id])
    assert.deepEqual(await wakes(), ['contacts'])
    await writing.query('commit')
    assert.deepEqual(await takeWakes(service.database), [tenant.id])
    assert.deepEqual(await wakes(), [])
  })

  test('waits for a worker that takes the one before at that very moment, and is there afterwards', async () => {
    const { tenant, create, wakes, attach } = await newTenant()
    await attach()
    await create()
    const taking = await connect()
    await taking.query('begin')
    await taking.query('delete from webhook_wakes where tenant = $1', [tenant.id])
    const written = create()
    await until('the write waits for the worker', async () => {
      const { rows } = await service.owner.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    })
    await taking.query('commit')
    assert.equal((await written).status, 201)
    assert.deepEqual(await wakes(), ['contacts'])
  })

  test('is added anew for what is due and has none, and not for what is held back', async () => {
    const [orphaned, held] = [await newTenant(), await newTenant()]
    for (const { attach, create } of [orphaned, held]) {
      await attach()
      await create()
    }
    await service.owner.query('delete from webhook_wakes')
    await service.owner.query('update webhook_deliveries set failed_at = now() where tenant_id = $1', [held.tenant.id])
    await wakeWhereDue(service.database)
    assert.deepEqual([await orphaned.wakes(), await held.wakes()], [['later'], []])
  })
})
