import * as field from '../fields.ts'
import { asking, cursor, days, defineResource, equal, filter, flag, pageOf, paging } from '../operation.ts'
import { Type } from '../schema.ts'

const Invoice = Type.Object(
  {
    id: field.withDefault('newId', field.identifier('Identifier of the invoice.')),
    accountId: field.reference('accounts', field.text('Business identifier of the account that is billed.')),
    publicationId: field.reference(
      'publications',
      field.nullableIdentifier('The publication (`id`), when the invoice is for one.'),
    ),
    issueId: field.nullableText('The issue, when the invoice is for one.'),
    status: field.status('draft', 'open', 'past_due', 'paid', 'void', 'uncollectible'),
    issueDate: field.nullableDate('Day of the invoice.'),
    dueDate: field.nullableDate('Day on which it is due.'),
    terms: field.nullableText('Terms of payment.'),
    total: field.nullableMoney('Total, tax included.'),
    totalDue: field.nullableMoney('Amount still due.'),
    balanceCents: field.centsOf('totalDue', field.number('Amount still due, in cents; 0 when unknown.')),
    gross: field.nullableMoney('Before discount and tax.'),
    net: field.nullableMoney('After discount, before tax.'),
    invoiceType: field.nullableText('Kind of invoice.'),
    invoiceDescription: field.nullableText('What it is for.', 'notes'),
    invCharges: field.nullableMoney('Charges.'),
    invInvoiced: field.nullableMoney('Amount invoiced.'),
    invApplied: field.nullableMoney('Payments applied.'),
    invDiscount: field.nullableMoney('Discount.'),
    invTax: field.nullableMoney('Tax.'),
    datePaid: field.nullableDate('Day on which it was paid.'),
    isOpen: field.keyed('whole', field.nullableNumber('1 while money is expected, 0 when not, null when unknown.')),
    notes: field.nullableText('Free text.', 'notes'),
    createdAt: field.withDefault('now', field.timestamp('When the invoice was created.')),
    updatedAt: field.withDefault('now', field.timestamp('When the invoice last changed.')),
  },
  { ...field.closed, title: 'Invoice' },
)

const sorts = [
  ...(['issueDate', 'dueDate', 'datePaid', 'total', 'totalDue', 'gross', 'net', 'invCharges', 'invInvoiced'] as const),
  ...(['invApplied', 'invDiscount', 'invTax', 'createdAt', 'updatedAt'] as const),
] as const

export const invoices = defineResource({
  name: 'invoices',
  singular: 'invoice',
  description: 'What an account owes and has paid.',
  record: Invoice,
  storedOnly: { externalId: field.nullableText('Identifier of the invoice in another system.') },
  importKey: 'externalId',
  openness: { field: 'isOpen', status: 'status', open: ['open', 'past_due'] },
  listing: {
    filters: ['publicationId', 'status'],
    leftOutUnless: {},
    search: [],
    sorts,
    sortsWithin: { status: ['issueDate', 'dueDate'], isOpen: ['issueDate', 'dueDate'] },
    overdue: { parameter: 'overdue', open: 'isOpen', day: 'dueDate' },
  },
  operations: {
    GetInvoices: {
      method: 'GET',
      path: '/invoices',
      scope: 'invoices:read',
      summary: 'List invoices',
      query: Type.Object({
        ...paging,
        accountId: field.reference('accounts', filter('Only invoices of this account (business identifier or `id`).')),
        publicationId: field.reference('publications', filter('Only invoices for this publication (`id` or code).')),
        status: filter('Only invoices with this status; case does not matter.'),
        ...days('dueDate', 'invoices that are due'),
        ...days('issueDate', 'invoices issued'),
        externalId: equal('externalId', 'Only the invoice with this identifier in another system.'),
        isOpen: field.compares(
          'isOpen',
          '=',
          flag('Only invoices for which money is expected (true), or is not (false).'),
        ),
        overdue: flag(
          'Only invoices for which money is expected and that were due before today in the time zone of the tenant (true), or all others (false).',
        ),
        ...asking(sorts),
        cursor,
      }),
      status: 200,
      response: pageOf(Invoice, 'InvoicePage'),
    },
    GetInvoiceById: {
      method: 'GET',
      path: '/invoices/{invoiceId}',
      scope: 'invoices:read',
      summary: 'Get an invoice',
      status: 200,
      response: Invoice,
    },
  },
})
