import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sampleAccount } from '../../../test/records/sample-records.ts'
import { assertTenantTallies } from '../../../test/records/tallies.ts'
import { type CallResponse, linksOf, startService, type TestTenant } from '../../../test/service.ts'

/** What the model knows of a contact: as much as decides where it is listed, and the body last answered. */
type Contact = {
  accountId: string
  name: string
  title: string | null
  hideContact: boolean | null
  subsOnly: boolean | null
  deleted: boolean
  body: Record<string, unknown>
}
type Change = Partial<Pick<Contact, 'name' | 'title' | 'hideContact' | 'subsOnly'>>
type Step =
  | {
      kind: 'create'
      account: number
      name: string
      title: string | null
      hidden: boolean | null
      subs: boolean | null
    }
  | { kind: 'update'; contact: number; account: number | null; change: Change; deletedAt?: string | null }
  | { kind: 'delete'; contact: number }
  | { kind: 'restore'; contact: number }
  | { kind: 'leap' }

/** Written as entered, and as search should see it. */
const words = [
  ['Ana', 'ana'],
  ['ANNABEL', 'annabel'],
  ['Änne', 'anne'],
  ['Straße', 'strasse'],
  ['Σίσυφος', 'σισυφοσ'],
  ['東京', '東京'],
  ['50%', '50%'],
  ['a_b', 'a_b'],
  ['C:\\x', 'c:\\x'],
  ["O'Neil", "o'neil"],
] as const
const normalised = new Map<string, string>(words)
const searches = [
  'an',
  'ANN',
  'anné',
  'STRASSE',
  'ß',
  'σίσ',
  '京',
  '%',
  '_',
  '\\',
  "'",
  'a n',
  'ana ÄN',
  'nobody',
] as const
const normalisedSearches: readonly string[][] = [
  ['an'],
  ['ann'],
  ['anne'],
  ['strasse'],
  ['ss'],
  ['σισ'],
  ['京'],
  ['%'],
  ['_'],
  ['\\'],
  ["'"],
  ['a', 'n'],
  ['ana', 'an'],
  ['nobody'],
]
const accountIds = ['M-1', 'M-2', 'M-3'] as const

const contact = fc.nat(1_000)
const account = fc.nat(accountIds.length - 1)
const flag = fc.constantFrom(true, false, null)
const text = fc
  .array(fc.constantFrom(...words.map(([word]) => word)), { minLength: 1, maxLength: 2 })
  .map((parts) => parts.join(' '))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      account,
      name: text,
      title: fc.option(text),
      hidden: flag,
      subs: flag,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        kind: fc.constant('update' as const),
        contact,
        account: fc.option(account),
        change: fc.record(
          { name: text, title: fc.option(text), hideContact: flag, subsOnly: flag },
          { requiredKeys: [] },
        ),
        deletedAt: fc.constantFrom(null, '2020-01-01T00:00:00Z'),
      },
      { requiredKeys: ['kind', 'contact', 'account', 'change'] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), contact }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const), contact }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'leap' as const }) },
)

const service = await startService()

