import { isAudited } from '../../audit/queries.ts'
import type { TenantDatabase } from '../../database/database.ts'
import { type Event, handOver, routeOf } from '../../legacy/hand-over.ts'
import type { Answer } from '../../operation-call.ts'
import { Problem } from '../../problem.ts'
import { getRecord, isUuid, requireReference } from '../../records/identifiers.ts'
import {
  actionOf,
  createRecords,
  type Fields,
  joinedCreation,
  lockHead,
  updateRecord,
  type Writer,
} from '../../records/write.ts'
import type { Contact } from './rules.ts'

type NewContact = { writer: Writer; contact: Fields & { id: string; accountId: string } }

export const insertContact = async (
  tenant: TenantDatabase,
  writer: Writer,
  contact: NewContact['contact'],
): Promise<string> =>
  (await insertAtOnce(tenant, writer, contact)) ??
  tenant.inGroups('contacts', { writer, contact }, (given: NewContact[]) => insertTogether(tenant, given))

/**
 * The usual one, without a question before it: its account is named as records name it and exists, and there is no legacy
 * system to hand it over to. Otherwise null, and nothing happened.
 */
const insertAtOnce = async (
  tenant: TenantDatabase,
  writer: Writer,
  contact: NewContact['contact'],
): Promise<string | null> => {
  if (isUuid(contact.accountId)) return null
  const item = joinedCreation(tenant.tenantId, writer, contact)
  return tenant.writeJoined({ text: 'select id, body from create_contacts($1)', id: contact.id, item })
}

/** Those whose accounts exist are stored, all or none; the others are refused, each for itself. */
const insertTogether = (tenant: TenantDatabase, given: NewContact[]): Promise<PromiseSettledResult<string>[]> =>
  tenant.transaction(async (query, last) => {
    const [route, ...accounts] = await Promise.all([
      routeOf(query),
      ...given.map(({ contact }) => orProblem(requireReference(query, 'accounts', contact.accountId, 'accountId'))),
    ])
    const good = given.flatMap(({ writer, contact }, index) => {
      const accountId = accounts[index]
      return typeof accountId === 'string' ? [{ writer, record: { ...contact, accountId } }] : []
    })
    const bodies = await createRecords(query, route === 'native' ? last : query, 'contacts', good)
    const events = bodies.map(
      (body, index): Event => ({
        resource: 'contacts',
        action: 'created',
        body,
        userId: good[index]?.writer.actingUser ?? null,
      }),
    )
    await handOver(query, route, events)
    const stored = bodies.values()
    return accounts.map((account) =>
      typeof account === 'string'
        ? { status: 'fulfilled', value: stored.next().value ?? '' }
        : { status: 'rejected', reason: account },
    )
  })

const orProblem = (reference: Promise<string>): Promise<string | Problem> =>
  reference.catch((error) => {
    if (error instanceof Problem) return error
    throw error
  })

/** Decides on the contact as it is while nobody else can change it; writes only what differs. */
export const updateContact = (
  tenant: TenantDatabase,
  writer: Writer,
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
    const body = await updateRecord(query, writer, 'contacts', record, { ...changes, updatedAt })
    const action = actionOf(record, changes)
    await handOver(query, route, [{ resource: 'contacts', action, body, userId: writer.actingUser }])
    return { body }
  })

/** Also a contact that an undo has removed since is known, as long as something of it can be read. */
export const isKnownContact = (tenant: TenantDatabase, id: string): Promise<boolean> =>
  tenant.transaction(async (query) => {
    const rows = await query({ text: 'select 1 from contacts where tenant_id = $1 and id = $2', values: [id] })
    return rows.length > 0 || isAudited(query, 'contacts', id)
  })

const differing = (record: Contact, decided: Fields): Fields =>
  Object.fromEntries(Object.entries(decided).filter(([field, value]) => record[field as keyof Contact] !== value)) // `decided` holds fields of a contact
