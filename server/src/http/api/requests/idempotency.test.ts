import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { sampleAccount } from '../../../../test/records/sample-records.ts'
import { type CallResponse, startService, type TestTenant } from '../../../../test/service.ts'
import { operator } from '../../../audit/author.ts'
import { rotateToken } from '../../../identity/tokens/access-tokens.ts'

const service = await startService()
let tenant: TestTenant
let token: string

before(async () => {
  tenant = await service.newTenant()
  token = await tenant.serviceToken()
  await tenant.add('accounts', [sampleAccount('A')])
})

const post = (path: string, key: string, body: object, more: { token?: string } = {}): Promise<CallResponse> =>
  service.call('POST', path, { token, body, headers: { 'idempotency-key': key }, ...more })
const replayed = ({ headers }: CallResponse): string | null => headers.get('idempotency-replayed')
const count = async (condition: string, table = 'contacts'): Promise<number> => {
  const { rows } = await service.owner.query(
    `select count(*)::integer as count from ${table} where tenant_id = $1 and ${condition}`,
    [tenant.id],
  )
  return rows[0]?.count
}

describe('a POST with an Idempotency-Key', () => {
  test('is done once, and answered the same again', async () => {
    const contact = { accountId: 'A', name: 'Once' }
    const [first, again] = [await post('/contacts', 'once', contact), await post('/contacts', 'once', contact)]
    assert.deepEqual([first.status, replayed(first)], [201, null])
    assert.deepEqual([again.status, replayed(again), again.text], [201, 'true', first.text])
    for (const header of ['location', 'etag', 'content-type', 'cache-control']) {
      assert.equal(again.headers.get(header), first.headers.get(header), header)
    }
    assert.notEqual(again.headers.get('x-request-id'), first.headers.get('x-request-id'))
    assert.equal(await count(`name = 'Once'`), 1)
  })

  test('under a key of another path is refused, and done once under its own', async () => {
    const account = { company: 'Once' }
    assert.equal((await post('/accounts', 'once', account)).status, 422)
    const [first, again] = [await post('/accounts', 'other', account), await post('/accounts', 'other', account)]
    assert.deepEqual([first.status, again.status, again.text], [201, 201, first.text])
    assert.equal(await count(`company = 'Once'`, 'accounts'), 1)
  })

  test('many at once do it once: each gets the answer, or 409 while it runs', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        post('/tasks', 'burst', { accountId: 'A', title: 'Burst', dueDate: '2026-01-01' }),
      ),
    )
    const created = answers.filter(({ status }) => status === 201)
    assert.ok(created.length > 0)
    assert.equal(new Set(created.map(({ text }) => text)).size, 1)
    for (const { status, body, headers } of answers.filter(({ status }) => status !== 201)) {
      assert.deepEqual([status, body.code, headers.get('retry-after')], [409, 'request_in_progress', '1'])
    }
    assert.equal(await count(`title = 'Burst'`, 'tasks'), 1)
  })

  test('with another body, or at another path, is refused and does nothing', async () => {
    await post('/contacts', 'taken', { accountId: 'A', name: 'Taken' })
    for (const answer of [
      await post('/contacts', 'taken', { accountId: 'A', name: 'Taken too' }),
      await post('/tasks', 'taken', { accountId: 'A', title: 'Taken too', dueDate: '2026-01-01' }),
    ]) {
      assert.deepEqual([answer.status, answer.body.code], [422, 'idempotency_key_reused'])
      assert.equal(answer.body.errors[0].header, 'Idempotency-Key')
    }
    assert.equal(await count(`name = 'Taken too'`), 0)
  })

  test('that is refused is answered the same again, and leaves nothing else behind', async () => {
    const unknown = { company: 'Refused', email: 'a@b.example', primaryPublicationId: 'nothing' }
    const first = await post('/accounts', 'refused', unknown)
    const again = await post('/accounts', 'refused', unknown)
    assert.deepEqual([first.status, again.status, again.text], [422, 422, first.text])
    assert.deepEqual([replayed(first), replayed(again)], [null, 'true'])
    assert.equal(again.headers.get('content-type'), first.headers.get('content-type'))
    assert.equal(await count(`company = 'Refused'`, 'accounts'), 0)
  })

  test('restores a contact once', async () => {
    const { body: contact } = await service.call('POST', '/contacts', { token, body: { accountId: 'A' } })
    await service.call('DELETE', `/contacts/${contact.id}`, { token })
    const restore = () =>
      service.call('POST', `/contacts/${contact.id}/restore`, { token, headers: { 'idempotency-key': 'restore' } })
    const first = await restore()
    await service.call('DELETE', `/contacts/${contact.id}`, { token })
    const again = await restore()
    assert.deepEqual([again.status, again.text, replayed(again)], [200, first.text, 'true'])
    const { body } = await service.call('GET', `/contacts/${contact.id}`, { token })
    assert.notEqual(body.deletedAt, null, 'the retry did not restore it again')
  })

  test('belongs to its sender: rotations of a service token and tokens of a user share it, others do not', async () => {
    const body = { accountId: 'A', name: 'Mine' }
    const { text } = await post('/contacts', 'mine', body)
    const { rows } = await service.owner.query(
      'select id from access_tokens where tenant_id = $1 order by created_at',
      [tenant.id],
    )
    const rotated = await service.database.transaction((query) => rotateToken(query, operator, rows[0].id, 60_000))
    assert.equal((await post('/contacts', 'mine', body, { token: rotated.token })).text, text)
    const other = await post('/contacts', 'mine', body, { token: await tenant.serviceToken() })
    const user = await post('/contacts', 'mine', body, { token: await tenant.personalToken('editor') })
    assert.equal(new Set([text, other.text, user.text]).size, 3)
    const stranger = await service.newTenant()
    await stranger.add('accounts', [sampleAccount('A')])
    const elsewhere = await post('/contacts', 'mine', body, { token: await stranger.serviceToken() })
    assert.deepEqual([elsewhere.status, replayed(elsewhere)], [201, null])
  })

  test('is forgotten after a day, and old ones go', async () => {
    const body = { accountId: 'A', name: 'Daily' }
    await post('/contacts', 'daily', body)
    await service.owner.query(
      `update idempotency_records set kept_at = now() - interval '25 hours' where tenant_id = $1`,
      [tenant.id],
    )
    const again = await post('/contacts', 'daily', body)
    assert.deepEqual([again.status, replayed(again)], [201, null])
    assert.equal(await count(`name = 'Daily'`), 2)
    for (let number = 0; (await count(`kept_at < now() - interval '24 hours'`, 'idempotency_records')) > 0; number++) {
      assert.ok(number < 10, 'they go')
      await post('/contacts', `another ${number}`, body)
    }
  })

  test('that the service fails is not kept', async () => {
    const body = { accountId: 'A', title: 'Later', dueDate: '2026-01-01' }
    await service.owner.query('alter table tasks rename to away')
    assert.equal((await post('/tasks', 'later', body)).status, 500)
    await service.owner.query('alter table away rename to tasks')
    const again = await post('/tasks', 'later', body)
    assert.deepEqual([again.status, replayed(again)], [201, null])
  })

  test('must have a key of 1 to 255 characters', async () => {
    const body = { accountId: 'A' }
    for (const key of ['', 'k'.repeat(256)]) {
      const answer = await post('/contacts', key, body)
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_header'], key)
    }
    assert.equal((await post('/contacts', 'k'.repeat(255), body)).status, 201)
  })
})
