import * as field from '../fields.ts'
import { asking, cursor, defineResource, equal, filter, flag, pageOf, paging, search } from '../operation.ts'
import { Type } from '../schema.ts'

const Contact = Type.Object(
  {
    id: field.withDefault('newId', field.identifier('Identifier of the contact.')),
    accountId: field.reference('accounts', field.text('Business identifier of the account the contact belongs to.')),
    ownerId: field.nullableText('The user who owns the contact.'),
    name: field.keyed('name', field.nullableText('Full name.')),
    firstName: field.keyed('name', field.nullableText('First name.')),
    lastName: field.keyed('name', field.nullableText('Last name.')),
    phone: field.nullableText('Phone number, as it was entered.', 'phone'),
    phone2: field.nullableText('Second phone number, as it was entered.', 'phone'),
    extension: field.nullableText('Extension of the phone number.', 'extension'),
    hideContact: field.nullableBoolean('Hidden: lists leave it out unless `includeHidden` is true.'),
    subsOnly: field.nullableBoolean('For subscriptions only: lists leave it out unless `includeSubsOnly` is true.'),
    doNotEmail: field.nullableBoolean('The contact does not want to receive e-mail.'),
    email: field.keyed('lowerCase', field.nullableText('E-mail address, as it was entered.', 'email')),
    title: field.nullableText('Position or form of address.'),
    notes: field.nullableText('Free text.', 'notes'),
    deletedAt: field.deletion('When the contact was deleted; null while it is not.'),
    createdAt: field.withDefault('now', field.nullableTimestamp('When the contact was created.')),
    updatedAt: field.withDefault('now', field.nullableTimestamp('When the contact last changed.')),
  },
  { ...field.closed, title: 'Contact' },
)

const ContactInput = Type.Object(
  {
    accountId: field.reference(
      'accounts',
      field.text('The account, by its business identifier or its `id`.', { minLength: 1 }),
    ),
    name: Type.Optional(
      field.nullableInput(
        'Full name. Absent on creation, it is joined from first and last name, and follows them.',
        'name',
      ),
    ),
    firstName: Type.Optional(field.nullableInput('First name.', 'name')),
    lastName: Type.Optional(field.nullableInput('Last name.', 'name')),
    phone: Type.Optional(field.nullableInput('Phone number.', 'phone')),
    phone2: Type.Optional(field.nullableInput('Second phone number.', 'phone')),
    extension: Type.Optional(field.nullableInput('Extension of the phone number.', 'extension')),
    hideContact: Type.Optional(field.nullableBoolean('Hide the contact from lists.')),
    subsOnly: Type.Optional(field.nullableBoolean('For subscriptions only.')),
    doNotEmail: Type.Optional(field.nullableBoolean('The contact does not want to receive e-mail.')),
    email: Type.Optional(field.nullableInput('E-mail address.', 'email')),
    title: Type.Optional(field.nullableInput('Position or form of address.', 'name')),
    notes: Type.Optional(field.nullableInput('Free text.', 'notes')),
    deletedAt: Type.Optional(
      field.nullableTimestamp('An instant that is not in the future deletes the contact, null restores it.'),
    ),
  },
  { ...field.closed, title: 'ContactInput' },
)

const searched = ['name', 'firstName', 'lastName', 'email', 'phone', 'phone2', 'title'] as const
const sorts = ['name', 'firstName', 'lastName', 'email', 'createdAt', 'updatedAt', 'deletedAt'] as const

export const contacts = defineResource({
  name: 'contacts',
  singular: 'contact',
  description: 'People at an account.',
  record: Contact,
  storedOnly: { externalId: field.nullableText('Identifier of the contact in another system.') },
  importKey: 'externalId',
  listing: {
    filters: [],
    leftOutUnless: { includeHidden: 'hideContact', includeSubsOnly: 'subsOnly', includeDeleted: 'deletedAt' },
    search: searched,
    sorts,
  },
  operations: {
    GetContacts: {
      method: 'GET',
      path: '/contacts',
      scope: 'contacts:read',
      summary: 'List contacts',
      query: Type.Object({
        ...paging,
        accountId: field.reference('accounts', filter('Only contacts of this account (business identifier or `id`).')),
        search: search(searched),
        includeHidden: flag('Also contacts with `hideContact`.'),
        includeSubsOnly: flag('Also contacts with `subsOnly`.'),
        includeDeleted: flag('Also deleted contacts.'),
        email: equal('email', 'Only contacts with this e-mail address; case does not matter.'),
        externalId: equal('externalId', 'Only the contact with this identifier in another system.'),
        ...asking(sorts),
        cursor,
      }),
      status: 200,
      response: pageOf(Contact, 'ContactPage'),
    },
    CreateContactRecord: {
      method: 'POST',
      path: '/contacts',
      scope: 'contacts:write',
      summary: 'Create a contact',
      body: ContactInput,
      status: 201,
      response: Contact,
    },
    GetContactById: {
      method: 'GET',
      path: '/contacts/{contactId}',
      scope: 'contacts:read',
      summary: 'Get a contact, also a deleted one',
      status: 200,
      response: Contact,
    },
    UpdateContactRecord: {
      method: 'PATCH',
      path: '/contacts/{contactId}',
      scope: 'contacts:write',
      summary: 'Update a contact: what is absent stays, null clears',
      body: ContactInput,
      status: 200,
      response: Contact,
      conditional: true,
      problems: ['contact_deleted'],
    },
    DeleteContactRecord: {
      method: 'DELETE',
      path: '/contacts/{contactId}',
      scope: 'contacts:write',
      summary: 'Delete a contact; it can be restored',
      status: 200,
      response: Contact,
      conditional: true,
    },
    RestoreContactRecord: {
      method: 'POST',
      path: '/contacts/{contactId}/restore',
      scope: 'contacts:write',
      summary: 'Restore a deleted contact',
      status: 200,
      response: Contact,
      conditional: true,
    },
  },
})
