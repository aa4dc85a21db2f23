import { addMonths, atMostThe28th, dateOf, dayOfInstant, instantAfter, instantOn, timestampOf } from './calendar.ts'
import { type Bill, type Customer, money, type Term } from './plan.ts'
import { type Publisher, RETIRED_DAYS_AGO, type Title } from './publisher.ts'
import type { AccountStatus, DemoSubscription, SubscriptionStatus } from './record.ts'
import type { Weighted } from './seeded-random.ts'
import { SUBSCRIPTION_NOTES } from './vocabulary.ts'

/** At most one chain for each title, its oldest term first. */
export function planTerms(publisher: Publisher, status: AccountStatus): Term[] {
  if (status === 'prospect') return []
  const { random } = publisher
  const chains = new Map<Title, Term[]>()
  for (let left = random.weighted(CHAIN_COUNTS); left > 0; left--) {
    const title = random.weighted(publisher.titles)
    const outcome = title.isRetired ? 'expired' : random.weighted(OUTCOMES[status])
    if (!chains.has(title)) chains.set(title, planChain(publisher, title, outcome))
  }
  return [...chains.values()].flat()
}

const CHAIN_COUNTS: Weighted<number> = [
  [1, 64],
  [2, 23],
  [3, 9],
  [4, 4],
]

/** What has become of the newest term of a chain. */
const OUTCOMES: Record<Exclude<AccountStatus, 'prospect'>, Weighted<SubscriptionStatus>> = {
  active: [
    ['active', 66],
    ['pending', 10],
    ['grace', 9],
    ['cancelled', 7],
    ['suspended', 5],
    ['expired', 3],
  ],
  on_hold: [
    ['suspended', 85],
    ['cancelled', 15],
  ],
  inactive: [
    ['expired', 60],
    ['cancelled', 40],
  ],
}

function planChain(publisher: Publisher, title: Title, outcome: SubscriptionStatus): Term[] {
  const { random, today, yesterday } = publisher
  const length = random.weighted(CHAIN_LENGTHS)
  const months = random.weighted(TERM_MONTHS)
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

const CHAIN_LENGTHS: Weighted<number> = [
  [1, 47],
  [2, 28],
  [3, 16],
  [4, 9],
]
const TERM_MONTHS: Weighted<number> = [
  [12, 80],
  [6, 12],
  [24, 8],
]

/** At most the 28th of a month, so that every term of the chain begins on the same day. */
function startDayOfNewest({ random, today }: Publisher, title: Title, outcome: SubscriptionStatus, months: number) {
  if (outcome === 'pending') return atMostThe28th(today + random.between(4, 45))
  if (outcome === 'cancelled') return atMostThe28th(today - random.between(60, 1000))
  if (outcome === 'grace') return addMonths(atMostThe28th(today - random.between(0, 20)), -months)
  if (outcome === 'expired') {
    const endedDaysAgo = title.isRetired ? random.between(RETIRED_DAYS_AGO, 1500) : random.between(40, 900)
    return addMonths(atMostThe28th(today - endedDaysAgo), -months)
  }
  return atMostThe28th(today - random.between(0, months * 30 - 5))
}

const GRACE_DAYS = 28

function expireDayOfNewest(publisher: Publisher, outcome: SubscriptionStatus, startDay: number, endDay: number) {
  if (outcome === 'cancelled') return publisher.random.between(startDay + 20, Math.min(endDay, publisher.yesterday))
  return outcome === 'expired' ? endDay : endDay + GRACE_DAYS
}

export function subscriptionRecord(
  { random, yesterday }: Publisher,
  customer: Customer,
  term: Term,
  ordinal: number,
  bills: Bill[],
): DemoSubscription {
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
    notes: term.deleted === null ? random.maybe(8, SUBSCRIPTION_NOTES) : 'Entered twice by mistake.',
    totalNetCharge: sum((bill) => bill.net),
    totalApplied: sum((bill) => bill.applied),
    totalDue: sum((bill) => bill.total - bill.applied),
    createdAt: timestampOf(term.created),
    updatedAt: timestampOf(term.deleted ?? changed),
    deletedAt: term.deleted === null ? null : timestampOf(term.deleted),
  }
}

export function copiesOf(customer: Customer, term: Term): number {
  // Cubed, because most customers take a single copy and only a few take many.
  return 1 + Math.floor(term.copiesShare ** 3 * customer.kind.copiesMax)
}
