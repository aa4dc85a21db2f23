import { addMonths, dateOf, dayOfInstant, instantAfter, instantOn, timestampOf } from './calendar.ts'
import type { Customer } from './customers.ts'
import { type Bill, money, type Order, type Term } from './plan.ts'
import type { Publisher, Title } from './publisher.ts'
import type { DemoInvoice, InvoiceStatus } from './record.ts'
import { type SeededRandom, type Weighted, weighted } from './seeded-random.ts'
import { copiesOf } from './subscriptions.ts'

/** Older terms were invoiced in a system that is gone. */
const invoicesKeptDays = 7 * 365
const draftedDaysAhead = 30
const invoicedDaysAhead = 14

export const billsOfTerm = (publisher: Publisher, customer: Customer, term: Term): Bill[] => {
  const { random, today } = publisher
  if (term.deleted !== null || term.startDay < today - invoicesKeptDays) return []
  const copies = copiesOf(customer, term)
  const price = Math.round((priceOf(term.title, today - term.startDay) * copies * term.months) / 12)
  const instalments = random.weighted(term.months === 12 ? instalmentsOfYear : instalmentsOfOthers)
  const bills: Bill[] = []
  for (let index = 0; index < instalments; index++) {
    const issueDay = addMonths(term.startDay, (index * term.months) / instalments) - invoicedDaysAhead
    if (issueDay > today + draftedDaysAhead || issueDay >= term.expireDay) break
    const part = instalments === 1 ? '' : `, instalment ${index + 1} of ${instalments}`
    const bill = createBill(random, customer, {
      publicationId: term.title.record.id,
      issueId: null,
      type: term.renewedFrom === null ? 'Subscription' : 'Renewal',
      description: `${term.title.name}, ${term.months} months, ${copies} ${copies === 1 ? 'copy' : 'copies'}${part}`,
      status: statusOf(publisher, term, issueDay, issueDay + customer.netDays),
      issueDay,
      gross: Math.floor((price * (index + 1)) / instalments) - Math.floor((price * index) / instalments),
    })
    if (bill.status === 'paid' && random.chance(3)) bills.push({ ...bill, status: 'void' })
    bills.push(bill)
  }
  return bills
}

const instalmentsOfYear = weighted([1, 2, 4], [72, 18, 10])
const instalmentsOfOthers = weighted([1, 2], [70, 30])

const priceOf = (title: Title, daysAgo: number): number => {
  const yearlyRise = 1.03
  const tenths = title.priceCents / yearlyRise ** Math.max(0, Math.floor(daysAgo / 365)) / 10
  return Math.round(tenths) * 10
}

const statusOf = ({ random, today }: Publisher, term: Term, issueDay: number, dueDay: number): InvoiceStatus => {
  const isOverdue = dueDay < today
  const isRecent = dueDay >= today - 120
  if (issueDay >= today) return 'draft'
  if (term.isRenewed && isOverdue) return 'paid'
  if (term.status === 'cancelled') return isOverdue ? random.weighted(statusesAfterCancellation) : 'void'
  if (term.status === 'expired') return random.chance(15) ? 'uncollectible' : 'paid'
  if (!isOverdue) return random.chance(70) ? 'open' : 'paid'
  return isRecent && random.chance(term.status === 'suspended' ? 85 : 25) ? 'past_due' : 'paid'
}

const statusesAfterCancellation: Weighted<InvoiceStatus> = weighted(['paid', 'uncollectible', 'void'], [60, 25, 15])

export const billsOfSingleCopies = ({ random, today, yesterday, titles }: Publisher, customer: Customer): Bill[] => {
  if (customer.status === 'prospect' || !random.chance(25)) return []
  const title = random.weighted(titles)
  const issueDay = random.between(Math.max(dayOfInstant(customer.created) + 1, today - 600), yesterday)
  const status = issueDay + customer.netDays >= today ? 'open' : 'paid'
  const copies = random.between(1, 12)
  const gross = Math.ceil(title.priceCents / title.issuesYearly) * copies
  if (title.isRetired) {
    const order = { publicationId: null, issueId: null, type: 'Reprints', status, issueDay, gross } as const
    return [createBill(random, customer, { ...order, description: 'Reprints from the archive' })]
  }
  const issueId = `${title.code}-${dateOf(issueDay).slice(0, 4)}-${random.between(1, title.issuesYearly)}`
  const order = { publicationId: title.record.id, issueId, type: 'Single copies' } as const
  const description = `${title.name}, ${copies} × issue ${issueId}`
  return [createBill(random, customer, { ...order, description, status, issueDay, gross })]
}

const createBill = (random: SeededRandom, customer: Customer, order: Order): Bill => {
  const discount = Math.round((order.gross * customer.kind.discountPercent) / 100)
  const net = order.gross - discount
  const tax = Math.round((net * customer.region.taxBasisPoints) / 10_000)
  const total = net + tax
  return { ...order, discount, net, tax, total, applied: appliedOf(random, order.status, total) }
}

const appliedOf = (random: SeededRandom, status: InvoiceStatus, total: number): number => {
  // A void invoice is settled by a credit note over all of it, so that nothing stays due.
  if (status === 'paid' || status === 'void') return total
  if (status === 'draft' || !random.chance(15)) return 0
  return Math.floor((total * random.between(20, 60)) / 100)
}

export const invoiceRecord = ({ random, yesterday }: Publisher, customer: Customer, bill: Bill): DemoInvoice => {
  const { status, issueDay } = bill
  const isDraft = status === 'draft'
  const created = instantOn(random, Math.min(issueDay, yesterday))
  const paidDay = Math.min(issueDay + random.between(1, customer.netDays + 20), yesterday)
  const updated =
    status === 'paid' ? Math.max(created, instantOn(random, paidDay)) : instantAfter(random, created, yesterday)
  const due = bill.total - bill.applied
  return {
    id: random.uuidV7(created),
    accountId: customer.accountId,
    publicationId: bill.publicationId,
    issueId: bill.issueId,
    status,
    issueDate: isDraft ? null : dateOf(issueDay),
    dueDate: isDraft ? null : dateOf(issueDay + customer.netDays),
    terms: customer.netDays === 0 ? 'Due on receipt' : `Net ${customer.netDays}`,
    total: money(bill.total),
    totalDue: money(due),
    balanceCents: due,
    gross: money(bill.gross),
    net: money(bill.net),
    invoiceType: bill.type,
    invoiceDescription: bill.description,
    invCharges: money(bill.gross),
    invInvoiced: money(isDraft ? 0 : bill.total),
    invApplied: money(bill.applied),
    invDiscount: money(bill.discount),
    invTax: money(bill.tax),
    datePaid: status === 'paid' ? dateOf(paidDay) : null,
    isOpen: status === 'open' || status === 'past_due' ? 1 : 0,
    notes: notesByStatus[status],
    createdAt: timestampOf(created),
    updatedAt: timestampOf(updated),
  }
}

const notesByStatus: Record<InvoiceStatus, string | null> = {
  draft: null,
  open: null,
  past_due: 'Reminder sent.',
  paid: null,
  void: 'Credited in full.',
  uncollectible: 'Written off after the third reminder.',
}
