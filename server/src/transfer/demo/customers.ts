import { dayOfInstant, instantAfter, instantOn, timestampOf } from './calendar.ts'
import type { Term } from './plan.ts'
import type { Publisher } from './publisher.ts'
import type { AccountStatus, DemoAccount, DemoContact } from './record.ts'
import { type SeededRandom, weighted } from './seeded-random.ts'
import { contactNotes, customerKinds, mailboxes, regions, suites } from './vocabulary.ts'

/** What is decided about a customer before its records are written. */
export type Customer = ReturnType<typeof createCustomer>

export const createCustomer = (
  { random, yesterday }: Publisher,
  number: number,
  status: AccountStatus,
  terms: Term[],
) => {
  const region = random.pick(regions)
  const kind = random.pick(customerKinds)
  const place = random.pick(region.places)
  const name = random.pick(region.lastNames)
  const street = random.pick(region.streets)
  const template = region.organisations[customerKinds.indexOf(kind)] ?? '{name}'
  const company = template.replace('{city}', place.city.text).replace('{name}', name.text).replace('{street}', street)
  const stem = template.includes('{name}') ? name.latin : place.city.latin
  const knownDay = Math.min(yesterday, ...terms.map((term) => dayOfInstant(term.created)))
  return {
    number,
    accountId: `C-${number}`,
    status,
    region,
    kind,
    place,
    // A street tells branches in the same town apart.
    company: template.includes('{city}') && random.chance(60) ? `${company}, ${street}` : company,
    street,
    domain: `${stem}-${kind.slug}.example.${random.pick(['com', 'org', 'net'])}`,
    netDays: random.weighted(netDays),
    created: instantOn(random, knownDay - random.between(1, 400)),
  }
}

const netDays = weighted([30, 14, 60, 0, 45], [50, 25, 10, 8, 7])

export const accountRecord = ({ random, yesterday }: Publisher, customer: Customer): DemoAccount => {
  const { region, place, created, domain } = customer
  const houseNumber = String(random.between(1, 180))
  const prefersPrint = random.chance(25)
  return {
    id: random.uuidV7(created),
    accountId: customer.accountId,
    company: customer.company,
    address: region.addressFormat.replace('{street}', customer.street).replace('{number}', houseNumber),
    suite: random.maybe(18, suites),
    city: place.city.text,
    state: place.state,
    zip: random.chance(97) ? random.digits(place.zip) : null,
    country: random.chance(96) ? region.country : null,
    webAddress: random.chance(20) ? null : `${random.chance(80) ? 'https://' : ''}www.${domain}`,
    status: customer.status,
    billingEmail: random.chance(88) ? `${random.pick(['billing', 'accounts', 'office'])}@${domain}` : null,
    invoiceEmailEnabled: !prefersPrint,
    invoicePrintEnabled: prefersPrint || random.chance(5),
    doNotEmail: random.flag(6),
    createdAt: timestampOf(created),
    updatedAt: timestampOf(instantAfter(random, created, yesterday)),
  }
}

export function* contactRecords(publisher: Publisher, customer: Customer): Generator<DemoContact> {
  for (let left = publisher.random.weighted(contactCounts); left > 0; left--) yield contactRecord(publisher, customer)
}

const contactCounts = weighted([1, 2, 3, 4, 5, 6], [30, 25, 20, 12, 8, 5])

const contactRecord = ({ random, yesterday }: Publisher, customer: Customer): DemoContact => {
  const { region, domain } = customer
  const first = random.pick(region.firstNames)
  const last = random.pick(region.lastNames)
  const mailbox = random.maybe(5, mailboxes)
  const fullName = region.familyNameFirst ? `${last.text} ${first.text}` : `${first.text} ${last.text}`
  const email = `${mailbox === null ? `${first.latin}.${last.latin}` : 'office'}@${domain}`
  const created = instantAfter(random, customer.created, yesterday)
  const updated = instantAfter(random, created, yesterday)
  return {
    id: random.uuidV7(created),
    accountId: customer.accountId,
    // Owners are users of the tenant, whom this data does not know.
    ownerId: null,
    name: mailbox ?? fullName,
    firstName: mailbox === null ? first.text : null,
    lastName: mailbox === null ? last.text : null,
    phone: random.chance(82) ? phone(random, region.dialling) : null,
    phone2: random.chance(22) ? phone(random, region.dialling) : null,
    extension: random.chance(15) ? String(random.between(10, 899)) : null,
    hideContact: random.flag(5),
    subsOnly: random.flag(8),
    doNotEmail: random.flag(10),
    email: random.chance(12) ? null : random.chance(4) ? email.toUpperCase() : email,
    title: random.maybe(80, customer.kind.titles),
    notes: random.maybe(10, contactNotes),
    deletedAt: random.chance(4) ? timestampOf(updated) : null,
    createdAt: timestampOf(created),
    updatedAt: timestampOf(updated),
  }
}

/** Numbers look as if many people typed them over many years; 555-01 is reserved for fiction. */
const phone = (random: SeededRandom, dialling: string): string =>
  random.digits(random.pick(phonePatterns)).replace('+', dialling)

const phonePatterns = [
  '+ ## 555 01##',
  '+##55501##',
  '0##/555 01 ##',
  '(0##) 555-01##',
  '0##.555.01## x#',
  ' 0## 55501##',
  '+ (0)## 555-01## a.m. only',
]
