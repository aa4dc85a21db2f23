import * as field from '../fields.ts'
import { asking, cursor, days, defineResource, equal, filter, flag, pageOf, paging } from '../operation.ts'
import { Type } from '../schema.ts'

const Subscription = Type.Object(
  {
    id: field.withDefault('newId', field.identifier('Identifier of the subscription.')),
    subscriptionId: field.nullableText('Business identifier of the subscription.'),
    accountId: field.reference('accounts', field.text('Business identifier of the account that subscribes.')),
    publicationId: field.reference('publications', field.identifier('The publication (`id`).')),
    renewedFromSubsId: field.reference(
      'subscriptions',
      field.nullableIdentifier('The subscription (`id`) that this one renewed.'),
    ),
    renewalDate: field.nullableDate('When it was or will be renewed.'),
    status: field.nullableStatus('pending', 'active', 'grace', 'suspended', 'expired', 'cancelled'),
    startDate: field.nullableDate('First day.'),
    endDate: field.nullableDate('Last day.'),
    expireDate: field.nullableDate('Day on which it expires.'),
    firstRunDate: field.nullableDate('Day of the first issue.'),
    subscriptionNumber: field.nullableText('Number printed on the label.'),
    copies: field.nullableCount('Copies of each issue.'),
    autoReschedule: field.nullableBoolean('Missed issues are delivered later.'),
    autoInvoice: field.nullableBoolean('Invoices are made automatically.'),
    notes: field.nullableText('Free text.', 'notes'),
    totalNetCharge: field.nullableMoney('Net charge.'),
    totalApplied: field.nullableMoney('Payments applied.'),
    totalDue: field.nullableMoney('Amount still due.'),
    createdAt: field.withDefault('now', field.timestamp('When the subscription was created.')),
    updatedAt: field.withDefault('now', field.timestamp('When the subscription last changed.')),
    deletedAt: field.deletion('When the subscription was deleted; null while it is not.'),
  },
  { ...field.closed, title: 'Subscription' },
)

const sorts = [
  ...(['subscriptionNumber', 'copies', 'startDate', 'endDate', 'expireDate', 'firstRunDate', 'renewalDate'] as const),
  ...(['totalNetCharge', 'totalApplied', 'totalDue', 'createdAt', 'updatedAt', 'deletedAt'] as const),
] as const

export const subscriptions = defineResource({
  name: 'subscriptions',
  singular: 'subscription',
  description: 'What an account subscribes to.',
  record: Subscription,
  businessIdentifier: 'subscriptionId',
  predecessor: { field: 'renewedFromSubsId', relation: 'renewed from' },
  listing: {
    filters: ['publicationId', 'status'],
    leftOutUnless: { includeDeleted: 'deletedAt' },
    search: [],
    sorts,
    sortsWithin: { status: ['expireDate', 'renewalDate'], publicationId: ['expireDate'] },
  },
  operations: {
    GetSubscriptions: {
      method: 'GET',
      path: '/subscriptions',
      scope: 'subscriptions:read',
      summary: 'List subscriptions',
      query: Type.Object({
        ...paging,
        accountId: field.reference(
          'accounts',
          filter('Only subscriptions of this account (business identifier or `id`).'),
        ),
        publicationId: field.reference(
          'publications',
          filter('Only subscriptions to this publication (`id` or code).'),
        ),
        status: filter('Only subscriptions with this status; case does not matter.'),
        includeDeleted: flag('Also deleted subscriptions.'),
        subscriptionNumber: equal('subscriptionNumber', 'Only subscriptions with this number on their label.'),
        ...days('expireDate', 'subscriptions that expire'),
        ...days('startDate', 'subscriptions that start'),
        ...days('renewalDate', 'subscriptions that were or will be renewed'),
        ...asking(sorts),
        cursor,
      }),
      status: 200,
      response: pageOf(Subscription, 'SubscriptionPage'),
    },
    GetSubscriptionById: {
      method: 'GET',
      path: '/subscriptions/{subscriptionId}',
      scope: 'subscriptions:read',
      summary: 'Get a subscription by its id or business identifier',
      status: 200,
      response: Subscription,
    },
  },
})
