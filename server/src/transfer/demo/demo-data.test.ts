import assert from 'node:assert/strict'
import { test } from 'node:test'
import { demoData } from './demo-data.ts'
import type { DemoRecord } from './record.ts'

const TODAY = '2026-11-15'
const OPTIONS = { accounts: 500, seed: 1, today: TODAY }
const DATA = [...demoData(OPTIONS)]

const publications = DATA.flatMap((item) => (item.resource === 'publications' ? [item.record] : []))
const accounts = DATA.flatMap((item) => (item.resource === 'accounts' ? [item.record] : []))
const contacts = DATA.flatMap((item) => (item.resource === 'contacts' ? [item.record] : []))
const subscriptions = DATA.flatMap((item) => (item.resource === 'subscriptions' ? [item.record] : []))
const invoices = DATA.flatMap((item) => (item.resource === 'invoices' ? [item.record] : []))
const tasks = DATA.flatMap((item) => (item.resource === 'tasks' ? [item.record] : []))

const FIELDS: Record<DemoRecord['resource'], string> = {
  publications: 'id code name isActive frequency issFrequency issueDecimals createdAt updatedAt',
  accounts:
    'id accountId company address suite city state zip country webAddress status billingEmail invoiceEmailEnabled invoicePrintEnabled doNotEmail createdAt updatedAt',
  contacts:
    'id accountId ownerId name firstName lastName phone phone2 extension hideContact subsOnly doNotEmail email title notes deletedAt createdAt updatedAt',
  subscriptions:
    'id subscriptionId accountId publicationId renewedFromSubsId renewalDate status startDate endDate expireDate firstRunDate subscriptionNumber copies autoReschedule autoInvoice notes totalNetCharge totalApplied totalDue createdAt updatedAt deletedAt',
  invoices:
    'id accountId publicationId issueId status issueDate dueDate terms total totalDue balanceCents gross net invoiceType invoiceDescription invCharges invInvoiced invApplied invDiscount invTax datePaid isOpen notes createdAt updatedAt',
  tasks: 'id accountId title dueDate userId priority type notes doneAt route createdAt updatedAt',
}
const DATES = 'startDate endDate expireDate firstRunDate renewalDate issueDate dueDate datePaid'.split(' ')
const TIMESTAMPS = 'createdAt updatedAt deletedAt doneAt'.split(' ')
const MONEY =
  'totalNetCharge totalApplied totalDue total gross net invCharges invInvoiced invApplied invDiscount invTax'.split(' ')

test('the same seed gives the same data', () => {
  assert.deepEqual([...demoData(OPTIONS)], DATA)
})

test('another seed gives other data', () => {
  const ids = new Set(DATA.map(({ record }) => record.id))
  for (const { record } of demoData({ ...OPTIONS, seed: 2 })) assert.ok(!ids.has(record.id))
})

test('fewer accounts are the beginning of more', () => {
  const fewer = [...demoData({ ...OPTIONS, accounts: 20 })]
  assert.deepEqual(fewer, DATA.slice(0, fewer.length))
})

test('a day that is not a real date is refused', () => {
  for (const today of ['2026-02-30', '2026-1-1', 'yesterday', '1999-12-31']) {
    assert.throws(() => demoData({ ...OPTIONS, today }).next(), RangeError)
  }
})

test('500 accounts have the proportions of a publisher', () => {
  assert.equal(publications.length, 8)
  assert.equal(accounts.length, 500)
  for (const [count, expected] of [
    [contacts.length, 1300],
    [subscriptions.length, 1200],
    [invoices.length, 1800],
    [tasks.length, 275],
  ] as const) {
    assert.ok(Math.abs(count - expected) < expected * 0.15, `${count} instead of about ${expected}`)
  }
})

test('every record has exactly the described fields in order', () => {
  for (const { resource, record } of DATA) assert.equal(Object.keys(record).join(' '), FIELDS[resource])
})

test('ids and business identifiers are unique', () => {
  assertUnique(DATA.map(({ record }) => record.id))
  assertUnique(accounts.map((account) => account.accountId))
  assertUnique(publications.map((publication) => publication.code))
  assertUnique(subscriptions.flatMap(({ subscriptionId }) => subscriptionId ?? []))
  for (const { accountId } of accounts) assert.match(accountId, /^C-\d{5,}$/)
})

