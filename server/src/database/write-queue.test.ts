import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import { attachUnreachable } from '../../test/outside/stored-deliveries.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { sampleAccount } from '../../test/records/sample-records.ts'
import { assertTenantTallies } from '../../test/records/tallies.ts'
import { type CallResponse, startService, type TestTenant, walk } from '../../test/service.ts'
import { operator } from '../audit/author.ts'
import { entriesAfter } from '../audit/queries.ts'
import { updateRecord } from '../records/writes/update.ts'
import { noResponse, Unavailable } from './connections/unavailable.ts'
import { WriteQueue } from './write-queue.ts'

const service = await startService()

const newTenant = async (): Promise<TestTenant> => {
  const tenant = await service.newTenant()
  await tenant.add('accounts', [sampleAccount('C-1'), sampleAccount('C-2')])
  // So that it has a head.
  const token = await tenant.serviceToken()
  const first = await service.call('POST', '/contacts', { token, body: { accountId: 'C-1', name: 'First' } })
  assert.equal(first.status, 201, first.text)
  return tenant
}

/** Somebody else who holds the head of the tenant's contacts, or waits for it, until the end of the transaction. */
const otherWriter = async ({ id }: TestTenant) => {
  const client = new pg.Client(service.connectionString)
  await client.connect()
  await client.query('begin')
  const locked = client.query(`select from heads where tenant_id = $1 and resource = 'contacts' for update`, [id])
  return {
    client,
    locked,
    leave: async () => {
      await client.query('commit')
      await client.end()
    },
  }
}

/** Somebody else who holds rows until the end of a transaction. */
const holding = async (text: string, values: unknown[] = []) => {
  const client = new pg.Client(service.connectionString)
  await client.connect()
  await client.query('begin')
  await client.query(text, values)
  return async () => {
    await client.query('commit')
    await client.end()
  }
}

