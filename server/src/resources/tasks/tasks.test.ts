import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sampleAccount } from '../../../test/records/sample-records.ts'
import { startService } from '../../../test/service.ts'

const service = await startService()
const tenant = await service.newTenant()
await tenant.add('accounts', [sampleAccount('C-1')])
const given = { accountId: 'C-1', title: 'Call back', dueDate: '2028-02-29' }

const create = (token: string, body: object = given) => service.call('POST', '/tasks', { token, body })

describe('creating a task', () => {
  test('answers 201 with the task and the canonical account', async () => {
    const token = await tenant.serviceToken()
    const { body: account } = await service.call('GET', '/accounts/C-1', { token })
    const { status, body, headers } = await create(token, {
      ...given,
      accountId: account.id,
      userId: 'u1',
      priority: 'high',
      type: null,
    })
    assert.equal(status, 201)
    assert.deepEqual([headers.get('etag'), headers.get('location')], [null, null], 'a task has no address')
    assert.deepEqual(body, { id: body.id, ...given, userId: 'u1', route: 'native' })
    const { rows } = await service.owner.query(
      'select account_id, title, due_date::text, user_id, priority, type, route from tasks where id = $1',
      [body.id],
    )
    assert.deepEqual(rows, [
      {
        account_id: 'C-1',
        title: 'Call back',
        due_date: '2028-02-29',
        user_id: 'u1',
        priority: 'high',
        type: null,
        route: 'native',
      },
    ])
  })

  test('goes to the one named, else the acting user, else the token, else the tenant, else to nobody', async () => {
    const user = await tenant.personalToken('editor', ['tasks:write'], { legacyUserId: 'legacy-1' })
    assert.equal((await create(user)).body.userId, 'legacy-1')
    assert.equal((await create(user, { ...given, userId: 'named' })).body.userId, 'named')
    assert.equal((await create(user, { ...given, userId: null })).body.userId, 'legacy-1')
    const integration = await tenant.serviceToken(['tasks:write'], { defaultAssignee: 'desk' })
    assert.equal((await create(integration)).body.userId, 'desk')
    assert.equal((await create(await tenant.serviceToken())).body.userId, '')
    assert.equal((await create(await tenant.personalToken('admin'))).body.userId, '')
    await service.owner.query('update tenants set default_assignee = $2 where id = $1', [tenant.id, 'front office'])
    assert.equal((await create(await tenant.serviceToken())).body.userId, 'front office')
    assert.equal((await create(integration)).body.userId, 'desk')
  })

  test('refuses an unknown account and a date that does not exist', async () => {
    const token = await tenant.serviceToken()
    const unknown = await create(token, { ...given, accountId: 'nobody' })
    assert.deepEqual([unknown.status, unknown.body.errors[0].pointer], [422, '/accountId'])
    const impossible = await create(token, { ...given, dueDate: '2026-02-29' })
    assert.deepEqual([impossible.status, impossible.body.errors[0].pointer], [422, '/dueDate'])
  })
})
