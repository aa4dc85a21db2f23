import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sampleAccount } from '../../../test/records/sample-records.ts'
import { assertTenantTallies } from '../../../test/records/tallies.ts'
import { startService } from '../../../test/service.ts'

const service = await startService()
const tenant = await service.newTenant()
await tenant.add('accounts', [sampleAccount('C-1')])
const given = { accountId: 'C-1', title: 'Call back', dueDate: '2028-02-29' }

const create = (token: string, body: object = given) => service.call('POST', '/tasks', { token, body })
const get = (token: string, id: string) => service.call('GET', `/tasks/${id}`, { token })
const patch = (token: string, id: string, body: object, headers = {}) =>
  service.call('PATCH', `/tasks/${id}`, { token, body, headers })

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
    const location = `http://masthead.test/customer-api/v1/tasks/${body.id}`
    assert.deepEqual([headers.get('etag'), headers.get('location')], [null, location])
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

describe('a task', () => {
  test('is shown with all that its creation took, and what became of it', async () => {
    const token = await tenant.serviceToken()
    const { body: created } = await create(token, { ...given, priority: 'high', type: 'call', userId: 'u1' })
    const { status, body } = await get(token, created.id)
    assert.equal(status, 200)
    assert.deepEqual(body, {
      id: created.id,
      ...given,
      userId: 'u1',
      priority: 'high',
      type: 'call',
      notes: null,
      doneAt: null,
      route: 'native',
      createdAt: body.createdAt,
      updatedAt: body.createdAt,
    })
  })

  test('is read by `tasks:read` alone, and changed by `tasks:write` alone', async () => {
    const [reader, writer] = [await tenant.serviceToken(['tasks:read']), await tenant.serviceToken(['tasks:write'])]
    const { id } = (await create(writer)).body
    assert.deepEqual([(await get(reader, id)).status, (await get(writer, id)).status], [200, 403])
    const statuses = [
      (await patch(reader, id, { notes: 'x' })).status,
      (await patch(writer, id, { notes: 'x' })).status,
    ]
    assert.deepEqual(statuses, [403, 200])
    const viewer = await tenant.personalToken('viewer')
    assert.deepEqual([(await get(viewer, id)).status, (await patch(viewer, id, {})).status], [200, 403])
  })

  test('is done at an instant, and open again by null', async () => {
    const token = await tenant.serviceToken()
    const { id } = (await create(token)).body
    const done = await patch(token, id, { doneAt: '2026-03-04T06:06:07+01:00', notes: 'Left a message' })
    assert.deepEqual([done.body.doneAt, done.body.notes], ['2026-03-04T05:06:07.000Z', 'Left a message'])
    assert.deepEqual((await get(token, id)).body, done.body)
    assert.equal((await patch(token, id, { doneAt: null })).body.doneAt, null)
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
    assert.equal((await patch(token, id, { doneAt: inMinutes(30) })).status, 200, 'a clock may be ahead')
    const future = await patch(token, id, { doneAt: inMinutes(90) })
    assert.deepEqual([future.status, future.body.errors[0].pointer], [422, '/doneAt'])
  })

  test('changes by what is given: the account by either identifier, nobody by null', async () => {
    const token = await tenant.serviceToken()
    await tenant.add('accounts', [sampleAccount('C-2')])
    const { body: other } = await service.call('GET', '/accounts/C-2', { token })
    const { id } = (await create(token, { ...given, userId: 'u1', priority: 'high' })).body
    const { body: before } = await get(token, id)
    const changed = await patch(token, id, { accountId: other.id, userId: null, priority: null, dueDate: '2028-03-01' })
    const expected = { accountId: 'C-2', userId: '', priority: null, dueDate: '2028-03-01' }
    assert.deepEqual(changed.body, { ...before, ...expected, updatedAt: changed.body.updatedAt })
    assert.deepEqual((await patch(token, id, expected)).body, changed.body, 'nothing changed')
    for (const [body, pointer] of [
      [{ accountId: 'nobody' }, '/accountId'],
      [{ accountId: null }, '/accountId'],
      [{ title: '' }, '/title'],
      [{ dueDate: '2026-02-29' }, '/dueDate'],
      [{ dueDate: null }, '/dueDate'],
      [{ route: 'legacy' }, '/route'],
    ] as const) {
      const refused = await patch(token, id, body)
      assert.deepEqual([refused.status, refused.body.errors[0].pointer], [422, pointer])
    }
  })

  test('is held to `If-Match`, before the account is looked up', async () => {
    const token = await tenant.serviceToken()
    const { id } = (await create(token)).body
    const stale = { 'if-match': (await get(token, id)).headers.get('etag') ?? '' }
    assert.equal((await patch(token, id, { notes: 'one' }, stale)).status, 200)
    const unknown = { notes: 'two', accountId: '01900000-0000-7000-8000-000000000000' }
    assert.equal((await patch(token, id, unknown, stale)).status, 412)
    assert.equal((await get(token, id)).body.notes, 'one')
  })

  test('comes in /changes when it is created and when it is done', async () => {
    const own = await service.newTenant()
    const token = await own.serviceToken()
    await own.add('accounts', [sampleAccount('C-1')])
    const changes = async (after = '') =>
      (await service.call('GET', `/changes?resources=tasks${after && `&after=${after}`}`, { token })).body
    const { id } = (await create(token)).body
    const first = await changes()
    assert.deepEqual(
      first.items.map(({ resource, record }: Record<string, { doneAt: null }>) => [resource, record?.doneAt]),
      [['tasks', null]],
    )
    const { body: done } = await patch(token, id, { doneAt: '2026-03-04T05:06:07.000Z' })
    assert.deepEqual((await changes(first.cursor)).items[0].record, done)
  })
})

