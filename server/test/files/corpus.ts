import { fieldOf } from '@masthead/contract'
import { type CorpusResource, publications, records, type SourceRecord, type Value } from './records.ts'

/**
 * The files of this folder, made by other people's programs (make-files.ts, which notes their versions and commands in
 * made.json). `expectedOf` says what an import of each must give: the values that went into that program.
 */
export type CorpusFile = {
  name: string
  program: Program
  resource: CorpusResource
  /** Which records of records.ts it holds, where these are not those of the resource. */
  records?: 'ambiguousInvoices'
  /** Heading → field, in the order of the file; null for a column that nobody knows. */
  columns: Readonly<Record<string, string | null>>
  /** Without it the import refuses the file or rows of it, and names this option. */
  option?: readonly [name: string, value?: string]
  /** Only what this encoding has went into it. */
  encoding?: 'windows-1252' | 'latin-1'
  /** Instants were written as this zone's clocks show them. */
  clock?: string
  /** The program writes an empty text as it writes null. */
  emptyIsNull?: true
  /** How the program that made it was told to write. */
  how?: Readonly<Record<string, string>>
}

export type Program = 'libreoffice' | 'psql' | 'mariadb' | 'pandas' | 'openpyxl'

export type Locale = 'de-DE' | 'fr-FR' | 'en-US' | 'es-ES'

const german = {
  accounts: {
    Kundennr: 'accountId',
    Firma: 'company',
    Straße: 'address',
    PLZ: 'zip',
    Ort: 'city',
    Bundesland: 'state',
    Land: 'country',
    Webseite: 'webAddress',
    Status: 'status',
    'Rechnungs-E-Mail': 'billingEmail',
    'Rechnung per E-Mail': 'invoiceEmailEnabled',
    'Rechnung per Post': 'invoicePrintEnabled',
  },
  contacts: {
    'Externe Nr.': 'externalId',
    'Kunden-Nr.': 'accountId',
    Vorname: 'firstName',
    Nachname: 'lastName',
    Anrede: 'title',
    'E-Mail': 'email',
    Telefon: 'phone',
    'Telefon 2': 'phone2',
    Durchwahl: 'extension',
    Ausgeblendet: 'hideContact',
    'Keine E-Mails': 'doNotEmail',
    Bemerkungen: 'notes',
  },
  subscriptions: {
    'Abo-Nr.': 'subscriptionId',
    Kundennummer: 'accountId',
    Publikation: 'publicationId',
    Status: 'status',
    Beginn: 'startDate',
    Ende: 'endDate',
    Verlängerung: 'renewalDate',
    Exemplare: 'copies',
    'Automatische Rechnung': 'autoInvoice',
    Notizen: 'notes',
    Nettobetrag: 'totalNetCharge',
    Bezahlt: 'totalApplied',
    'Offener Betrag': 'totalDue',
  },
  invoices: {
    Rechnungsnummer: 'externalId',
    Kundennummer: 'accountId',
    Zeitschrift: 'publicationId',
    Status: 'status',
    Rechnungsdatum: 'issueDate',
    'Fällig am': 'dueDate',
    'Bezahlt am': 'datePaid',
    Zahlungsbedingungen: 'terms',
    Gesamtbetrag: 'total',
    'Offener Betrag': 'totalDue',
    MwSt: 'invTax',
    Beschreibung: 'invoiceDescription',
  },
} as const

const french = {
  contacts: {
    'Réf. externe': 'externalId',
    'N° client': 'accountId',
    Prénom: 'firstName',
    Nom: 'lastName',
    Civilité: 'title',
    Courriel: 'email',
    Téléphone: 'phone',
    'Téléphone 2': 'phone2',
    Masqué: 'hideContact',
    'Ne pas envoyer d’e-mail': 'doNotEmail',
    Remarques: 'notes',
  },
  invoices: {
    'N° de facture': 'externalId',
    'Numéro client': 'accountId',
    Publication: 'publicationId',
    Statut: 'status',
    'Date de facture': 'issueDate',
    Échéance: 'dueDate',
    'Date de paiement': 'datePaid',
    'Conditions de paiement': 'terms',
    'Total TTC': 'total',
    'Solde dû': 'totalDue',
    TVA: 'invTax',
    Description: 'invoiceDescription',
  },
} as const

