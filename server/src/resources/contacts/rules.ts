import { type Input, type Output, type Resources, resources } from '@masthead/contract'
import { invalidProperty, Problem } from '../../problem.ts'
import type { Fields } from '../../records/stored-record.ts'
import { followedName, joinedName, parseInstant } from '../../values.ts'

type Operations = Resources['contacts']['operations']
export type Contact = Output<Operations['GetContactById']>
type ContactInput = Input<Operations['CreateContactRecord']>['body']

/** Every field that a caller can give, so that absent ones are stored as null. */
const blank = Object.fromEntries(
  Object.keys(resources.contacts.operations.CreateContactRecord.body.properties).map((name) => [name, null]),
)

export const newContact = (
  id: string,
  input: ContactInput,
  ownerId: string | null,
): Fields & { id: string; accountId: string } => {
  const now = new Date().toISOString()
  const name = input.name === undefined ? joinedName(input.firstName ?? null, input.lastName ?? null) : input.name
  return {
    ...blank,
    ...changesOf(input),
    accountId: input.accountId,
    name,
    id,
    ownerId,
    createdAt: now,
    updatedAt: now,
  }
}

/** What an update sets: an instant takes the one form that answers carry, and lies in no future. */
export const changesOf = (input: ContactInput): Fields => {
  if (typeof input.deletedAt !== 'string') return input
  const deletedAt = parseInstant(input.deletedAt)
  if (deletedAt === null || Date.parse(deletedAt) > Date.now()) {
    throw invalidProperty('deletedAt', 'in_the_future', '`deletedAt` must not lie in the future.')
  }
  return { ...input, deletedAt }
}

/** A name that is given is taken; another one follows first and last name where it was joined from them. */
export const nameAfter = (contact: Contact, { name, ...given }: ContactInput): string | null =>
  name === undefined ? followedName(contact, { ...contact, ...given }) : name

export const requireLive = ({ id, deletedAt }: Contact): void => {
  if (deletedAt === null) return
  throw new Problem('contact_deleted', `The contact ${id} was deleted at ${deletedAt}; restore it before changing it.`)
}
