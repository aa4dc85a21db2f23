import type { Input, Output, Resources } from '@masthead/contract'
import { newId } from '../../records/identifiers.ts'
import type { Fields } from '../../records/stored-record.ts'
import { joinedName } from '../../values.ts'

type Operations = Resources['accounts']['operations']
export type Account = Output<Operations['GetAccountById']>
type AccountInput = Input<Operations['CreateAccountRecord']>['body']
export type NewAccount = Fields & { id: string; userId: string | null; primaryPublicationId: string | null }

export const newAccount = (input: AccountInput): NewAccount => {
  const now = new Date().toISOString()
  return {
    id: newId(),
    company: input.company,
    address: input.address ?? null,
    city: input.city ?? null,
    state: input.state ?? null,
    zip: input.zip ?? null,
    webAddress: input.website ?? null,
    billingEmail: input.email ?? null,
    status: 'prospect',
    userId: input.userId ?? null,
    category: input.category ?? null,
    quality: input.quality ?? null,
    primaryPublicationId: input.primaryPublicationId ?? null,
    createdAt: now,
    updatedAt: now,
  }
}

/** A person that is given with the account becomes its first contact. */
export const firstContact = (input: AccountInput, ownerId: string | null): (Fields & { id: string }) | null => {
  const { firstName = null, lastName = null, title = null, phone = null, email = null } = input
  if ([firstName, lastName, title, phone, email].every((value) => value === null)) return null
  const now = new Date().toISOString()
  const name = joinedName(firstName, lastName)
  return { id: newId(), ownerId, name, firstName, lastName, title, phone, email, createdAt: now, updatedAt: now }
}