const spanish = {
  accounts: {
    'Nº de cliente': 'accountId',
    Empresa: 'company',
    Dirección: 'address',
    'Código postal': 'zip',
    Ciudad: 'city',
    Provincia: 'state',
    País: 'country',
    'Página web': 'webAddress',
    Estado: 'status',
    'Correo de facturación': 'billingEmail',
    'Factura por correo electrónico': 'invoiceEmailEnabled',
  },
  subscriptions: {
    'Nº de suscripción': 'subscriptionId',
    Cliente: 'accountId',
    Publicación: 'publicationId',
    Estado: 'status',
    'Fecha de inicio': 'startDate',
    'Fecha de fin': 'endDate',
    Ejemplares: 'copies',
    'Factura automática': 'autoInvoice',
    Notas: 'notes',
    'Importe neto': 'totalNetCharge',
    'Importe pendiente': 'totalDue',
  },
} as const

const english = {
  accounts: {
    'Customer No.': 'accountId',
    'Company Name': 'company',
    'Street Address': 'address',
    'ZIP Code': 'zip',
    City: 'city',
    'State/Province': 'state',
    Country: 'country',
    Website: 'webAddress',
    Status: 'status',
    'Billing E-mail': 'billingEmail',
  },
  contacts: {
    'External ID': 'externalId',
    'Account ID': 'accountId',
    'First Name': 'firstName',
    'Last Name': 'lastName',
    'Job Title': 'title',
    'Email Address': 'email',
    'Phone Number': 'phone',
    'Phone 2': 'phone2',
    Ext: 'extension',
    Hidden: 'hideContact',
    'Do Not Email': 'doNotEmail',
    Notes: 'notes',
  },
  invoices: {
    'Invoice Number': 'externalId',
    'Customer Number': 'accountId',
    Publication: 'publicationId',
    Status: 'status',
    'Invoice Date': 'issueDate',
    'Due Date': 'dueDate',
    'Date Paid': 'datePaid',
    Terms: 'terms',
    Total: 'total',
    'Amount Due': 'totalDue',
    Tax: 'invTax',
    Description: 'invoiceDescription',
  },
} as const

/** As the columns of a database are called. */
const snake = (...fields: string[]): Record<string, string> =>
  Object.fromEntries(fields.map((field) => [field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), field]))

const tables = {
  accounts: {
    customer_no: 'accountId',
    ...snake('company', 'address', 'zip', 'city', 'state', 'country', 'webAddress', 'status', 'billingEmail'),
    ...snake('invoiceEmailEnabled', 'invoicePrintEnabled', 'doNotEmail', 'createdAt'),
  },
  contacts: snake(
    'externalId',
    'accountId',
    'firstName',
    'lastName',
    'title',
    'email',
    'phone',
    'phone2',
    'extension',
    'hideContact',
    'subsOnly',
    'doNotEmail',
    'notes',
    'createdAt',
  ),
  subscriptions: snake(
    'subscriptionId',
    'accountId',
    'publicationId',
    'status',
    'startDate',
    'endDate',
    'renewalDate',
    'copies',
    'autoInvoice',
    'notes',
    'totalNetCharge',
    'totalApplied',
    'totalDue',
    'createdAt',
  ),
  invoices: snake(
    'externalId',
    'accountId',
    'publicationId',
    'status',
    'issueDate',
    'dueDate',
    'datePaid',
    'terms',
    'total',
    'totalDue',
    'invTax',
    'invoiceDescription',
  ),
} as const

const without = <T extends Record<string, string>>(columns: T, ...fields: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(columns).filter(([, field]) => !fields.includes(field)))

const sheet = { program: 'libreoffice', emptyIsNull: true } as const

