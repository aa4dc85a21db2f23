import * as field from '../fields.ts'
import { asking, cursor, defineResource, equal, filter, pageOf, paging, search } from '../operation.ts'
import { Route } from '../route.ts'
import { Type } from '../schema.ts'

const statuses = ['prospect', 'active', 'on_hold', 'inactive']

const Account = Type.Object(
  {
    id: field.withDefault('newId', field.identifier('Identifier of the account.')),
    accountId: field.text('Business identifier of the account.'),
    company: field.keyed('name', field.nullableText('Name of the company.')),
    address: field.nullableText('Street and number.', 'address'),
    suite: field.nullableText('Suite, floor or door.', 'place'),
    city: field.keyed('name', field.nullableText('City.', 'place')),
    state: field.nullableText('State or province.', 'place'),
    zip: field.nullableText('Postal code.', 'zip'),
    country: field.nullableText('Country.', 'place'),
    webAddress: field.nullableText('Address of the web site.', 'website'),
    status: field.nullableStatus(...statuses),
    billingEmail: field.nullableText('Where invoices are mailed to.', 'email'),
    invoiceEmailEnabled: field.nullableBoolean('Invoices are sent by e-mail.'),
    invoicePrintEnabled: field.nullableBoolean('Invoices are sent on paper.'),
    doNotEmail: field.nullableBoolean('The account does not want to receive e-mail.'),
    createdAt: field.withDefault('now', field.timestamp('When the account was created.')),
    updatedAt: field.withDefault('now', field.timestamp('When the account last changed.')),
  },
  { ...field.closed, title: 'Account' },
)

const AccountInput = Type.Object(
  {
    company: field.input('Name of the company.', 'name'),
    userId: Type.Optional(
      field.nullableInput('User of the legacy system, for its account-creation workflow.', 'label'),
    ),
    firstName: Type.Optional(field.nullableInput('First name of the first contact.', 'name')),
    lastName: Type.Optional(field.nullableInput('Last name of the first contact.', 'name')),
    title: Type.Optional(field.nullableInput('Position of the first contact.', 'name')),
    phone: Type.Optional(field.nullableInput('Phone number of the first contact.', 'phone')),
    email: Type.Optional(field.nullableInput('E-mail address of the first contact, and for invoices.', 'email')),
    address: Type.Optional(field.nullableInput('Street and number.', 'address')),
    city: Type.Optional(field.nullableInput('City.', 'place')),
    state: Type.Optional(field.nullableInput('State or province.', 'place')),
    zip: Type.Optional(field.nullableInput('Postal code.', 'zip')),
    category: Type.Optional(field.nullableInput('Category of the account.', 'label')),
    quality: Type.Optional(field.nullableInput('Quality of the prospect.', 'label')),
    website: Type.Optional(field.nullableInput('Address of the web site.', 'website')),
    primaryPublicationId: Type.Optional(
      field.reference('publications', field.nullableText('The publication of most interest, by its code or `id`.')),
    ),
  },
  { ...field.closed, title: 'AccountInput' },
)

const AccountChanges = Type.Object(
  {
    company: Type.Optional(field.input('Name of the company.', 'name')),
    address: Type.Optional(field.nullableInput('Street and number.', 'address')),
    suite: Type.Optional(field.nullableInput('Suite, floor or door.', 'place')),
    city: Type.Optional(field.nullableInput('City.', 'place')),
    state: Type.Optional(field.nullableInput('State or province.', 'place')),
    zip: Type.Optional(field.nullableInput('Postal code.', 'zip')),
    country: Type.Optional(field.nullableInput('Country.', 'place')),
    webAddress: Type.Optional(field.nullableInput('Address of the web site.', 'website')),
    status: Type.Optional(field.nullableStatusInput(...statuses)),
    billingEmail: Type.Optional(field.nullableInput('Where invoices are mailed to.', 'email')),
    invoiceEmailEnabled: Type.Optional(field.nullableBoolean('Invoices are sent by e-mail.')),
    invoicePrintEnabled: Type.Optional(field.nullableBoolean('Invoices are sent on paper.')),
    doNotEmail: Type.Optional(field.nullableBoolean('The account does not want to receive e-mail.')),
  },
  { ...field.closed, title: 'AccountChanges' },
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
const sorts = ['accountId', 'company', 'city', 'createdAt', 'updatedAt'] as const

export const accounts = defineResource({
  name: 'accounts',
  singular: 'account',
  description: 'Customer companies.',
  record: Account,
  storedOnly: {
    userId: field.nullableText('User of the legacy system who created it.', 'label'),
    category: field.nullableText('Category of the account.', 'label'),
    quality: field.nullableText('Quality of the prospect.', 'label'),
    primaryPublicationId: field.reference(
      'publications',
      field.nullableIdentifier('The publication (`id`) of most interest.'),
    ),
  },
  businessIdentifier: 'accountId',
  canonicalIdentifier: 'accountId',
  listing: { filters: ['status'], leftOutUnless: {}, search: searched, sorts },
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
        city: equal('city', 'Only accounts in this city; case and accents do not matter.'),
        ...asking(sorts),
        cursor,
      }),
      status: 200,
      response: pageOf(Account, 'AccountPage'),
    },
    CreateAccountRecord: {
      method: 'POST',
      path: '/accounts',
      scope: 'accounts:write',
      summary: 'Create an account, and its first contact when a person is given',
      body: AccountInput,
      status: 201,
      response: AccountCreated,
    },
    GetAccountById: {
      method: 'GET',
      path: '/accounts/{accountId}',
      scope: 'accounts:read',
      summary: 'Get an account by its business identifier or id',
      status: 200,
      response: Account,
    },
    UpdateAccountRecord: {
      method: 'PATCH',
      path: '/accounts/{accountId}',
      scope: 'accounts:write',
      summary: 'Correct an account: what is absent stays, null clears',
      description:
        'All that a response shows of an account and that people look after can be corrected: name, address, web site, status, and how invoices and e-mail reach it. The identifiers stay what they are, because contacts, subscriptions, invoices and other systems know the account by them. What no response shows (category, quality, primary publication) is corrected by an import, so that nobody overwrites what they cannot see.',
      body: AccountChanges,
      status: 200,
      response: Account,
      conditional: true,
    },
  },
})
