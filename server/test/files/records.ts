import type { ResourceName } from '@masthead/contract'

/**
 * What went into the programs that made the files of this folder, in the form of an export: the only source of
 * both the files and what an import of them must give.
 */
export type Value = string | number | boolean | null
export type SourceRecord = Readonly<Record<string, Value>>

export type CorpusResource = Exclude<ResourceName, 'tasks'>

export const publications: readonly SourceRecord[] = [
  {
    id: '019a0000-0000-7000-8000-000000000001',
    code: 'BAU',
    name: 'Bauen & Wohnen',
    isActive: true,
    frequency: 'monthly',
  },
  {
    id: '019a0000-0000-7000-8000-000000000002',
    code: 'JAR',
    name: 'Jardins d’été',
    isActive: true,
    frequency: 'weekly',
  },
  {
    id: '019a0000-0000-7000-8000-000000000003',
    code: '007',
    name: 'El Español; hoy',
    isActive: false,
    frequency: null,
  },
]

const publicationIds = publications.map(({ id = null }) => id)

type Address = readonly [
  address: string | null,
  zip: string | null,
  city: string | null,
  state: string | null,
  country: string,
]

const account = (
  accountId: string,
  company: string | null,
  [address, zip, city, state, country]: Address,
  more: SourceRecord,
): SourceRecord => ({
  accountId,
  company,
  address,
  zip,
  city,
  state,
  country,
  webAddress: null,
  status: 'active',
  billingEmail: null,
  invoiceEmailEnabled: true,
  invoicePrintEnabled: false,
  doNotEmail: null,
  createdAt: '2024-06-01T00:00:42.000Z',
  ...more,
})

/** Numbers with leading zeros, texts that look like formulas, and everything that a separator or a quote can break. */
export const accounts: readonly SourceRecord[] = [
  account('00417', 'Müller & Söhne GmbH', ['Große Straße 12', '01067', 'Dresden', 'Sachsen', 'DE'], {
    webAddress: 'https://mueller.example/?a=1&b=2',
    billingEmail: 'rechnung@mueller.example',
  }),
  account('00418', 'Verlag "Der Turm"', ['Am Markt 3, Hof; 2. OG', '20095', 'Hamburg', null, 'DE'], {
    billingEmail: 'buchhaltung@turm.example',
    invoicePrintEnabled: true,
    doNotEmail: false,
    createdAt: '2019-12-31T23:59:59.000Z',
  }),
  account(
    '00419',
    'Éditions de la Forêt',
    ['12 bis, rue de l’Église', '06000', 'Nice', 'Provence-Alpes-Côte d’Azur', 'FR'],
    {
      status: 'on_hold',
      doNotEmail: true,
      createdAt: '2020-02-29T12:00:00.000Z',
    },
  ),
  account('00420', 'Año Nuevo, S.A.', ['Calle Mayor nº 5', '08001', 'Barcelona', 'Cataluña', 'ES'], {
    billingEmail: 'facturación@año.example',
    invoiceEmailEnabled: null,
    invoicePrintEnabled: null,
  }),
  account('00421', '=SUM(A1:A9)', ['+49 Straße', '10115', 'Berlin', '-', 'DE'], { status: 'prospect' }),
  account('00422', '@Home Media', ['- ohne Straße -', '00100', 'Roma', null, 'IT'], { status: 'inactive' }),
  account('00423', "'t Hooft Uitgevers", [null, '5211 AB', "'s-Hertogenbosch", null, 'NL'], { billingEmail: null }),
  account('00424', 'Zwei\nZeilen KG', ['Postfach 10 01', '99084', 'Erfurt', 'Thüringen', 'DE'], {}),
  account('00425', null, [null, null, null, null, 'AT'], { status: null, invoiceEmailEnabled: false }),
  account('1E5', 'O’Brien – “Books” & Co.', ['1 Main St', '02134', 'Boston', 'MA', 'US'], {
    webAddress: 'https://obrien.example',
    createdAt: '2026-03-29T01:30:00.000Z',
  }),
  account('A-0001', 'Back\\slash\\News', ['C:\\temp\\neu', '30159', 'Hannover', null, 'DE'], {}),
  account('A-0002', 'Wydawnictwo Łódź 東京 😀', ['ul. Żółta 1', '90-001', 'Łódź', null, 'PL'], {}),
]

const accountId = (index: number): string => String(accounts[index % accounts.length]?.accountId)

const contact = (
  index: number,
  firstName: string | null,
  lastName: string | null,
  more: SourceRecord,
): SourceRecord => ({
  externalId: `K-${String(index).padStart(5, '0')}`,
  accountId: accountId(index),
  firstName,
  lastName,
  title: null,
  email: `leser${index}@post.example`,
  phone: `+49 351 ${1_000 + index}`,
  phone2: null,
  extension: null,
  hideContact: false,
  subsOnly: false,
  doNotEmail: index % 3 === 0,
  notes: null,
  createdAt: `2025-0${1 + (index % 9)}-1${index % 10}T0${index % 10}:15:0${index % 10}.000Z`,
  ...more,
})

const longText = 'Diese Leserin bestellt seit 1984 und möchte, dass alles so bleibt; „bitte nichts ändern“. '
  .repeat(22)
  .trimEnd()

