import { addMonths, atMostThe28th, dateOf, dayOfInstant, instantAfter, instantOn, timestampOf } from './calendar.ts'
import type { Customer } from './customers.ts'
import { type Bill, money, type Term } from './plan.ts'
import { type Publisher, retiredDaysAgo, type Title } from './publisher.ts'
import type { AccountStatus, DemoSubscription, SubscriptionStatus } from './record.ts'
import { type Weighted, weighted } from './seeded-random.ts'
import { subscriptionNotes } from './vocabulary.ts'

/** At most one chain for each title, its oldest term first. */
export const planTerms = (publisher: Publisher, status: AccountStatus): Term[] => {
  if (status === 'prospect') return []
  const { random } = publisher
  const chains = new Map<Title, Term[]>()
  for (let left = random.weighted(chainCounts); left > 0; left--) {
    const title = random.weighted(publisher.titles)
    const outcome = title.isRetired ? 'expired' : random.weighted(outcomes[status])
    if (!chains.has(title)) chains.set(title, planChain(publisher, title, outcome))
  }
  return [...chains.values()].flat()
}

const chainCounts = weighted([1, 2, 3, 4], [64, 23, 9, 4])

/** What has become of the newest term of a chain. */
const outcomes: Record<Exclude<AccountStatus, 'prospect'>, Weighted<SubscriptionStatus>> = {
  active: weighted(['active', 'pending', 'grace', 'cancelled', 'suspended', 'expired'], [66, 10, 9, 7, 5, 3]),
  on_hold: weighted(['suspended', 'cancelled'], [85, 15]),
  inactive: weighted(['expired', 'cancelled'], [60, 40]),
}

const planChain = (publisher: Publisher, title: Title, outcome: SubscriptionStatus): Term[] => {
  const { random, today, yesterday } = publisher
  const length = random.weighted(chainLengths)
  const months = random.weighted(termMonths)
  const copiesShare = random.between(0, 999) / 1000
  const newestStartDay = startDayOfNewest(publisher, title, outcome, months)
  const isMistake = length === 1 && random.chance(5)
  const chain: Term[] = []
  for (let age = length - 1; age >= 0; age--) {
    const startDay = addMonths(newestStartDay, -age * months)
    const endDay = addMonths(newestStartDay, (1 - age) * months) - 1
    const created = instantOn(random, Math.min(startDay - random.between(15, 60), yesterday))
    chain.push({
      id: random.uuidV7(created),
      title,
      status: age === 0 ? outcome : endDay < today ? 'expired' : 'active',
      months,
      startDay,
      endDay,
      expireDay: age === 0 ? expireDayOfNewest(publisher, outcome, startDay, endDay) : endDay,
      renewedFrom: chain.at(-1) ?? null,
      isRenewed: age > 0,
      copiesShare,
      created,
      deleted: isMistake ? instantAfter(random, created, Math.min(dayOfInstant(created) + 3, yesterday)) : null,
    })
  }
  return chain
}

const chainLengths = weighted([1, 2, 3, 4], [47, 28, 16, 9])
const termMonths = weighted([12, 6, 24], [80, 12, 8])

/** At most the 28th of a month, so that every term of the chain begins on the same day. */
const startDayOfNewest = ({ random, today }: Publisher, title: Title, outcome: SubscriptionStatus, months: number) => {
  if (outcome === 'pending') return atMostThe28th(today + random.between(4, 45))
  if (outcome === 'cancelled') return atMostThe28th(today - random.between(60, 1000))
  if (outcome === 'grace') return addMonths(atMostThe28th(today - random.between(0, 20)), -months)
  if (outcome === 'expired') {
    const endedDaysAgo = title.isRetired ? random.between(retiredDaysAgo, 1500) : random.between(40, 900)
    return addMonths(atMostThe28th(today - endedDaysAgo), -months)
  }
  return atMostThe28th(today - random.between(0, months * 30 - 5))
}

const graceDays = 28

const expireDayOfNewest = (publisher: Publisher, outcome: SubscriptionStatus, startDay: number, endDay: number) => {
  if (outcome === 'cancelled') return publisher.random.between(startDay + 20, Math.min(endDay, publisher.yesterday))
  return outcome === 'expired' ? endDay : endDay + graceDays
}

export const subscriptionRecord = (
  { random, yesterday }: Publisher,
  customer: Customer,
  term: Term,
  ordinal: number,
  bills: Bill[],
): DemoSubscription => {
  const standing = bills.filter((bill) => bill.status !== 'void')
  const sum = (cents: (bill: Bill) => number) =>
    bills.length === 0 ? null : money(standing.reduce((total, bill) => total + cents(bill), 0))
  const hasEnded = term.status === 'expired' || term.status === 'cancelled'
  const lastChangeDay = Math.min(term.expireDay + 1, yesterday)
  const changed = hasEnded ? instantOn(random, lastChangeDay) : instantAfter(random, term.created, lastChangeDay)
  return {
    id: term.id,
    subscriptionId: random.chance(98) ? `S-${customer.number}-${ordinal}` : null,
    accountId: customer.accountId,
    publicationId: term.title.record.id,
    renewedFromSubsId: term.renewedFrom?.id ?? null,
    renewalDate: hasEnded && !term.isRenewed ? null : dateOf(term.endDay + 1),
    status: term.status,
    startDate: dateOf(term.startDay),
    endDate: dateOf(term.endDay),
    expireDate: dateOf(term.expireDay),
    firstRunDate: dateOf(term.startDay + random.between(0, Math.floor(180 / term.title.issuesYearly))),
    subscriptionNumber: random.chance(96) ? `${term.title.code}-${customer.number}` : null,
    copies: String(copiesOf(customer, term)),
    autoReschedule: random.flag(70),
    autoInvoice: random.flag(85),
    notes: term.deleted === null ? random.maybe(8, subscriptionNotes) : 'Entered twice by mistake.',
    totalNetCharge: sum((bill) => bill.net),
    totalApplied: sum((bill) => bill.applied),
    totalDue: sum((bill) => bill.total - bill.applied),
    createdAt: timestampOf(term.created),
    updatedAt: timestampOf(term.deleted ?? changed),
    deletedAt: term.deleted === null ? null : timestampOf(term.deleted),
  }
}

export const copiesOf = (customer: Customer, term: Term): number => {
  // Cubed, because most customers take a single copy and only a few take many.
  return 1 + Math.floor(term.copiesShare ** 3 * customer.kind.copiesMax)
}