export const corpus: readonly CorpusFile[] = [
  {
    ...sheet,
    name: 'accounts-libreoffice-de.csv',
    resource: 'accounts',
    columns: german.accounts,
    encoding: 'windows-1252',
    how: { locale: 'de-DE', separator: ';' },
  },
  {
    ...sheet,
    name: 'contacts-libreoffice-de.csv',
    resource: 'contacts',
    columns: { ...german.contacts, Faxnummer: null, Kundenbetreuer: null },
    option: ['--ignore-unknown'],
    encoding: 'windows-1252',
    how: { locale: 'de-DE', separator: ';' },
  },
  {
    ...sheet,
    name: 'subscriptions-libreoffice-de.csv',
    resource: 'subscriptions',
    columns: german.subscriptions,
    encoding: 'latin-1',
    how: { locale: 'de-DE', separator: ';' },
  },
  {
    ...sheet,
    name: 'invoices-libreoffice-de.csv',
    resource: 'invoices',
    columns: german.invoices,
    encoding: 'windows-1252',
    how: { locale: 'de-DE', separator: ';', currency: '€' },
  },
  {
    ...sheet,
    name: 'invoices-libreoffice-de-sep.csv',
    resource: 'invoices',
    columns: german.invoices,
    encoding: 'windows-1252',
    how: { locale: 'de-DE', separator: ';', firstLine: 'sep=;' },
  },
  {
    ...sheet,
    name: 'contacts-libreoffice-fr.csv',
    resource: 'contacts',
    columns: french.contacts,
    encoding: 'windows-1252',
    how: { locale: 'fr-FR', separator: ';' },
  },
  {
    ...sheet,
    name: 'invoices-libreoffice-fr.csv',
    resource: 'invoices',
    columns: french.invoices,
    how: { locale: 'fr-FR', separator: ';', currency: '€' },
  },
  {
    ...sheet,
    name: 'invoices-libreoffice-fr-first-days.csv',
    resource: 'invoices',
    records: 'ambiguousInvoices',
    columns: french.invoices,
    option: ['--dates', 'dmy'],
    how: { locale: 'fr-FR', separator: ';' },
  },
  {
    ...sheet,
    name: 'contacts-libreoffice-en-us.csv',
    resource: 'contacts',
    columns: english.contacts,
    how: { locale: 'en-US', separator: ',' },
  },
  {
    ...sheet,
    name: 'invoices-libreoffice-en-us.csv',
    resource: 'invoices',
    columns: english.invoices,
    how: { locale: 'en-US', separator: ',', currency: '$' },
  },
  {
    ...sheet,
    name: 'subscriptions-libreoffice-es.csv',
    resource: 'subscriptions',
    columns: spanish.subscriptions,
    encoding: 'windows-1252',
    how: { locale: 'es-ES', separator: ';' },
  },
  {
    ...sheet,
    name: 'contacts-libreoffice-utf16.txt',
    resource: 'contacts',
    columns: german.contacts,
    how: { locale: 'de-DE', separator: '\t', iconv: 'UTF-16LE' },
  },
  {
    ...sheet,
    name: 'invoices-libreoffice-utf16be.csv',
    resource: 'invoices',
    columns: english.invoices,
    how: { locale: 'en-US', separator: ',', iconv: 'UTF-16BE' },
  },
  {
    ...sheet,
    name: 'accounts-libreoffice-es.xlsx',
    resource: 'accounts',
    columns: spanish.accounts,
    how: { locale: 'es-ES' },
  },
  {
    ...sheet,
    name: 'invoices-libreoffice-de.xlsx',
    resource: 'invoices',
    columns: german.invoices,
    how: { locale: 'de-DE', currency: '€' },
  },
  {
    ...sheet,
    name: 'subscriptions-libreoffice-de.xlsx',
    resource: 'subscriptions',
    columns: { ...german.subscriptions, 'Angelegt am': 'createdAt' },
    option: ['--time-zone', 'Europe/Berlin'],
    clock: 'Europe/Berlin',
    how: { locale: 'de-DE' },
  },
  { name: 'accounts-psql.csv', program: 'psql', resource: 'accounts', columns: tables.accounts },
  {
    name: 'contacts-psql.tsv',
    program: 'psql',
    resource: 'contacts',
    columns: tables.contacts,
    how: { format: 'text' },
  },
  {
    name: 'subscriptions-psql.csv',
    program: 'psql',
    resource: 'subscriptions',
    columns: tables.subscriptions,
    how: { timeZone: 'Europe/Berlin' },
  },
  {
    name: 'invoices-psql.csv',
    program: 'psql',
    resource: 'invoices',
    columns: tables.invoices,
    how: { separator: ';' },
  },
  {
    name: 'accounts-mariadb.tsv',
    program: 'mariadb',
    resource: 'accounts',
    columns: tables.accounts,
    option: ['--time-zone', 'UTC'],
    clock: 'UTC',
  },
  {
    name: 'contacts-mariadb-dump.txt',
    program: 'mariadb',
    resource: 'contacts',
    columns: without(tables.contacts, 'createdAt'),
    how: { dump: '--tab' },
  },
  {
    name: 'invoices-mariadb.csv',
    program: 'mariadb',
    resource: 'invoices',
    columns: without(tables.invoices, 'invoiceDescription'),
    how: { separator: ',' },
  },
  {
    name: 'contacts-pandas.csv',
    program: 'pandas',
    resource: 'contacts',
    columns: tables.contacts,
    emptyIsNull: true,
  },
  {
    name: 'subscriptions-pandas.csv',
    program: 'pandas',
    resource: 'subscriptions',
    columns: tables.subscriptions,
    emptyIsNull: true,
  },
  {
    name: 'invoices-pandas.json',
    program: 'pandas',
    resource: 'invoices',
    columns: tables.invoices,
    how: { dates: 'iso' },
  },
  {
    name: 'accounts-pandas-nested.ndjson',
    program: 'pandas',
    resource: 'accounts',
    columns: {
      customerNumber: 'accountId',
      company: 'company',
      'address.street': 'address',
      'address.zip': 'zip',
      'address.city': 'city',
      'address.country': 'country',
      status: 'status',
    },
  },
  {
    name: 'subscriptions-pandas-epoch.ndjson',
    program: 'pandas',
    resource: 'subscriptions',
    columns: without(tables.subscriptions, 'startDate', 'endDate', 'renewalDate'),
  },
  {
    name: 'contacts-openpyxl.xlsx',
    program: 'openpyxl',
    resource: 'contacts',
    columns: english.contacts,
    emptyIsNull: true,
  },
  {
    name: 'invoices-openpyxl-second-sheet.xlsx',
    program: 'openpyxl',
    resource: 'invoices',
    columns: german.invoices,
    option: ['--sheet', 'Rechnungen'],
    emptyIsNull: true,
    how: { sheet: 'Rechnungen' },
  },
]

