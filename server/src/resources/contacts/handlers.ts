import type { Resources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { getRecord, newId } from '../../records/identifiers.ts'
import { listRecords } from '../../records/list.ts'
import { insertContact, updateContact } from './queries.ts'
import { changesOf, newContact, requireLive } from './rules.ts'

export const handlers: Handlers<Resources['contacts']> = {
  GetContacts: ({ tenant, query }) => listRecords(tenant, 'contacts', query),

  CreateContactRecord: async ({ tenant, principal, body }) => {
    const id = newId()
    return { body: await insertContact(tenant, newContact(id, body, principal.userId)), location: `/contacts/${id}` }
  },

  GetContactById: ({ tenant, params: { contactId } }) => getRecord(tenant.read, 'contacts', contactId),

  UpdateContactRecord: async ({ tenant, params: { contactId }, body, requireCurrent }) => {
    const changes = changesOf(body)
    return updateContact(tenant, contactId, body.accountId, (contact, accountId) => {
      requireCurrent(contact.body)
      if (body.deletedAt === undefined) requireLive(contact.record)
      return { ...changes, accountId }
    })
  },

  DeleteContactRecord: ({ tenant, params: { contactId }, requireCurrent }) =>
    updateContact(tenant, contactId, null, (contact) => {
      requireCurrent(contact.body)
      return contact.record.deletedAt === null ? { deletedAt: new Date().toISOString() } : {}
    }),

  RestoreContactRecord: ({ tenant, params: { contactId }, requireCurrent }) =>
    updateContact(tenant, contactId, null, (contact) => {
      requireCurrent(contact.body)
      return { deletedAt: null }
    }),
}
