import type { Resources } from '@masthead/contract'
import { requireAddress } from '../../email-address.ts'
import type { Handlers } from '../../operation-call.ts'
import { newId, readRecord, requireReference } from '../../records/identifiers.ts'
import { listRecords } from '../../records/lists/list.ts'
import { updateRecord } from '../../records/writes/update.ts'
import type { Writer } from '../../records/writes/write.ts'
import { insertContact } from './queries.ts'
import { type Contact, changesOf, nameAfter, newContact, requireLive } from './rules.ts'

export const handlers: Handlers<Resources['contacts']> = {
  GetContacts: ({ tenant, query }) => listRecords(tenant, 'contacts', query),

  CreateContactRecord: async ({ tenant, principal, writer, body }) => {
    requireAddress('email', body.email)
    const contact = newContact(newId(), body, principal.userId)
    return { body: await insertContact(tenant, writer, contact), location: `/contacts/${contact.id}` }
  },

  GetContactById: ({ tenant, params: { contactId } }) => readRecord(tenant, 'contacts', contactId),

  UpdateContactRecord: ({ tenant, writer, params: { contactId }, body, requireCurrent }) => {
    const changes = changesOf(body)
    return updateRecord<Contact>(tenant, 'contacts', {
      ...updateOf(contactId, writer),
      decide: async (contact, query) => {
        requireCurrent(contact.body)
        if (body.deletedAt === undefined) requireLive(contact.record)
        requireAddress('email', body.email, contact.record.email)
        const accountId = await requireReference(query, 'accounts', body.accountId, 'accountId')
        return { ...changes, name: nameAfter(contact.record, body), accountId }
      },
    })
  },

  DeleteContactRecord: ({ tenant, writer, params: { contactId }, requireCurrent }) =>
    updateRecord<Contact>(tenant, 'contacts', {
      ...updateOf(contactId, writer),
      decide: (contact) => {
        requireCurrent(contact.body)
        return contact.record.deletedAt === null ? { deletedAt: new Date().toISOString() } : {}
      },
    }),

  RestoreContactRecord: ({ tenant, writer, params: { contactId }, requireCurrent }) =>
    updateRecord<Contact>(tenant, 'contacts', {
      ...updateOf(contactId, writer),
      decide: (contact) => {
        requireCurrent(contact.body)
        return { deletedAt: null }
      },
    }),
}

const updateOf = (named: string, { author, actingUser: userId }: Writer) => ({ named, author, delivery: { userId } })
