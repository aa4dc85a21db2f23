import * as field from '../fields.ts'
import { longest } from '../fields.ts'
import { cursor, defineResource, filter, flag, pageOf, paging, search } from '../operation.ts'
import { Type } from '../schema.ts'

const Contact = Type.Object(
  {
    id: field.identifier('Identifier of the contact.'),
    accountId: field.text('Business identifier of the account the contact belongs to.'),
    ownerId: field.nullableText('The user who owns the contact.'),
    name: field.nullableText('Full name.'),
    firstName: field.nullableText('First name.'),
    lastName: field.nullableText('Last name.'),
    phone: field.nullableText('Phone number, as it was entered.'),
    phone2: field.nullableText('Second phone number, as it was entered.'),
    extension: field.nullableText('Extension of the phone number.'),
    hideContact: field.nullableBoolean('Hidden: lists leave it out unless `includeHidden` is true.'),
    subsOnly: field.nullableBoolean('For subscriptions only: lists leave it out unless `includeSubsOnly` is true.'),
    doNotEmail: field.nullableBoolean('The contact does not want to receive e-mail.'),
    email: field.nullableText('E-mail address, as it was entered.'),
    title: field.nullableText('Position or form of address.'),
    notes: field.nullableText('Free text.'),
    deletedAt: field.nullableTimestamp('When the contact was deleted; null while it is not.'),
    createdAt: field.nullableTimestamp('When the contact was created.'),
    updatedAt: field.nullableTimestamp('When the contact last changed.'),
  },
  { ...field.closed, title: 'Contact' },
)

const ContactInput = Type.Object(
  {
    accountId: field.text('The account, by its business identifier or its `id`.', { minLength: 1 }),
    name: Type.Optional(
      field.nullableText('Full name; on creation joined from first and last name when absent.', longest.name),
    ),
    firstName: Type.Optional(field.nullableText('First name.', longest.name)),
    lastName: Type.Optional(field.nullableText('Last name.', longest.name)),
    phone: Type.Optional(field.nullableText('Phone number.', longest.phone)),
    phone2: Type.Optional(field.nullableText('Second phone number.', longest.phone)),
    extension: Type.Optional(field.nullableText('Extension of the phone number.', longest.extension)),
    hideContact: Type.Optional(field.nullableBoolean('Hide the contact from lists.')),
    subsOnly: Type.Optional(field.nullableBoolean('For subscriptions only.')),
    doNotEmail: Type.Optional(field.nullableBoolean('The contact does not want to receive e-mail.')),
    email: Type.Optional(field.nullableText('E-mail address.', longest.email)),
    title: Type.Optional(field.nullableText('Position or form of address.', longest.name)),
    notes: Type.Optional(field.nullableText('Free text.', longest.notes)),
    deletedAt: Type.Optional(
      field.nullableTimestamp('An instant that is not in the future deletes the contact, null restores it.'),
    ),
  },
  { ...field.closed, title: 'ContactInput' },
)

const searched = ['name', 'firstName', 'lastName', 'email', 'phone', 'phone2', 'title'] as const

export const contacts = defineResource({
  name: 'contacts',
  singular: 'contact',
  description: 'People at an account.',
  record: Contact,
  listing: {
    filters: [],
    leftOutUnless: { includeHidden: 'hideContact', includeSubsOnly: 'subsOnly', includeDeleted: 'deletedAt' },
    search: searched,
  },
  operations: {
    GetContacts: {
      method: 'GET',
      path: '/contacts',
      scope: 'contacts:read',
      summary: 'List contacts',
      query: Type.Object({
        ...paging,
        accountId: filter('Only contacts of this account (business identifier or `id`).'),
        search: search(searched),
        includeHidden: flag('Also contacts with `hideContact`.'),
        includeSubsOnly: flag('Also contacts with `subsOnly`.'),
        includeDeleted: flag('Also deleted contacts.'),
        cursor,
      }),
      status: 200,
      answer: pageOf(Contact, 'ContactPage'),
    },
    CreateContactRecord: {
      method: 'POST',
      path: '/contacts',
      scope: 'contacts:write',
      summary: 'Create a contact',
      body: ContactInput,
      status: 201,
      answer: Contact,
    },
    GetContactById: {
      method: 'GET',
      path: '/contacts/{contactId}',
      scope: 'contacts:read',
      summary: 'Get a contact, also a deleted one',
      status: 200,
      answer: Contact,
    },
    UpdateContactRecord: {
      method: 'PATCH',
      path: '/contacts/{contactId}',
      scope: 'contacts:write',
      summary: 'Update a contact: what is absent stays, null clears',
      body: ContactInput,
      status: 200,
      answer: Contact,
      conditional: true,
      problems: ['contact_deleted'],
    },
    DeleteContactRecord: {
      method: 'DELETE',
      path: '/contacts/{contactId}',
      scope: 'contacts:write',
      summary: 'Delete a contact; it can be restored',
      status: 200,
      answer: Contact,
      conditional: true,
    },
    RestoreContactRecord: {
      method: 'POST',
      path: '/contacts/{contactId}/restore',
      scope: 'contacts:write',
      summary: 'Restore a deleted contact',
      status: 200,
      answer: Contact,
      conditional: true,
    },
  },
})