test('an id is a UUIDv7 of the moment of creation', () => {
  for (const { record } of DATA) {
    assert.match(record.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.equal(Number.parseInt(record.id.replace('-', '').slice(0, 12), 16), Date.parse(record.createdAt))
  }
})

test('every reference points backwards to an existing record', () => {
  const seen = new Set<string | null>([null])
  for (const { resource, record } of DATA) {
    if (resource === 'subscriptions') assert.ok(seen.has(record.renewedFromSubsId))
    if (resource === 'subscriptions' || resource === 'invoices') assert.ok(seen.has(record.publicationId))
    if (resource === 'accounts') seen.add(record.accountId)
    else if (resource !== 'publications') assert.ok(seen.has(record.accountId))
    seen.add(record.id)
  }
})

test('every known status occurs, and no other', () => {
  assertSameMembers(accounts, 'active inactive on_hold prospect')
  assertSameMembers(subscriptions, 'active cancelled expired grace pending suspended')
  assertSameMembers(invoices, 'draft open paid past_due uncollectible void')
})

test('every kind of contact occurs', () => {
  for (const field of ['hideContact', 'subsOnly', 'doNotEmail'] as const) {
    assert.deepEqual(new Set(contacts.map((contact) => contact[field])), new Set([true, false, null]))
  }
  assert.ok(contacts.some((contact) => contact.deletedAt !== null))
  assert.ok(contacts.some((contact) => contact.firstName === null))
  assert.equal(publications.filter((publication) => publication.isActive === false).length, 1)
})

test('addresses of email and web lie in reserved domains', () => {
  const reserved = /^[a-z-]+(\.[a-z-]+)?@[a-z-]+\.example\.(com|org|net)$/i
  for (const { email } of contacts) if (email !== null) assert.match(email, reserved)
  for (const { billingEmail, webAddress } of accounts) {
    if (billingEmail !== null) assert.match(billingEmail, reserved)
    if (webAddress !== null) assert.match(webAddress, /^(https:\/\/)?www\.[a-z-]+\.example\.(com|org|net)$/)
  }
})

test('dates and timestamps are real', () => {
  for (const [field, value] of valuesOf(DATES)) assert.equal(new Date(value).toISOString().slice(0, 10), value, field)
  for (const [field, value] of valuesOf(TIMESTAMPS)) assert.equal(new Date(value).toISOString(), value, field)
})

test('what happened, happened before today and in order', () => {
  for (const { record } of DATA) {
    assert.ok(record.createdAt <= record.updatedAt && record.updatedAt < TODAY)
    if ('deletedAt' in record && record.deletedAt !== null) assert.equal(record.deletedAt, record.updatedAt)
  }
  const createdAt = new Map(accounts.map((account) => [account.accountId, account.createdAt]))
  for (const record of [...contacts, ...subscriptions, ...invoices]) {
    assert.ok(record.createdAt >= (createdAt.get(record.accountId) ?? TODAY))
  }
})

test('tasks are open and done, late and ahead, of several people and of nobody', () => {
  const open = tasks.filter(({ doneAt }) => doneAt === null)
  assert.ok(open.some(({ dueDate }) => dueDate < TODAY) && open.some(({ dueDate }) => dueDate > TODAY))
  assert.ok(open.length > 50 && tasks.length - open.length > 50)
  assert.ok(new Set(tasks.map(({ userId }) => userId)).size > 2 && tasks.some(({ userId }) => userId === ''))
  for (const { doneAt, createdAt, updatedAt } of tasks) assert.ok((doneAt ?? updatedAt) >= createdAt)
})

test('a renewal begins the day after the term that it renews', () => {
  const earlier = new Map(subscriptions.map((subscription) => [subscription.id, subscription]))
  const renewals = subscriptions.filter((subscription) => subscription.renewedFromSubsId !== null)
  assert.ok(renewals.length > 300)
  for (const renewal of renewals) {
    const renewed = earlier.get(renewal.renewedFromSubsId ?? '')
    assert.equal(renewed?.renewalDate, renewal.startDate)
    assert.equal(Date.parse(renewal.startDate) - Date.parse(renewed?.endDate ?? ''), 86_400_000)
    assert.equal(renewed?.publicationId, renewal.publicationId)
    assert.equal(renewed?.status, renewed && renewed.endDate < TODAY ? 'expired' : 'active')
  }
})

test('the status of a subscription agrees with its dates', () => {
  for (const { status, startDate, endDate, expireDate, firstRunDate } of subscriptions) {
    assert.ok(startDate <= firstRunDate && firstRunDate <= endDate && startDate < expireDate)
    if (status === 'pending') assert.ok(startDate > TODAY)
    if (status === 'active' || status === 'suspended') assert.ok(startDate <= TODAY && TODAY <= endDate)
    if (status === 'grace') assert.ok(endDate < TODAY && TODAY <= expireDate)
    if (status === 'expired' || status === 'cancelled') assert.ok(expireDate < TODAY && expireDate <= endDate)
  }
})

test('no subscription outlives its retired title', () => {
  const retired = publications.find((publication) => publication.isActive === false)
  const readers = subscriptions.filter((subscription) => subscription.publicationId === retired?.id)
  assert.ok(retired !== undefined && readers.length > 0)
  for (const { endDate } of readers) assert.ok(endDate < retired.updatedAt)
})

test('the status of an invoice agrees with its dates', () => {
  for (const { status, issueDate, dueDate, datePaid, isOpen } of invoices) {
    assert.equal(isOpen, status === 'open' || status === 'past_due' ? 1 : 0)
    assert.equal(datePaid !== null, status === 'paid')
    assert.equal(issueDate === null && dueDate === null, status === 'draft')
    if (issueDate === null || dueDate === null) continue
    assert.ok(issueDate <= dueDate && issueDate < TODAY)
    if (datePaid !== null) assert.ok(issueDate <= datePaid && datePaid < TODAY)
    if (status === 'open') assert.ok(dueDate >= TODAY)
    if (status === 'past_due' || status === 'uncollectible') assert.ok(dueDate < TODAY)
  }
})

test('money is written with two decimals, copies as an integer', () => {
  for (const [field, value] of valuesOf(MONEY)) assert.match(value, /^\d+\.\d\d$/, field)
  for (const { copies } of subscriptions) assert.match(copies, /^[1-9]\d*$/)
})

test('the money of an invoice adds up', () => {
  for (const invoice of invoices) {
    assert.equal(cents(invoice.gross) - cents(invoice.invDiscount), cents(invoice.net))
    assert.equal(cents(invoice.net) + cents(invoice.invTax), cents(invoice.total))
    assert.equal(cents(invoice.total) - cents(invoice.invApplied), cents(invoice.totalDue))
    assert.equal(invoice.balanceCents, cents(invoice.totalDue))
    assert.equal(invoice.totalDue === '0.00', invoice.status === 'paid' || invoice.status === 'void')
    assert.ok(cents(invoice.total) > 0)
  }
})

test('the totals of subscriptions agree with their invoices', () => {
  const open = new Map<string, [net: number, applied: number, due: number]>()
  const add = (accountId: string, publicationId: string | null, amounts: (string | null)[], sign: 1 | -1) => {
    const key = `${accountId} ${publicationId}`
    const [net, applied, due] = open.get(key) ?? [0, 0, 0]
    const [netMore = 0, appliedMore = 0, dueMore = 0] = amounts.map((amount) => sign * cents(amount ?? '0.00'))
    open.set(key, [net + netMore, applied + appliedMore, due + dueMore])
  }
  for (const { accountId, publicationId, totalNetCharge, totalApplied, totalDue } of subscriptions) {
    add(accountId, publicationId, [totalNetCharge, totalApplied, totalDue], 1)
  }
  for (const { accountId, publicationId, invoiceType, status, net, invApplied, totalDue } of invoices) {
    const isForTerm = invoiceType === 'Subscription' || invoiceType === 'Renewal'
    if (isForTerm && status !== 'void') add(accountId, publicationId, [net, invApplied, totalDue], -1)
  }
  assert.ok(open.size > 500)
  for (const difference of open.values()) assert.deepEqual(difference.map(Math.abs), [0, 0, 0])
})

function cents(money: string): number {
  return Number(money.replace('.', ''))
}

function valuesOf(fields: string[]): [field: string, value: string][] {
  const entries = DATA.flatMap(({ record }) => Object.entries(record))
  return entries.flatMap(([field, value]) =>
    fields.includes(field) && value !== null ? [[field, String(value)] as [string, string]] : [],
  )
}

function assertUnique(values: string[]): void {
  assert.equal(new Set(values).size, values.length)
}

function assertSameMembers(records: { status: string }[], expected: string): void {
  assert.equal([...new Set(records.map((record) => record.status))].sort().join(' '), expected)
}