const waitingForLocks = async (count: number, milliseconds = 0): Promise<boolean> => {
  const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    and clock_timestamp() - query_start > $1 * interval '1 millisecond'`
  return (await service.owner.query(text, [milliseconds])).rows.length === count
}

type Sent = { token: string; name: string; accountId?: string; key?: string }

const send = ({ token, name, accountId = 'C-1', key }: Sent) =>
  service.call('POST', '/contacts', {
    token,
    body: { accountId, name },
    headers: { 'x-request-id': `of-${name}`, ...(key && { 'idempotency-key': key }) },
  })

type Ask = () => Promise<CallResponse>

/** The first is in flight when the others come, so that they go together, in this order. Those after `queued` do not queue up. */
const askTogether = async (tenant: TestTenant, first: Ask, others: Ask[], queued = others.length) => {
  const holder = await otherWriter(tenant)
  await holder.locked
  const answers = [first()]
  await until('the first waits for the head', () => waitingForLocks(1))
  for (const [index, ask] of others.entries()) {
    answers.push(ask())
    const waiting = Math.min(index + 1, queued)
    await until('the others wait for the first', () => service.database.load().writing.waiting === waiting)
  }
  return { holder, answers: Promise.all(answers) }
}

const sendTogether = (tenant: TestTenant, first: Sent, others: Sent[]) =>
  askTogether(
    ...([tenant, () => send(first)] as const),
    others.map((sent) => () => send(sent)),
    others.filter(({ key }) => key === undefined).length,
  )

/** Those that come while another write is in flight. */
const inOneBatch = async (tenant: TestTenant, asks: Ask[]): Promise<CallResponse[]> => {
  const token = await tenant.serviceToken()
  const { holder, answers } = await askTogether(tenant, () => send({ token, name: 'ahead' }), asks)
  await holder.leave()
  const [ahead, ...others] = await answers
  assert.equal(ahead?.status, 201, ahead?.text)
  return others
}

const namesOf = async (tenant: TestTenant): Promise<unknown[]> =>
  (await walk(service, await tenant.serviceToken(), '/contacts')).map(({ name }) => name)

const transactionsOf = async ({ id }: TestTenant): Promise<number> => {
  const text = `select count(distinct xmin::text)::integer as count from contacts
    where tenant_id = $1 and name not in ('First', 'ahead')`
  return (await service.owner.query(text, [id])).rows[0].count
}

const entriesOf = async ({ id }: TestTenant) => {
  const entries = await service.database.forTenant(id).transaction((query) => entriesAfter(query, 0, 1_000))
  return entries.filter(({ resource }) => resource === 'contacts')
}

/** Who created whom, as the audit log tells. */
const noted = async (tenant: TestTenant): Promise<unknown[]> =>
  (await entriesOf(tenant)).map(({ author, action, values }) => [
    action,
    'requestId' in author && author.requestId,
    JSON.parse(values ?? 'null').after.name,
  ])

describe('creates of one tenant that wait for each other', () => {
  test('share a transaction, and have their own answer, place, owner and entry in the audit log', async () => {
    const tenant = await newTenant()
    const [one, another] = [await tenant.serviceToken(), await tenant.personalToken('editor')]
    const names = Array.from({ length: 8 }, (_, number) => `Contact-${number}`)
    const [first = '', ...others] = names
    const { holder, answers } = await sendTogether(
      ...([tenant, { token: one, name: first }] as const),
      others.map((name, index) => ({ token: index % 2 ? one : another, name })),
    )
    await holder.leave()
    const given = await answers
    assert.deepEqual(
      given.map(({ status, body }) => [status, body.name]),
      names.map((name) => [201, name]),
    )
    assert.deepEqual(
      given.map(({ body }) => body.ownerId !== null),
      names.map((_name, index) => index % 2 === 1),
    )
    assert.equal(await transactionsOf(tenant), 2)
    const [, ...listed] = await namesOf(tenant)
    assert.deepEqual([...listed].sort(), names)
    const [, ...entries] = await noted(tenant)
    assert.deepEqual(
      entries,
      listed.map((name) => ['created', `of-${name}`, name]),
    )
    await assertTenantTallies(service.owner, tenant.id)
  })

  test('are refused each for itself, and a retry that carries a key is answered as before', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const { holder, answers } = await sendTogether(tenant, { token, name: 'one' }, [
      { token, name: 'two' },
      { token, name: 'three', accountId: 'nobody' },
      { token, name: 'four', accountId: 'C-2' },
      { token, name: 'five', key: 'k-5' },
    ])
    await holder.leave()
    const given = await answers
    assert.deepEqual(
      given.map(({ status }) => status),
      [201, 201, 422, 201, 201],
    )
    assert.match(given[2]?.body.detail, /no account "nobody"/)
    const again = await send({ token, name: 'five', key: 'k-5' })
    assert.deepEqual([again.status, again.body], [201, given[4]?.body])
    assert.deepEqual((await namesOf(tenant)).sort(), ['First', 'five', 'four', 'one', 'two'])
    assert.equal((await noted(tenant)).length, 5)
    await assertTenantTallies(service.owner, tenant.id)
  })

  test('do not fail for a neighbour whom the database refuses', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const account = await service.call('GET', '/accounts/C-2', { token })
    // The account is there for a lookup by its id, until the removal commits.
    const commitRemoval = await holding(`delete from accounts where tenant_id = $1 and account_id = 'C-2'`, [tenant.id])
    const { holder, answers } = await sendTogether(tenant, { token, name: 'one' }, [
      { token, name: 'two' },
      { token, name: 'three', accountId: account.body.id },
      { token, name: 'four' },
    ])
    await holder.leave()
    await until('the first is stored', async () => (await namesOf(tenant)).includes('one'))
    await until('the batch waits for the account', () => waitingForLocks(1))
    await commitRemoval()
    assert.deepEqual(
      (await answers).map(({ status }) => status),
      [201, 201, 422, 201],
    )
    assert.deepEqual((await namesOf(tenant)).sort(), ['First', 'four', 'one', 'two'])
    assert.equal((await noted(tenant)).length, 4)
  })

  test('are delivered to a legacy system each once, in the order of the list', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    await attachUnreachable(service.owner, tenant.id)
    const { holder, answers } = await sendTogether(tenant, { token, name: 'one' }, [
      { token, name: 'two' },
      { token, name: 'three', accountId: 'nobody' },
      { token, name: 'four' },
    ])
    await holder.leave()
    await answers
    const { rows } = await service.owner.query(
      `select body::json->'data'->>'name' as name from webhook_events where tenant_id = $1 order by sequence`,
      [tenant.id],
    )
    const [, ...listed] = await namesOf(tenant)
    assert.deepEqual(
      rows.map(({ name }) => name),
      listed,
    )
    assert.equal(rows.length, 3)
    await service.owner.query('delete from webhook_deliveries where tenant_id = $1', [tenant.id])
    await service.owner.query('delete from webhook_endpoints where tenant_id = $1', [tenant.id])
  })
})

test('a transaction that has ended takes no further statement', async () => {
  const { id } = await service.newTenant()
  const asked = Promise.withResolvers<void>()
  let further: Promise<unknown> = Promise.resolve()
  const work = service.database.forTenant(id).transaction(async (query) => {
    further = asked.promise.then(() => query.withoutTenant({ text: 'select 1' }))
    await query.withoutTenant({ text: 'select 1' })
    throw new Error('refused')
  })
  await assert.rejects(work, /refused/)
  asked.resolve()
  await assert.rejects(further, /has ended/)
})

describe('writes of one batch', () => {
  const change = (token: string, id: string, body: object, headers: Record<string, string> = {}) =>
    service.call('PATCH', `/contacts/${id}`, { token, body: { accountId: 'C-1', ...body }, headers })
  const remove = (token: string, id: string) => service.call('DELETE', `/contacts/${id}`, { token })
  const newContacts = async (token: string, count: number): Promise<string[]> => {
    const ids: string[] = []
    while (ids.length < count) ids.push((await send({ token, name: `N-${ids.length}` })).body.id)
    return ids
  }
  const statusesOf = (answers: CallResponse[]) => answers.map(({ status }) => status)

  test('are stored with every field, as one that goes alone', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const account = await service.call('GET', '/accounts/C-2', { token })
    const body = {
      accountId: 'C-2',
      firstName: 'Ada "A."',
      lastName: 'Lövelace',
      phone: '1',
      phone2: '2',
      extension: '3',
      hideContact: true,
      subsOnly: true,
      doNotEmail: false,
      email: 'ada@example.com',
      title: '\\',
      notes: '😀\n',
    }
    const create = (accountId: string) => service.call('POST', '/contacts', { token, body: { ...body, accountId } })
    const alone = await create('C-2')
    const batch = await inOneBatch(tenant, [() => create('C-2'), () => create(account.body.id)])
    const [expected, ...stored] = [alone, ...batch].map(({ status, text, body }) => {
      assert.equal(status, 201, text)
      const { id: _id, createdAt: _created, updatedAt: _updated, ...rest } = body
      return rest
    })
    assert.deepEqual(stored, [expected, expected])
    assert.deepEqual({ ...expected, ...body }, expected)
    for (const { body, text } of batch) {
      assert.equal((await service.call('GET', `/contacts/${body.id}`, { token })).text, text)
    }
    await assertTenantTallies(service.owner, tenant.id)
  })

  test('see each other where they change the same record', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const [id = ''] = await newContacts(token, 1)
    const answers = await inOneBatch(tenant, [
      () => change(token, id, { phone: '1' }),
      () => change(token, id, { email: 'a@example.com' }),
      () => change(token, id, { title: 'T' }),
    ])
    assert.deepEqual(
      answers.map(({ status, body: { phone, email, title } }) => [status, phone, email, title]),
      [
        [200, '1', null, null],
        [200, '1', 'a@example.com', null],
        [200, '1', 'a@example.com', 'T'],
      ],
    )
    const updates = (await entriesOf(tenant)).filter(({ recordId }) => recordId === id)
    const values = updates.map(({ values }) => JSON.parse(values ?? 'null'))
    assert.deepEqual(
      updates.map(({ action }) => action),
      ['created', 'updated', 'updated', 'updated'],
    )
    for (const [index, { before }] of values.entries()) {
      const former = index === 0 ? { before: null } : { before: { phone: values[index - 1].after.phone } }
      assert.deepEqual({ before: before && { phone: before.phone } }, former)
      if (index > 0) assert.equal(before.updatedAt, values[index - 1].after.updatedAt)
    }
    await assertTenantTallies(service.owner, tenant.id)
  })

  test('that change the same record hear at once of a server that is away', async () => {
    const tenant = await newTenant()
    const [id = ''] = await newContacts(await tenant.serviceToken(), 1)
    const real = service.database.forTenant(tenant.id)
    let transactions = 0
    const failing: typeof real = {
      ...real,
      write: (decide) =>
        ++transactions === 1 ? real.write(decide) : Promise.reject(new Unavailable(noResponse, 'nobody is there')),
    }
    const update = { named: id, author: operator, delivery: {} }
    const outcomes = await Promise.allSettled(
      ['1', '2', '3', '4'].map((phone) => updateRecord(failing, 'contacts', { ...update, decide: () => ({ phone }) })),
    )
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'rejected'],
    )
    assert.equal(transactions, 2)
  })

  test('are held to `If-Match` by what the one before has stored', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const [id = ''] = await newContacts(token, 1)
    const { headers } = await service.call('GET', `/contacts/${id}`, { token })
    const ifMatch = { 'if-match': headers.get('etag') ?? '' }
    const answers = await inOneBatch(tenant, [
      () => change(token, id, { phone: '1' }, ifMatch),
      () => change(token, id, { phone: '2' }, ifMatch),
    ])
    assert.deepEqual(statusesOf(answers), [200, 412])
    assert.equal((await service.call('GET', `/contacts/${id}`, { token })).body.phone, '1')
  })

  test('may be of every kind: an update, a deletion and a create share a transaction', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const [one = '', two = '', three = ''] = await newContacts(token, 3)
    const answers = await inOneBatch(tenant, [
      () => change(token, one, { name: 'changed' }),
      () => remove(token, two),
      () => send({ token, name: 'new' }),
      () => remove(token, three),
    ])
    assert.deepEqual(statusesOf(answers), [200, 200, 201, 200])
    assert.equal(await transactionsOf(tenant), 1)
    const again = await inOneBatch(tenant, [
      () => change(token, one, { phone: '1' }),
      () => remove(token, one),
      () => send({ token, name: 'newer' }),
    ])
    assert.deepEqual(statusesOf(again), [200, 200, 201])
    assert.deepEqual([again[1]?.body.phone, again[1]?.body.deletedAt === null], ['1', false])
    assert.deepEqual(await namesOf(tenant), ['First', 'ahead', 'new', 'ahead', 'newer'])
    const actions = (await entriesOf(tenant)).slice(5).map(({ action }) => action)
    assert.deepEqual(actions, ['created', 'updated', 'deleted', 'deleted', 'created', 'created', 'updated', 'deleted'])
    await assertTenantTallies(service.owner, tenant.id)
  })

  test('that name an account that is not there are refused at `accountId`, and no other', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const [one = '', two = ''] = await newContacts(token, 2)
    const unknown = '01890000-0000-7000-8000-000000000000'
    const answers = await inOneBatch(tenant, [
      () => send({ token, name: 'a' }),
      () => send({ token, name: 'b', accountId: 'nobody' }),
      () => send({ token, name: 'c', accountId: unknown }),
      () => change(token, one, { name: 'd' }),
      () => change(token, one, { accountId: 'nobody' }),
      () => change(token, two, { accountId: 'no-one' }),
      () => send({ token, name: 'e' }),
    ])
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.errors?.[0]?.pointer, body.errors?.[0]?.code, body.detail]),
      [
        [201, undefined, undefined, undefined],
        [422, '/accountId', 'not_found', 'There is no account "nobody" in this tenant.'],
        [422, '/accountId', 'not_found', `There is no account "${unknown}" in this tenant.`],
        [200, undefined, undefined, undefined],
        [422, '/accountId', 'not_found', 'There is no account "nobody" in this tenant.'],
        [422, '/accountId', 'not_found', 'There is no account "no-one" in this tenant.'],
        [201, undefined, undefined, undefined],
      ],
    )
    assert.deepEqual(await namesOf(tenant), ['First', 'd', 'N-1', 'ahead', 'a', 'e'])
    assert.equal((await entriesOf(tenant)).length, 7)
    await assertTenantTallies(service.owner, tenant.id)
  })

  test('that carry an Idempotency-Key are refused in the same way, now and when they come again', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const refused = [
      () => send({ token, name: 'a', accountId: 'nobody', key: 'create' }),
      () => {
        const body = { accountId: 'nobody', title: 'Call', dueDate: '2026-01-02' }
        return service.call('POST', '/tasks', { token, body, headers: { 'idempotency-key': 'task' } })
      },
    ]
    for (const ask of [...refused, ...refused]) {
      const { status, body } = await ask()
      assert.deepEqual(
        [status, body.errors[0].pointer, body.detail],
        [422, '/accountId', 'There is no account "nobody" in this tenant.'],
      )
    }
    assert.equal((await send({ token, name: 'a', key: 'another' })).status, 201)
    assert.deepEqual(await namesOf(tenant), ['First', 'a'])
    await assertTenantTallies(service.owner, tenant.id)
  })

  test('hear that the service is busy when somebody else holds the list for too long', async () => {
    const tenant = await newTenant()
    const token = await tenant.serviceToken()
    const [id = ''] = await newContacts(token, 1)
    const holder = await otherWriter(tenant)
    await holder.locked
    const answers = await Promise.all([change(token, id, { phone: '1' }), change(token, id, { phone: '2' })])
    for (const { status, body } of answers) assert.deepEqual([status, body.code], [503, 'unavailable'])
    await holder.leave()
    assert.equal((await change(token, id, { phone: '3' })).status, 200)
  })
})

describe('writes of several tenants at one moment', () => {
  test('do not wait for a neighbour whose list or account somebody holds', async () => {
    const [held, free] = [await newTenant(), await newTenant()]
    const [heldToken, freeToken] = [await held.serviceToken(), await free.serviceToken()]
    const holders = [
      `select from heads where tenant_id = $1 and resource = 'contacts' for update`,
      `select from accounts where tenant_id = $1 and account_id = 'C-1' for update`,
    ]
    for (const [index, text] of holders.entries()) {
      const release = await holding(text, [held.id])
      const waiting = send({ token: heldToken, name: `held-${index}` })
      const answer = await send({ token: freeToken, name: `free-${index}` })
      assert.equal(answer.status, 201, answer.text)
      await until('the neighbour waits alone', () => waitingForLocks(1))
      const again = await send({ token: freeToken, name: `again-${index}` })
      assert.equal(again.status, 201, again.text)
      await release()
      assert.equal((await waiting).status, 201)
    }
    assert.deepEqual(await namesOf(held), ['First', 'held-0', 'held-1'])
    for (const { id } of [held, free]) await assertTenantTallies(service.owner, id)
  })

  test('wait neither behind other writes of a neighbour nor behind those that belong to no tenant', async () => {
    const [busy, other] = [await newTenant(), await newTenant()]
    const token = await other.serviceToken()
    const statement = { text: 'select stamp_identity()' }
    const ofNobody = () => service.database.transaction((query) => query(statement))
    const ofBusy = () => service.database.forTenant(busy.id).transaction((query) => query.withoutTenant(statement))
    for (const stamp of [ofNobody, ofBusy]) {
      const release = await holding(statement.text)
      const waiting = Array.from({ length: 12 }, stamp)
      await until('as many wait as may', () => waitingForLocks(6))
      assert.equal((await send({ token, name: 'a' })).status, 201)
      await release()
      await Promise.all(waiting)
    }
  })
})

test('a create waits for who holds its account, with an Idempotency-Key and without', async () => {
  const tenant = await newTenant()
  const token = await tenant.serviceToken()
  for (const key of ['key', undefined]) {
    const release = await holding(`select from accounts where tenant_id = $1 and account_id = 'C-1' for update`, [
      tenant.id,
    ])
    const waiting = send({ token, name: 'a', ...(key && { key }) })
    await until('it has waited for a while', () => waitingForLocks(1, 150))
    await release()
    assert.equal((await waiting).status, 201)
  }
})

describe('a queue of writes', () => {
  /** The items of every batch; each batch takes so many turns of the event loop. */
  const recording = (turns = 1) => {
    const queue = new WriteQueue(5_000)
    const batches: number[][] = []
    const run = (line: string, item: number) =>
      queue.run(line, item, async (items: number[]) => {
        batches.push(items)
        for (let turn = 0; turn < turns; turn++) await nextTurn()
        return items.map((value) => ({ status: 'fulfilled' as const, value }))
      })
    return { queue, batches, run }
  }
  const numbers = (count: number, first = 0) => Array.from({ length: count }, (_, index) => first + index)

  test('takes all that one turn of the event loop brings, and then all that came meanwhile, fifty at a time', async () => {
    const { batches, run } = recording()
    const first = numbers(3).map((item) => run('one', item))
    assert.deepEqual(batches, [])
    await nextTurn()
    const others = numbers(60, 3).map((item) => run('one', item))
    assert.deepEqual(await Promise.all([...first, ...others]), numbers(63))
    assert.deepEqual(batches, [numbers(3), numbers(50, 3), numbers(10, 53)])
  })

  test('does not keep a line waiting for the many of another', async () => {
    // A caller gets the outcome a turn after its batch, so a batch takes longer than that.
    const { batches, run } = recording(2)
    const many = numbers(190).map((item) => run('many', item))
    await run('one', 1_000)
    assert.deepEqual(batches.slice(0, 2), [numbers(50), [1_000]])
    assert.ok(batches.length <= 3)
    assert.deepEqual(await Promise.all(many), numbers(190))
  })

  test('refuses what has waited too long for what came before it', async (context) => {
    let now = 0
    context.mock.method(performance, 'now', () => now)
    const queue = new WriteQueue(5_000)
    const first = Promise.withResolvers<void>()
    const batches: string[][] = []
    const run = (item: string) =>
      queue.run('one', item, async (items: string[]) => {
        batches.push(items)
        await first.promise
        return items.map((value) => ({ status: 'fulfilled' as const, value }))
      })
    const done = run('first')
    await nextTurn()
    const late = assert.rejects(run('late'), { code: '53300' })
    now = 5_001
    const inTime = run('in time')
    assert.equal(queue.waiting(), 2)
    first.resolve()
    assert.deepEqual([await done, await inTime], ['first', 'in time'])
    await late
    assert.deepEqual([batches, queue.waiting()], [[['first'], ['in time']], 0])
  })

  test('refuses what comes when two hundred wait', async () => {
    const { run } = recording()
    const waiting = numbers(200).map((item) => run('one', item))
    assert.throws(() => run('one', 200), { code: '53300' })
    assert.equal(await run('another', 201), 201)
    await Promise.all(waiting)
  })

  test('does a batch that fails in halves, each item once, until it is known which one fails', async () => {
    const queue = new WriteQueue(5_000)
    const done: number[] = []
    const failed: number[] = []
    const outcomes = numbers(16).map((item) =>
      queue.run('one', item, async (items: number[]) => {
        if (items.includes(5)) {
          failed.push(items.length)
          throw new Error('five')
        }
        done.push(...items)
        return items.map((value) => ({ status: 'fulfilled' as const, value }))
      }),
    )
    const settled = await Promise.allSettled(outcomes)
    assert.deepEqual(
      settled.flatMap(({ status }, index) => (status === 'rejected' ? [index] : [])),
      [5],
    )
    assert.deepEqual([done, failed], [numbers(16).filter((item) => item !== 5), [16, 8, 4, 2, 1]])
  })

  test('does every batch as part of the call that has waited longest for it', async () => {
    const queue = new WriteQueue(5_000)
    const call = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const run = (name: string) =>
      call.run(name, () =>
        queue.run('one', name, async (items: string[]) => {
          seen.push([call.getStore(), items])
          await nextTurn()
          return items.map((value) => ({ status: 'fulfilled' as const, value }))
        }),
      )
    const first = run('a')
    await nextTurn()
    await Promise.all([first, run('b'), run('c')])
    assert.deepEqual(seen, [
      ['a', ['a']],
      ['b', ['b', 'c']],
    ])
  })

  test('tells all of a batch that the outcome is not known when their connection is lost', async () => {
    const tenant = await newTenant()
    const door = service.database.forTenant(tenant.id)
    const lost = ['one', 'two'].map((item) =>
      assert.rejects(
        door.inBatches('sleep', item, async () => {
          await door.write(async () => (query) => query({ text: 'select pg_sleep(30) where $1::uuid is not null' }))
          return []
        }),
        { code: '08007' },
      ),
    )
    await until('it is in flight', async () => {
      const { rows } = await service.owner.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      )
      return rows.length === 1
    })
    await Promise.all(lost)
  })
})

test('a create that waits too long for somebody else of its tenant says nothing of the database', async () => {
  const tenant = await newTenant()
  const holder = await otherWriter(tenant)
  await holder.locked
  const body = { accountId: 'C-1', name: 'Late' }
  const late = await service.call('POST', '/contacts', { token: await tenant.serviceToken(), body })
  const ready = await service.call('GET', '//readyz')
  await holder.leave()
  assert.deepEqual([late.status, ready.body], [503, { status: 'ready', writes: true }])
})

test('a create that loses its connection is not done again, because it may have been done', async () => {
  const tenant = await newTenant()
  const token = await tenant.serviceToken()
  const { holder, answers } = await sendTogether(tenant, { token, name: 'one' }, [])
  await service.owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  await holder.leave()
  const [answer] = await answers
  assert.deepEqual([answer?.status, answer?.body.code], [503, 'unavailable'])
  assert.deepEqual(await namesOf(tenant), ['First'])
  const again = await send({ token, name: 'two' })
  assert.equal(again.status, 201, again.text)
  await assertTenantTallies(service.owner, tenant.id)
})
