import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { importer, newFolder } from '../../../test/records/import-files.ts'
import { assertTenantTallies } from '../../../test/records/tallies.ts'
import { startService, walk } from '../../../test/service.ts'

const service = await startService()

const accounts = 'accountId,company,status\nA-1,Acme,active\nA-2,Beta,\n'

type Undone = {
  removed: number
  restored: number
  keptCount: number
  kept: { resource: string; name: string | null; reason: string }[]
}

const newTenant = async () => {
  const tenant = await service.newTenant()
  const token = await tenant.serviceToken()
  const { masthead, importAll, complaint } = importer(service, tenant)
  const bringIn = async (files: Record<string, string>, ...words: string[]): Promise<string> =>
    String((await importAll(await newFolder(files), ...words)).id)
  const undo = async (id: string): Promise<Undone> => {
    const { code, stdout, stderr } = await masthead('import', 'undo', id, '--json')
    assert.equal(code, 0, stderr)
    await assertTenantTallies(service.owner, tenant.id)
    return JSON.parse(stdout)
  }
  const everything = async () => ({
    accounts: await walk(service, token, '/accounts'),
    contacts: await walk(service, token, '/contacts?includeDeleted=true&includeHidden=true&includeSubsOnly=true'),
    subscriptions: await walk(service, token, '/subscriptions?includeDeleted=true'),
    publications: await walk(service, token, '/publications'),
    invoices: await walk(service, token, '/invoices'),
  })
  return { tenant, token, masthead, complaint, bringIn, undo, everything }
}

