import type { TenantDatabase } from '../../database/database.ts'
import { handOver, routeOf } from '../../legacy/hand-over.ts'
import type { Answer } from '../../operation-call.ts'
import { getRecord, requireReference } from '../../records/identifiers.ts'
import { type Fields, insertRecords, lockHead, updateRecord } from '../../records/write.ts'
import { type Contact, changeOf } from './rules.ts'

export const insertContact = (
  tenant: TenantDatabase,
  contact: Fields & { accountId: string },
  actingUser: string | null,
): Promise<string> =>
  tenant.transaction(async (query) => {
    const [accountId, route] = await Promise.all([
      requireReference(query, 'accounts', contact.accountId, 'accountId'),
      routeOf(query),
    ])
    const [body = ''] = await insertRecords(query, 'contacts', [{ ...contact, accountId }])
    await handOver(query, route, [{ type: 'contact.created', body, userId: actingUser }])
    return body
  })

/** Decides on the contact as it is while nobody else can change it; writes only what differs. */
export const updateContact = (
  tenant: TenantDatabase,
  actingUser: string | null,
  named: { contactId: string; accountId?: string },
  decide: (contact: { body: string; record: Contact }, accountId: string) => Fields,
): Promise<Answer> =>
  tenant.transaction(async (query) => {
    const [route, , { body: before }, accountId] = await Promise.all([
      routeOf(query),
      lockHead(query, 'contacts'),
      getRecord(query, 'contacts', named.contactId),
      named.accountId === undefined ? null : requireReference(query, 'accounts', named.accountId, 'accountId'),
    ])
    const record: Contact = JSON.parse(before)
    const changes = differing(record, decide({ body: before, record }, accountId ?? record.accountId))
    if (Object.keys(changes).length === 0) return { body: before }
    const updatedAt = new Date().toISOString()
    const body = await updateRecord(query, 'contacts', record, { ...changes, updatedAt })
    await handOver(query, route, [{ type: changeOf(record, changes), body, userId: actingUser }])
    return { body }
  })

const differing = (record: Contact, decided: Fields): Fields =>
  Object.fromEntries(Object.entries(decided).filter(([field, value]) => record[field as keyof Contact] !== value)) // `decided` holds fields of a contact
