import type { Resources } from '@masthead/contract'
import { found, type Handlers } from '../../operation-call.ts'
import { findBody, newId } from '../../records/identifiers.ts'
import { listRecords } from '../../records/list.ts'
import { insertContact, updateContact } from './queries.ts'
import { changesOf, newContact, requireLive } from './rules.ts'

export const handlers: Handlers<Resources['contacts']> = {
  GetContacts: ({ tenant, query }) => listRecords(tenant, 'contacts', query),

  CreateContactRecord: async ({ tenant, principal, body }) => {
    const id = newId()
    return { body: await insertContact(tenant, newContact(id, body, principal.userId)), location: `/contacts/${id}` }
  },

  GetContactById: async ({ tenant, params: { contactId } }) =>
    found(await findBody(tenant.read, 'contacts', contactId), 'contact', contactId),

  UpdateContactRecord: ({ tenant, params: { contactId }, body, requireCurrent }) =>
    updateContact(tenant, contactId, body.accountId, (contact, accountId) => {
      requireCurrent(contact.body)
      if (body.deletedAt === undefined) requireLive(contact.record)
      return changesOf({ ...body, accountId })
    }),

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
