import type { Resources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { newId, readRecord } from '../../records/identifiers.ts'
import { listRecords } from '../../records/list.ts'
import { insertContact, updateContact } from './queries.ts'
import { changesOf, newContact, requireLive } from './rules.ts'

export const handlers: Handlers<Resources['contacts']> = {
  GetContacts: ({ tenant, query }) => listRecords(tenant, 'contacts', query),

  CreateContactRecord: async ({ tenant, principal, writer, body }) => {
    const contact = newContact(newId(), body, principal.userId)
    return { body: await insertContact(tenant, writer, contact), location: `/contacts/${contact.id}` }
  },

  GetContactById: ({ tenant, params: { contactId } }) => readRecord(tenant, 'contacts', contactId),

  UpdateContactRecord: async ({ tenant, writer, params: { contactId }, body, requireCurrent }) => {
    const changes = changesOf(body)
    const { accountId } = body
    return updateContact(tenant, writer, { contactId, accountId }, (contact, accountId) => {
      requireCurrent(contact.body)
      if (body.deletedAt === undefined) requireLive(contact.record)
      return { ...changes, accountId }
    })
  },

  DeleteContactRecord: ({ tenant, writer, params: { contactId }, requireCurrent }) =>
    updateContact(tenant, writer, { contactId }, (contact) => {
      requireCurrent(contact.body)
      return contact.record.deletedAt === null ? { deletedAt: new Date().toISOString() } : {}
    }),

  RestoreContactRecord: ({ tenant, writer, params: { contactId }, requireCurrent }) =>
    updateContact(tenant, writer, { contactId }, (contact) => {
      requireCurrent(contact.body)
      return { deletedAt: null }
    }),
}