test('lists, totals and tallies of contacts equal those of a model after any writes', async () => {
  const looks = fc.record({ account, search: fc.nat(searches.length - 1), pageSize: fc.integer({ min: 1, max: 9 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), looks, async (steps, look) => {
      const run = await startRun()
      for (const one of steps) await take(run, one)
      await compareLists(run, look)
      await assertTenantTallies(service.owner, run.tenant.id)
    }),
    // Shrinking takes minutes: run it by hand, with the seed that a failure prints and without `endOnFailure`.
    { numRuns: 10, endOnFailure: true },
  )
})

type Run = { tenant: TestTenant; token: string; contacts: Contact[]; accountUuids: string[] }

const startRun = async (): Promise<Run> => {
  const tenant = await service.newTenant()
  const accounts = await tenant.add(
    'accounts',
    accountIds.map((id) => sampleAccount(id)),
  )
  // A few records before the end of a block, so that the first ones already lie in two.
  await service.owner.query(`insert into heads (tenant_id, resource, last) values ($1, 'contacts', 1020)`, [tenant.id])
  return {
    tenant,
    token: await tenant.serviceToken(),
    contacts: [],
    accountUuids: accounts.map(({ id }) => String(id)),
  }
}

const accountOf = (index: number): string => accountIds[index] ?? accountIds[0]

const take = async (run: Run, one: Step): Promise<void> => {
  const { token, contacts } = run
  if (one.kind === 'leap') {
    // To just before the end of a block of the next level, so that every level of tallies has several blocks.
    const leap = `update heads set last = (last / block + 2) * block - 2
      from (values (1 << (array[10, 16, 22])[1 + $2 % 3])) as leap (block) where tenant_id = $1 and resource = 'contacts'`
    await service.owner.query(leap, [run.tenant.id, contacts.length])
  } else if (one.kind === 'create') {
    const fields = { name: one.name, title: one.title, hideContact: one.hidden, subsOnly: one.subs }
    const accountId = accountOf(one.account)
    const answer = await service.call('POST', '/contacts', { token, body: { accountId, ...fields } })
    assert.equal(answer.status, 201, answer.text)
    contacts.push({ accountId, ...fields, deleted: false, body: answer.body })
  } else {
    const target = contacts[one.contact % Math.max(1, contacts.length)]
    if (target) await change(token, target, one)
  }
}

const change = async (
  token: string,
  target: Contact,
  one: Exclude<Step, { kind: 'create' | 'leap' }>,
): Promise<void> => {
  const path = `/contacts/${target.body.id}`
  let answer: CallResponse
  if (one.kind === 'delete') {
    answer = await service.call('DELETE', path, { token })
    target.deleted = true
  } else if (one.kind === 'restore') {
    answer = await service.call('POST', `${path}/restore`, { token })
    target.deleted = false
  } else {
    const accountId = one.account === null ? target.accountId : accountOf(one.account)
    const deletedAt = one.deletedAt === undefined ? {} : { deletedAt: one.deletedAt }
    answer = await service.call('PATCH', path, { token, body: { accountId, ...one.change, ...deletedAt } })
    if (target.deleted && one.deletedAt === undefined) return assert.equal(answer.status, 409)
    Object.assign(target, one.change, { accountId })
    if (one.deletedAt !== undefined) target.deleted = one.deletedAt !== null
  }
  assert.equal(answer.status, 200, answer.text)
  target.body = answer.body
  const { deleted, body, ...fields } = target
  assert.deepEqual({ ...body, ...fields }, body, 'the answer shows what the model expects')
  assert.equal(body.deletedAt !== null, deleted)
}

type Look = { account: number; search: number; pageSize: number }

/** Every combination of the flags, each with and without an account and a search. */
const compareLists = async (run: Run, look: Look): Promise<void> => {
  for (let bits = 0; bits < 32; bits++) {
    const [hidden, subs, deleted, byAccount, bySearch] = [1, 2, 4, 8, 16].map((bit) => (bits & bit) !== 0)
    const sought = normalisedSearches[look.search] ?? []
    const expected = run.contacts.filter(
      (one) =>
        (hidden || !one.hideContact) &&
        (subs || !one.subsOnly) &&
        (deleted || !one.deleted) &&
        (!byAccount || one.accountId === accountOf(look.account)) &&
        (!bySearch || sought.every((word) => occurs(word, one))),
    )
    const query = new URLSearchParams({ pageSize: String(look.pageSize) })
    if (hidden) query.set('includeHidden', 'true')
    if (subs) query.set('includeSubsOnly', 'true')
    if (deleted) query.set('includeDeleted', 'true')
    // By one identifier or the other.
    if (byAccount) query.set('accountId', (hidden ? run.accountUuids : accountIds)[look.account] ?? '')
    if (bySearch) query.set('search', searches[look.search] ?? '')
    await comparePages(run.token, query, look.pageSize, expected)
  }
}

const occurs = (word: string, { name, title }: Contact): boolean =>
  [name, title ?? ''].some((field) =>
    field
      .split(' ')
      .map((part) => normalised.get(part) ?? part)
      .some((part) => part.includes(word)),
  )

const comparePages = async (
  token: string,
  query: URLSearchParams,
  size: number,
  expected: Contact[],
): Promise<void> => {
  const bodies = expected.map(({ body }) => body)
  const pages = Math.max(1, Math.ceil(bodies.length / size))
  const first = `/contacts?${query}`
  let next: string | undefined = first
  for (let page = 1; page <= pages + 1; page++) {
    const wanted = { items: bodies.slice((page - 1) * size, page * size), page, pageSize: size, total: bodies.length }
    const numbered = await service.call('GET', `${first}&page=${page}`, { token })
    assert.deepEqual(numbered.body, wanted, `${first}&page=${page}`)
    assert.equal(next !== undefined, page <= pages, `${first}: page ${page} has a next`)
    if (next === undefined) continue
    const walked: CallResponse = await service.call('GET', next, { token })
    assert.deepEqual(walked.body, wanted, `${first}: page ${page} by next`)
    next = linksOf(walked.headers).next
  }
}