export const contacts: readonly SourceRecord[] = [
  contact(0, 'Jürgen', 'Groß', { title: 'Dr.', phone: '0351/4567-0', extension: '007', phone2: '+1 (617) 555-0100' }),
  contact(1, 'Ada', 'Weiß', { email: null, notes: 'Zahlt, aber spät; siehe "Mahnung"' }),
  contact(2, 'François', "d'Étretat", { notes: 'Première ligne\nDeuxième ligne\n\nQuatrième' }),
  contact(3, 'María José', 'Núñez Ibáñez', { title: 'Dª', notes: '=1+1' }),
  contact(4, null, '@lles', { notes: '-' }),
  contact(5, '+', 'Plus', { hideContact: true, notes: '--' }),
  contact(6, 'Null', 'Null', { phone: null, extension: '0' }),
  contact(7, 'N', 'NA', { subsOnly: true, email: 'NULL@post.example' }),
  contact(8, 'Ulla', 'Lange', { notes: longText }),
  contact(9, "'t", 'Hooft', { hideContact: null, subsOnly: null, doNotEmail: null }),
  contact(10, 'Tab\tulator', 'Komma, Semikolon; Strich |', { notes: 'C:\\neu\\temp\\N und \\N' }),
  contact(11, 'Łucja', 'Żółć', { notes: '日本語のメモ 😀' }),
  contact(12, 'True', 'No', { extension: '1.5', phone: '1/2' }),
  contact(13, '1', '01.02.2026', { title: '1.234,56', phone: '00491701234567890', phone2: '' }),
  ...['Paul', 'Grete', 'Anaïs', 'Íñigo', 'Zoë', 'Søren'].map((name, index) => contact(14 + index, name, 'Öztürk', {})),
]

const day = (from: string, days: number): string =>
  new Date(Date.parse(`${from}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

const subscriptionStatuses = ['pending', 'active', 'grace', 'suspended', 'expired', 'cancelled'] as const

/** Days up to the twelfth and after it, amounts below zero and above a million. */
export const subscriptions: readonly SourceRecord[] = Array.from({ length: 16 }, (_, index) => {
  const startDate = day('2025-01-03', index * 17)
  const charge = [0, 9.9, 1_290, 12_345.67, -45.5, 1_234_567.89][index % 6] ?? 0
  const due = index % 4 === 0 ? 0 : charge
  return {
    subscriptionId: `0000${700 + index}`,
    accountId: accountId(index * 5),
    publicationId: publicationIds[index % publicationIds.length] ?? null,
    status: subscriptionStatuses[index % subscriptionStatuses.length] ?? null,
    startDate,
    endDate: index === 5 ? null : day(startDate, 364),
    renewalDate: index % 5 === 0 ? null : day(startDate, 350),
    subscriptionNumber: `${String(index).padStart(4, '0')}-${900 + index}`,
    copies: index === 3 ? null : String([1, 2, 25, 1_200][index % 4]),
    autoInvoice: [true, false, null][index % 3] ?? null,
    notes: index === 2 ? 'Lieferung: "Hinterhof", 2. Tür;\nbitte klingeln' : null,
    totalNetCharge: charge.toFixed(2),
    totalApplied: (charge - due).toFixed(2),
    totalDue: index === 7 ? null : due.toFixed(2),
    createdAt: `2025-0${1 + (index % 9)}-0${1 + (index % 9)}T10:20:30.000Z`,
  }
})

const invoiceStatuses = ['draft', 'open', 'past_due', 'paid', 'void', 'uncollectible'] as const

const invoice = (index: number, issueDate: string): SourceRecord => {
  const total = [100, 1_234.56, 0.05, 98_765.4, -250, 1_000_000, 12][index % 7] ?? 0
  const isPaid = index % 6 === 3
  const dueDate = index % 8 === 6 ? null : day(issueDate, 14)
  return {
    externalId: `RE-2026-${String(index + 1).padStart(4, '0')}`,
    accountId: accountId(index * 7),
    publicationId: index % 4 === 0 ? null : (publicationIds[index % publicationIds.length] ?? null),
    status: invoiceStatuses[index % invoiceStatuses.length] ?? null,
    issueDate,
    dueDate,
    datePaid: isPaid ? day(issueDate, 9) : null,
    terms: index % 2 === 0 ? '14 Tage, 2 % Skonto' : null,
    total: total.toFixed(2),
    totalDue: (isPaid ? 0 : total).toFixed(2),
    invTax: index % 5 === 4 ? null : (total * 0.07).toFixed(2),
    invoiceDescription: index === 1 ? 'Anzeige "Frühling", ½ Seite; Größe 210 × 148 mm' : `Rechnung Nr. ${index + 1}`,
    notes: null,
  }
}

export const invoices: readonly SourceRecord[] = Array.from({ length: 24 }, (_, index) =>
  invoice(index, day('2026-01-02', index * 13)),
)

/** No day is after the twelfth, so their values alone do not say which number is the month. */
export const ambiguousInvoices: readonly SourceRecord[] = Array.from({ length: 10 }, (_, index) => ({
  ...invoice(30 + index, `2026-0${1 + (index % 9)}-0${2 + (index % 8)}`),
  dueDate: `2026-1${index % 3}-0${1 + (index % 9)}`,
  datePaid: null,
}))

/** What must be there before a file is imported that refers to it. */
export const referred: Readonly<Record<CorpusResource, readonly ('publications' | 'accounts')[]>> = {
  publications: [],
  accounts: [],
  contacts: ['accounts'],
  subscriptions: ['publications', 'accounts'],
  invoices: ['publications', 'accounts'],
}

export const records = { publications, accounts, contacts, subscriptions, invoices, ambiguousInvoices }
