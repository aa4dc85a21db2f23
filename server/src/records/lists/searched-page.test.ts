import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/processes/masthead-process.ts'
import { RecordedStatements } from '../../../test/recorded-statements.ts'
import { sampleAccount, sampleContact } from '../../../test/records/sample-records.ts'
import { type CallResponse, linksOf, startService, walk } from '../../../test/service.ts'

type Body = Record<string, unknown>

const recorded = new RecordedStatements()
const service = await startService({ through: (database) => recorded.through(database) })

const get = async (token: string, path: string): Promise<CallResponse> => {
  const answer = await service.call('GET', path, { token })
  assert.equal(answer.status, 200, `${path}: ${answer.text}`)
  return answer
}

const idsOf = (records: Body[]): unknown[] => records.map(({ id }) => id)

test('a word that surely is in more than 10,000 records is not counted, and next walks them', async () => {
  const tenant = await service.newTenant()
  await tenant.add('accounts', [sampleAccount('A-1')])
  const contacts = await tenant.add(
    'contacts',
    Array.from({ length: 310 }, (_, index) => sampleContact('A-1', { name: index % 2 ? 'Ada Qjarl' : 'Ada' })),
  )
  await service.owner.query(
    `update tallies set count = 1e6 where tenant_id = $1 and resource = 'contacts' and level = 62`,
    [tenant.id],
  )
  const token = await tenant.serviceToken()
  const first = await get(token, '/contacts?search=ada')
  assert.deepEqual([first.body.total, idsOf(first.body.items)], [null, idsOf(contacts.slice(0, 50))])
  assert.deepEqual(idsOf(await walk(service, token, '/contacts?search=ada')), idsOf(contacts))
  const last = await get(token, '/contacts?search=ada&page=7')
  assert.deepEqual([last.body.total, idsOf(last.body.items)], [310, idsOf(contacts.slice(300))])
  const inAccount = await get(token, '/contacts?search=ada&accountId=A-1&pageSize=1')
  assert.equal(inAccount.body.total, 310, 'in an account they are counted')
})

test('a word that surely was in more than 10,000 records is counted as soon as enough was written that it may be in fewer', async (context) => {
  const tenant = await service.newTenant()
  await tenant.add('accounts', [sampleAccount('A-1')])
  const contacts = await tenant.add(
    'contacts',
    Array.from({ length: 310 }, () => sampleContact('A-1', { name: 'Ada' })),
  )
  await service.owner.query(
    `update tallies set count = 10700 where tenant_id = $1 and resource = 'contacts' and level = 62`,
    [tenant.id],
  )
  const token = await tenant.serviceToken()
  const read = (path: string) => service.call('GET', path, { token, headers: { 'cache-control': 'no-cache' } })
  const totals = async () => {
    const first = await read('/contacts?search=ada')
    const { next } = linksOf(first.headers)
    return [first.body.total, (await read(next ?? assert.fail('there is no next page'))).body.total]
  }
  assert.deepEqual(await totals(), [null, null])
  const ids = idsOf(contacts)
  const remove = async (id: unknown) =>
    assert.equal((await service.call('DELETE', `/contacts/${id}`, { token })).status, 200)
  for (const id of ids.slice(0, 2)) await remove(id)
  assert.deepEqual(await totals(), [null, null], 'two were deleted')
  for (const id of ids.slice(2, 12)) await remove(id)
  assert.deepEqual(await totals(), [298, 298], 'twelve were deleted')
  const now = performance.now.bind(performance)
  context.mock.method(performance, 'now', () => now() + 61_000)
  await until('the count is cached', async () => {
    recorded.senders.clear()
    assert.deepEqual(await totals(), [298, 298])
    return [...recorded.senders.keys()].some((text) => / as end\b/.test(text))
  })
})

test('words of two letters, of which one letter is an ideograph too, are found among many', async () => {
  const tenant = await service.newTenant()
  await tenant.add('accounts', [sampleAccount('A-1')])
  const names = Array.from({ length: 1_200 }, (_, index) => `Ann ${index}`)
  names.push('Aqjar', '田中 花子', 'Жук', 'Bürger & 3M')
  await tenant.add(
    'contacts',
    names.map((name) => sampleContact('A-1', { name })),
  )
  const token = await tenant.serviceToken()
  const found = async (search: string): Promise<unknown[]> => {
    const { body } = await get(token, `/contacts?search=${encodeURIComponent(search)}`)
    return body.items.map(({ name }: Body) => name)
  }
  for (const [search, name] of [
    ['qj', 'Aqjar'] as const,
    ['QJ', 'Aqjar'] as const,
    ['田中', '田中 花子'] as const,
    ['花', '田中 花子'] as const,
    ['ук', 'Жук'] as const,
    ['3m', 'Bürger & 3M'] as const,
    ['qj aq', 'Aqjar'] as const,
    ['qj ar', 'Aqjar'] as const,
  ])
    assert.deepEqual(await found(search), [name], search)
  for (const search of ['qjx', 'zqj', 'xq', '中田', 'qj ук']) assert.deepEqual(await found(search), [], search)
})

