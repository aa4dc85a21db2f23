import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { operations } from '@masthead/contract'
import pg from 'pg'
import { startPgbouncer, withoutPgbouncer } from '../../../test/outside/pgbouncer.ts'
import { populatedTenant } from '../../../test/records/populated-tenant.ts'
import { callOperation } from '../../../test/requests/valid-requests.ts'
import { cloneTemplate, startService } from '../../../test/service.ts'
import { probeTables } from '../../probe/queries.ts'
import { migrate } from '../schema/migrate.ts'
import { findMismatch, findPooling } from './pooler.ts'

describe('a pooler', { skip: withoutPgbouncer }, async () => {
  if (withoutPgbouncer) return
  const direct = await cloneTemplate()
  const pooler = await startPgbouncer(direct, 'transaction')
  const service = await startService({ connectionString: direct, pooler })

  test('is noticed, and whether it gives each transaction another session', async () => {
    assert.equal(await findPooling(direct), 'none')
    assert.equal(await findPooling(pooler), 'transaction')
    assert.equal(await findPooling(await startPgbouncer(direct, 'session')), 'session')
  })

  test('that does is refused for migrations, with what to set', async () => {
    await assert.rejects(migrate(pooler), /set DATABASE_DIRECT_URL to the PostgreSQL server itself/)
  })

  test('must lead to the same database as DATABASE_DIRECT_URL', async () => {
    assert.equal(await findMismatch(pooler, direct), null)
    assert.match((await findMismatch(pooler, await cloneTemplate())) ?? '', /lead to different databases/)
  })

  test('carries every operation, many at once', async () => {
    const { token, records } = await populatedTenant(service)
    for (const operation of operations) {
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => callOperation(service.call, operation, records, { token })),
      )
      for (const { status } of answers) assert.ok(status < 500, `${operation.name}: ${status}`)
      assert.ok(
        answers.some(({ status }) => status < 300),
        operation.name,
      )
    }
  })

  test('lets one tenant see nothing of another', async () => {
    const [one, other] = [await service.newTenant(), await service.newTenant()]
    const { leaks, notProbed } = await probeTables(service.database, one.id, other.id)
    assert.deepEqual({ leaks, notProbed }, { leaks: [], notProbed: [] })
  })

  test('gets its sessions back as they were', async () => {
    const settings = [
      'role',
      'statement_timeout',
      'lock_timeout',
      'jit',
      'enable_seqscan',
      'masthead.tenant',
      'search_path',
    ]
    const text = `select ${settings.map((name) => `coalesce(current_setting('${name}', true), '') as "${name}"`)},
      current_setting('transaction_read_only') as read_only, (select count(*)::int from pg_prepared_statements) as prepared`
    const ask = async (connectionString: string) => {
      const client = new pg.Client(connectionString)
      await client.connect()
      const { rows } = await client.query(text)
      await client.end()
      return rows[0]
    }
    const untouched = await ask(direct)
    for (let session = 0; session < 6; session++) assert.deepEqual(await ask(pooler), untouched)
  })
})