describe('listing tasks', () => {
  test('narrows down by account, user and whether they are open, with exact totals', async () => {
    const own = await service.newTenant()
    const token = await own.serviceToken()
    await own.add('accounts', [sampleAccount('C-1'), sampleAccount('C-2')])
    const wanted = [
      ...['C-1', 'C-2', 'C-1', 'C-2'].map((accountId, index) => ({
        accountId,
        userId: index < 3 ? 'ada' : 'bob&open=1',
      })),
      { accountId: 'C-1' },
    ]
    const ids: string[] = []
    for (const task of wanted) ids.push((await create(token, { ...given, ...task })).body.id)
    for (const done of [0, 3]) await patch(token, ids[done] ?? '', { doneAt: '2026-03-04T05:06:07Z' })
    const found = async (query: string) => {
      const { body } = await service.call('GET', `/tasks?${query}`, { token })
      assert.equal(body.total, body.items.length, query)
      return body.items.map(({ id }: { id: string }) => ids.indexOf(id))
    }
    assert.deepEqual(await found(''), [0, 1, 2, 3, 4])
    assert.deepEqual(await found('open=true'), [1, 2, 4])
    assert.deepEqual(await found('open=false'), [0, 3])
    assert.deepEqual(await found('userId=ada'), [0, 1, 2])
    assert.deepEqual(await found('userId=ada&open=true'), [1, 2])
    assert.deepEqual(await found(`userId=${encodeURIComponent('bob&open=1')}&open=false`), [3])
    assert.deepEqual(await found('userId='), [4])
    assert.deepEqual(await found('accountId=C-1&open=true'), [2, 4])
    assert.deepEqual(await found('accountId=C-1&open=false&userId=ada'), [0])
    assert.deepEqual(await found('accountId=nobody'), [])
    await patch(token, ids[1] ?? '', { userId: 'bob' })
    assert.deepEqual([await found('userId=ada&open=true'), await found('userId=bob')], [[2], [1]])
    await assertTenantTallies(service.owner, own.id)
    const unclear = await service.call('GET', '/tasks?open=1', { token })
    assert.deepEqual([unclear.status, unclear.body.errors[0].parameter], [400, 'open'])
  })

  test('narrows down by days, and orders by them: what somebody has to do next comes first', async () => {
    const own = await service.newTenant()
    const token = await own.serviceToken()
    await own.add('accounts', [sampleAccount('C-1')])
    const due = ['2028-03-01', '2028-02-28', '2028-02-29', '2028-02-28']
    for (const [index, dueDate] of due.entries())
      await create(token, { ...given, title: String(index), dueDate, userId: index === 2 ? 'bob' : 'ada' })
    const found = async (query: string) =>
      (await service.call('GET', `/tasks?${query}`, { token })).body.items.map(({ title }: { title: string }) => title)
    assert.deepEqual(await found('dueFrom=2028-02-29'), ['0', '2'])
    assert.deepEqual(await found('dueFrom=2028-02-29&dueTo=2028-02-29'), ['2'])
    assert.deepEqual(await found('sort=dueDate'), ['1', '3', '2', '0'])
    assert.deepEqual(await found('sort=-dueDate&userId=ada&open=true'), ['0', '3', '1'])
    assert.deepEqual(await found('sort=dueDate&open=true&dueTo=2028-02-29&pageSize=2'), ['1', '3'])
    assert.deepEqual(await found('sort=dueDate&open=false'), [])
    const unreal = await service.call('GET', '/tasks?dueTo=2027-02-29', { token })
    assert.deepEqual([unreal.status, unreal.body.errors[0].parameter], [400, 'dueTo'])
  })
})