/** A zip of these files, each under the name of its resource. */
export const archive = {
  name: 'publisher.zip',
  holds: { 'accounts.csv': 'accounts-libreoffice-de.csv', 'invoices.xlsx': 'invoices-libreoffice-de.xlsx' },
} as const

export const recordsOf = (file: CorpusFile): readonly SourceRecord[] =>
  records[file.records ?? file.resource].filter((record) => isIn(file.encoding, record) && !losesTab(file, record))

/** LibreOffice drops tabs in cells when it opens the spreadsheet. */
const losesTab = ({ program }: CorpusFile, record: SourceRecord): boolean =>
  program === 'libreoffice' && Object.values(record).join('').includes('\t')

/** What Windows-1252 has between 0x80 and 0x9f, where Latin-1 has nothing that is printed. */
const more1252 = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ'

const isIn = (encoding: CorpusFile['encoding'], record: SourceRecord): boolean =>
  encoding === undefined ||
  [...Object.values(record).join('')].every(
    (character) => character <= 'ÿ' || (encoding === 'windows-1252' && more1252.includes(character)),
  )

/** What an import of the file must give, record by record. */
export const expectedOf = (file: CorpusFile): SourceRecord[] =>
  recordsOf(file).map((record) =>
    Object.fromEntries(
      Object.values(file.columns).flatMap((field) =>
        field === null ? [] : [[field, expectedValue(file, record, field)]],
      ),
    ),
  )

const expectedValue = (file: CorpusFile, record: SourceRecord, field: string): Value => {
  const value = record[field] ?? null
  return value === '' && file.emptyIsNull ? null : value
}

/** What the program is given: publications by their code, as people know them. */
export const givenTo = (file: CorpusFile, record: SourceRecord, heading: string): Value => {
  const field = file.columns[heading]
  if (field == null) return `${heading} 1`
  const value = record[field] ?? null
  if (field !== 'publicationId' || value === null) return value
  return publications.find(({ id }) => id === value)?.code ?? null
}

export const kindOf = ({ resource, columns }: CorpusFile, heading: string) => {
  const field = columns[heading]
  if (field == null || field === 'publicationId') return 'text'
  return fieldOf(resource, field).kind
}