describe('undoing an import', { concurrency: 2 }, () => {
  test('removes what it created and gives all former values back, updatedAt included', async () => {
    const { bringIn, undo, everything, token } = await newTenant()
    await bringIn({
      'accounts.csv': accounts,
      'publications.csv': 'code\nP\n',
      'contacts.csv': 'externalId,accountId,name,subsOnly\nx1,A-1,Ada,\nx2,A-1,Bob,true\n',
      'subscriptions.csv': 'subscriptionId,accountId,publicationId,totalDue\nS-1,A-1,P,12345678901.99\n',
    })
    const before = await everything()
    const id = await bringIn(
      {
        'accounts.csv': 'accountId,company,status\nA-1,Other,on_hold\nA-3,New,\n',
        'contacts.csv': 'externalId,accountId,name,subsOnly\nx1,A-3,Adele,true\nx9,A-3,New,\n',
        'subscriptions.csv':
          'subscriptionId,accountId,publicationId,totalDue,renewedFromSubsId\nS-1,A-3,P,0,S-3\nS-2,A-3,P,,S-1\nS-3,A-3,P,,S-2\n',
        'invoices.csv': 'externalId,accountId,status\ni1,A-3,open\n',
      },
      '--prune',
      '--force',
    )
    assert.notDeepEqual(await everything(), before)
    const undone = await undo(id)
    assert.deepEqual([undone.removed, undone.restored, undone.keptCount], [5, 4, 0])
    assert.deepEqual(await everything(), before)
    const { body } = await service.call('GET', '/contacts?search=ada', { token })
    assert.deepEqual([body.total, (await service.call('GET', '/contacts?search=adele', { token })).body.total], [1, 0])
  })

  test('names and keeps what changed since, and what others refer to since', async () => {
    const { bringIn, undo, everything, token } = await newTenant()
    await bringIn({ 'accounts.csv': accounts, 'contacts.csv': 'externalId,accountId,name\nx1,A-1,Ada\nx2,A-1,Bob\n' })
    const id = await bringIn({
      'accounts.csv': 'accountId,company\nA-3,New\nA-4,Newer\n',
      'contacts.csv': 'externalId,accountId,name\nx1,A-1,Adele\nx2,A-1,Rob\nx3,A-1,Cyd\nx4,A-1,Dan\n',
    })
    const contacts = (await everything()).contacts
    const idOf = (name: string) => contacts.find((contact) => contact.name === name)?.id
    const patch = { accountId: 'A-1', title: 'CEO' }
    for (const name of ['Adele', 'Cyd']) {
      const path = `/contacts/${idOf(name)}`
      assert.equal((await service.call('PATCH', path, { token, body: patch })).status, 200)
    }
    const created = await service.call('POST', '/contacts', { token, body: { accountId: 'A-3', name: 'Eve' } })
    assert.equal(created.status, 201)
    const { removed, restored, kept } = await undo(id)
    assert.deepEqual([removed, restored], [2, 1])
    assert.deepEqual(
      kept.map(({ resource, name, reason }) => [resource, name, reason]),
      [
        ['contacts', 'x1', 'changed since'],
        ['contacts', 'x3', 'changed since'],
        ['accounts', 'A-3', 'others refer to it'],
      ],
    )
    const after = await everything()
    assert.deepEqual(
      [after.contacts.map(({ name }) => name), after.accounts.map(({ accountId }) => accountId)],
      [
        ['Adele', 'Bob', 'Cyd', 'Eve'],
        ['A-1', 'A-2', 'A-3'],
      ],
    )
  })

  test('goes back import by import', async () => {
    const { bringIn, undo, everything } = await newTenant()
    const states = [await everything()]
    const ids: string[] = []
    for (const name of ['One', 'Two', 'Three']) {
      ids.push(await bringIn({ 'accounts.csv': `accountId,company\nA-1,${name}\n` }))
      states.push(await everything())
    }
    for (const id of ids.toReversed()) {
      states.pop()
      assert.equal((await undo(id)).keptCount, 0)
      assert.deepEqual(await everything(), states.at(-1))
    }
  })

  test('does not restore what refers to a record that is gone', async () => {
    const { bringIn, undo } = await newTenant()
    const first = await bringIn({ 'accounts.csv': accounts, 'contacts.csv': 'externalId,accountId\nx1,A-1\n' })
    const second = await bringIn({ 'contacts.csv': 'externalId,accountId\nx1,A-2\n' })
    assert.deepEqual(
      (await undo(first)).kept.map(({ name, reason }) => [name, reason]),
      [
        ['x1', 'changed since'],
        ['A-2', 'others refer to it'],
      ],
    )
    const { restored, kept } = await undo(second)
    assert.deepEqual([restored, kept[0]?.name, kept[0]?.reason], [0, 'x1', 'its `accountId` is gone'])
  })

  test('keeps a record whose former identifier belongs to another one now', async () => {
    const { bringIn, undo, everything } = await newTenant()
    await bringIn({ 'accounts.csv': accounts, 'contacts.csv': 'externalId,accountId,name\nx1,A-1,Ada\ny1,A-1,Bob\n' })
    const [ada, bob] = (await everything()).contacts
    const id = await bringIn({
      'contacts.csv': `id,externalId,name\n${ada?.id},,Adele\n${bob?.id},y1,Rob\n`,
    })
    await bringIn({ 'contacts.csv': 'externalId,accountId,name\nx1,A-1,New\n' })
    const { restored, kept } = await undo(id)
    assert.deepEqual([restored, kept[0]?.reason], [1, 'its `externalId` belongs to another record'])
    assert.deepEqual(
      (await everything()).contacts.map(({ name }) => name),
      ['Adele', 'Bob', 'New'],
    )
  })

  test('removes renewals in any order, in circles too, and keeps those that others were renewed from', async () => {
    const { bringIn, undo, everything } = await newTenant()
    const base = 'subscriptionId,accountId,publicationId,renewedFromSubsId\n'
    await bringIn({
      'accounts.csv': accounts,
      'publications.csv': 'code\nP\n',
      'subscriptions.csv': `${base}S-0,A-1,P,\n`,
    })
    const row = (number: number, from: number) => `N-${number},A-1,P,N-${from}\n`
    const chain = Array.from({ length: 1_500 }, (_, index) => row(index, index + 1)).join('')
    const id = await bringIn({
      'subscriptions.csv': `${base}${chain}N-1500,A-1,P,\nC-1,A-1,P,C-2\nC-2,A-1,P,C-1\nK-1,A-1,P,\nK-2,A-1,P,K-1\nK-3,A-1,P,K-2\n`,
    })
    await bringIn({ 'subscriptions.csv': `${base}S-0,A-1,P,K-2\n` })
    const { removed, kept } = await undo(id)
    assert.deepEqual(
      [removed, kept.map(({ name, reason }) => [name, reason])],
      [
        1_504,
        [
          ['K-1', 'others refer to it'],
          ['K-2', 'others refer to it'],
        ],
      ],
    )
    const left = (await everything()).subscriptions
    assert.equal(left.find(({ subscriptionId }) => subscriptionId === 'K-2')?.renewedFromSubsId, left[1]?.id)
  })

  test('beside callers who write to what it removes ends well, and none of them sees a failure', async () => {
    const { bringIn, undo, token } = await newTenant()
    const many = Array.from({ length: 3_000 }, (_, index) => `M-${index}`)
    const id = await bringIn({ 'accounts.csv': `accountId\n${many.join('\n')}\n` })
    let over = false
    const statuses = new Set<number>()
    const write = async (path: string, more: object) => {
      for (let number = 0; !over; number++) {
        const body = { accountId: many[(number * 7_919) % many.length], ...more }
        statuses.add((await service.call('POST', path, { token, body })).status)
      }
    }
    const writers = [write('/contacts', {}), write('/tasks', { title: 'x', dueDate: '2026-01-01' })]
    const { removed, keptCount } = await undo(id).finally(() => (over = true))
    await Promise.all(writers)
    assert.equal(removed + keptCount, many.length)
    assert.deepEqual(
      [...statuses].filter((status) => status !== 201 && status !== 422),
      [],
    )
  })

  test('is possible once, for 30 days, for the imports of the tenant', async () => {
    const { bringIn, undo, complaint, masthead, tenant } = await newTenant()
    const other = await newTenant()
    const id = await bringIn({ 'accounts.csv': accounts })
    assert.match(
      await other.complaint('undo', id),
      /there is no import .* in this tenant; `masthead import list` shows/,
    )
    assert.match(await complaint('undo', 'nonsense'), /there is no import "nonsense"/)
    await undo(id)
    assert.match(await complaint('undo', id), /was undone on/)
    const old = await bringIn({ 'accounts.csv': accounts })
    await service.owner.query(`update imports set started_at = now() - interval '31 days' where id = $1`, [old])
    assert.match(await complaint('undo', old), /can be undone for 30 days/)
    const states = JSON.parse((await masthead('import', 'list', '--json')).stdout).map(
      ({ state }: { state: string }) => state,
    )
    assert.deepEqual(states, ['undone', 'done, too old to undo'])
    await bringIn({ 'accounts.csv': accounts })
    const { rows } = await service.owner.query('select from import_creations where tenant_id = $1', [tenant.id])
    assert.equal(rows.length, 0, 'what is too old is forgotten')
  })
})
