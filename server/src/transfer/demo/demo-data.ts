import { dayOf } from './calendar.ts'
import { accountRecord, contactRecords, createCustomer } from './customers.ts'
import { billsOfSingleCopies, billsOfTerm, invoiceRecord } from './invoices.ts'
import { createPublisher, type Publisher } from './publisher.ts'
import type { AccountStatus, DemoRecord } from './record.ts'
import { type Weighted, weighted } from './seeded-random.ts'
import { planTerms, subscriptionRecord } from './subscriptions.ts'
import { taskRecords } from './tasks.ts'

export type DemoOptions = { accounts: number; seed: number; today: string }

/** References point backwards, and only one account is held in memory at a time. */
export function* demoData({ accounts, seed, today }: DemoOptions): Generator<DemoRecord> {
  const publisher = createPublisher(seed, dayOf(today))
  for (const [title] of publisher.titles) yield { resource: 'publications', record: title.record }
  for (let number = 10_001; number <= 10_000 + accounts; number++) yield* recordsOfAccount(publisher, number)
}

function* recordsOfAccount(publisher: Publisher, number: number): Generator<DemoRecord> {
  const status = publisher.random.weighted(accountStatuses)
  const terms = planTerms(publisher, status)
  const customer = createCustomer(publisher, number, status, terms)
  yield { resource: 'accounts', record: accountRecord(publisher, customer) }
  for (const record of contactRecords(publisher, customer)) yield { resource: 'contacts', record }

  // A subscription precedes its invoices, yet shows their sums.
  const bills = terms.map((term) => billsOfTerm(publisher, customer, term))
  for (const [index, term] of terms.entries()) {
    const record = subscriptionRecord(publisher, customer, term, index + 1, bills[index] ?? [])
    yield { resource: 'subscriptions', record }
  }
  for (const bill of [...bills.flat(), ...billsOfSingleCopies(publisher, customer)]) {
    yield { resource: 'invoices', record: invoiceRecord(publisher, customer, bill) }
  }
  for (const record of taskRecords(publisher, customer)) yield { resource: 'tasks', record }
}

const accountStatuses: Weighted<AccountStatus> = weighted(
  ['active', 'inactive', 'prospect', 'on_hold'],
  [72, 12, 10, 6],
)
