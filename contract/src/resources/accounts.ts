import * as field from '../fields.ts'
import { longest } from '../fields.ts'
import { cursor, defineResource, filter, pageOf, paging, search } from '../operation.ts'
import { Route } from '../route.ts'
import { Type } from '../schema.ts'
import { describeStatus } from '../statuses.ts'

const Account = Type.Object(
  {
    id: field.identifier('Identifier of the account.'),
    accountId: field.text('Business identifier of the account.'),
    company: field.nullableText('Name of the company.'),
    address: field.nullableText('Street and number.'),
    suite: field.nullableText('Suite, floor or door.'),
    city: field.nullableText('City.'),
    state: field.nullableText('State or province.'),
    zip: field.nullableText('Postal code.'),
    country: field.nullableText('Country.'),
    webAddress: field.nullableText('Address of the web site.'),
    status: field.nullableText(describeStatus('accounts')),
    billingEmail: field.nullableText('Where invoices are mailed to.'),
    invoiceEmailEnabled: field.nullableBoolean('Invoices are sent by e-mail.'),
    invoicePrintEnabled: field.nullableBoolean('Invoices are sent on paper.'),
    doNotEmail: field.nullableBoolean('The account does not want to receive e-mail.'),
    createdAt: field.timestamp('When the account was created.'),
    updatedAt: field.timestamp('When the account last changed.'),
  },
  { ...field.closed, title: 'Account' },
)

const AccountInput = Type.Object(
  {
    company: field.text('Name of the company.', { minLength: 1, maxLength: longest.name }),
    userId: Type.Optional(
      field.nullableText('User of the legacy system, for its account-creation workflow.', longest.label),
    ),
    firstName: Type.Optional(field.nullableText('First name of the first contact.', longest.name)),
    lastName: Type.Optional(field.nullableText('Last name of the first contact.', longest.name)),
    title: Type.Optional(field.nullableText('Position of the first contact.', longest.name)),
    phone: Type.Optional(field.nullableText('Phone number of the first contact.', longest.phone)),
    email: Type.Optional(field.nullableText('E-mail address of the first contact, and for invoices.', longest.email)),
    address: Type.Optional(field.nullableText('Street and number.', longest.address)),
    city: Type.Optional(field.nullableText('City.', longest.place)),
    state: Type.Optional(field.nullableText('State or province.', longest.place)),
    zip: Type.Optional(field.nullableText('Postal code.', longest.zip)),
    category: Type.Optional(field.nullableText('Category of the account.', longest.label)),
    quality: Type.Optional(field.nullableText('Quality of the prospect.', longest.label)),
    website: Type.Optional(field.nullableText('Address of the web site.', longest.website)),
    primaryPublicationId: Type.Optional(field.nullableText('The publication of most interest, by its code or `id`.')),
  },
  { ...field.closed, title: 'AccountInput' },
)

const AccountCreated = Type.Object(
  {
    accountId: field.text('Business identifier of the new account.'),
    company: field.text('Name of the company.'),
    route: Route,
  },
  { ...field.closed, title: 'AccountCreated' },
)

const searched = ['accountId', 'company', 'city', 'billingEmail', 'webAddress'] as const

export const accounts = defineResource({
  name: 'accounts',
  singular: 'account',
  description: 'Customer companies.',
  record: Account,
  businessIdentifier: 'accountId',
  listing: { filters: ['status'], leftOutUnless: {}, search: searched },
  operations: {
    GetAccounts: {
      method: 'GET',
      path: '/accounts',
      scope: 'accounts:read',
      summary: 'List accounts',
      query: Type.Object({
        ...paging,
        search: search(searched),
        status: filter('Only accounts with this status; case does not matter.'),
        cursor,
      }),
      status: 200,
      answer: pageOf(Account, 'AccountPage'),
    },
    CreateAccountRecord: {
      method: 'POST',
      path: '/accounts',
      scope: 'accounts:write',
      summary: 'Create an account, and its first contact when a person is given',
      body: AccountInput,
      status: 201,
      answer: AccountCreated,
    },
    GetAccountById: {
      method: 'GET',
      path: '/accounts/{accountId}',
      scope: 'accounts:read',
      summary: 'Get an account by its business identifier or id',
      status: 200,
      answer: Account,
    },
  },
})