test('a search that was counted before has the total of now, whatever was written since', async () => {
  const tenant = await service.newTenant()
  const token = await tenant.serviceToken()
  await tenant.add('accounts', [sampleAccount('A-1'), sampleAccount('A-2')])
  const names = Array.from({ length: 900 }, (_, index) => (index % 3 === 0 ? 'Ada Weekly' : 'Ada Daily'))
  const contacts = await tenant.add(
    'contacts',
    names.map((name, index) => sampleContact(index % 2 ? 'A-1' : 'A-2', { name })),
  )
  const ids = new Set(idsOf(contacts.filter(({ name }) => name === 'Ada Weekly')))
  const list = '/contacts?search=weekly&pageSize=100'
  const { body: begun, headers } = await get(token, list)
  const next = linksOf(headers).next ?? assert.fail('there is no next page')
  assert.equal(begun.total, 300)
  const assertTotals = async (about: string) => {
    assert.equal((await get(token, list)).body.total, ids.size, about)
    assert.equal((await get(token, `${list}&page=2`)).body.total, ids.size, `${about}, page 2`)
    assert.equal((await get(token, next)).body.total, ids.size, `${about}, after a cursor`)
    assert.deepEqual(idsOf(await walk(service, token, list)), [...ids].toSorted(), `${about}, walked`)
    const inAccount = (await walk(service, token, `${list}&accountId=A-1`)).length
    assert.equal((await get(token, `${list}&accountId=A-1`)).body.total, inAccount, `${about}, in an account`)
  }
  const change = async (method: string, id: unknown, body?: Body) => {
    const { status, text } = await service.call(method, `/contacts/${id}`, { token, ...(body && { body }) })
    assert.ok(status < 300, text)
  }
  await assertTotals('nothing was written')
  for (const name of ['Berta Weekly', 'Berta Daily', 'Carla Weekly']) {
    const [added] = await tenant.add('contacts', [sampleContact('A-1', { name })])
    if (name.includes('Weekly')) ids.add(String(added?.id))
    await assertTotals(`${name} was added`)
  }
  const [first, second] = [...ids]
  await change('PATCH', first, { accountId: 'A-2', name: 'Ada Monthly' })
  ids.delete(String(first))
  await assertTotals('one was renamed')
  await change('DELETE', second)
  ids.delete(String(second))
  await assertTotals('one was deleted')
  await change('POST', `${second}/restore`)
  ids.add(String(second))
  await assertTotals('it was restored')
  const daily = String(contacts.find(({ name }) => name === 'Ada Daily')?.id)
  await Promise.all([
    change('PATCH', daily, { accountId: 'A-1', name: 'Ada Weekly' }),
    tenant.add('contacts', [sampleContact('A-2', { name: 'Dora Daily' })]),
  ])
  ids.add(daily)
  await assertTotals('one was renamed while another was added')
})

test('a list is sampled again when a minute has passed and much of it was written', async (context) => {
  const tenant = await service.newTenant()
  const token = await tenant.serviceToken()
  const now = performance.now.bind(performance)
  let passed = 0
  context.mock.method(performance, 'now', () => now() + passed)
  const searchAfter = async (milliseconds: number): Promise<void> => {
    passed += milliseconds
    recorded.senders.clear()
    for (const path of ['/contacts?search=ada', '/contacts?search=ada&page=2'])
      assert.equal((await service.call('GET', path, { token, headers: { 'cache-control': 'no-cache' } })).status, 200)
  }
  const isSent = (part: string): boolean => [...recorded.senders.keys()].some((text) => text.includes(part))
  const isCompared = () => isSent('select version from heads')
  const isSampled = () => isSent('distinct on (record.position)')
  const add = (count: number) =>
    tenant.add(
      'contacts',
      Array.from({ length: count }, (_, index) => sampleContact('A-1', { name: `Ada ${index}` })),
    )
  await tenant.add('accounts', [sampleAccount('A-1')])
  await add(64)
  await searchAfter(0)
  assert.ok(isSampled())
  await add(2)
  // No search waits for the sample to be compared or taken again.
  await searchAfter(61_000)
  await until('the list is compared with its sample', isCompared)
  await searchAfter(0)
  assert.deepEqual([isCompared(), isSampled()], [false, false])
  await add(8)
  await searchAfter(50_000)
  assert.deepEqual([isCompared(), isSampled()], [false, false])
  await searchAfter(20_000)
  await until('it is sampled again', isSampled)
})
