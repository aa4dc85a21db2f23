import { basePath } from '@masthead/contract'
import type { Tenant } from './data.ts'
import type { Ask } from './slice.ts'

/** The requests of the workloads, as Masthead and the peers take them. */
export const contacts = ({ token, contacts }: Tenant): Ask[] =>
  contacts.map(({ id }) => ({ path: `${basePath}/contacts/${id}`, token }))

export const page = ({ token }: Tenant, number: number): Ask => ({
  path: `${basePath}/contacts${number === 1 ? '' : `?page=${number}`}`,
  token,
})

export const ofAccounts = ({ token, contacts }: Tenant): Ask[] =>
  [...new Set(contacts.map(({ accountId }) => accountId))].map((accountId) => ({
    path: `${basePath}/contacts?accountId=${accountId}`,
    token,
  }))

export const search = ({ token }: Tenant, word: string): Ask => ({
  path: `${basePath}/contacts?search=${encodeURIComponent(word)}`,
  token,
})

export const create = ({ token, contacts: [contact] }: Tenant): Ask => ({
  method: 'POST',
  path: `${basePath}/contacts`,
  token,
  status: 201,
  body: {
    accountId: contact?.accountId,
    firstName: 'Ada',
    lastName: 'Lovelace',
    title: 'Head Librarian',
    email: 'ada.########@example.com',
    phone: '+49 30 555 0100',
  },
})

/** Each update writes something new, or it would write nothing. */
export const updates = ({ token, contacts }: Tenant, count: number): Ask[] =>
  contacts.slice(0, count).map(({ id, accountId }) => ({
    method: 'PATCH',
    path: `${basePath}/contacts/${id}`,
    token,
    body: { accountId, notes: 'Called in the morning, ########' },
  }))

/** Of twenty requests, nine get a page, seven a contact, three the contacts of an account, one writes; tenant after tenant. */
export const mixture = (tenants: Tenant[]): Ask[] => {
  const each = tenants.map((tenant) => [
    ...new Array<Ask>(9).fill(page(tenant, 1)),
    // The first is the one that is written, so that what is read keeps its length.
    ...contacts(tenant).slice(1, 8),
    ...ofAccounts(tenant).slice(1, 4),
    ...updates(tenant, 1),
  ])
  return each[0]?.flatMap((_, turn) => each.flatMap((asks) => asks[turn] ?? [])) ?? []
}

/** Past the responses that Masthead has in memory: the database answers. */
export const cold = (ask: Ask): Ask => ({ ...ask, headers: { 'Cache-Control': 'no-cache' } })

/** As the limit of stored bodies takes them. */
export const storedContacts = ({ id: tenant, contacts }: Tenant): Ask[] =>
  contacts.map(({ id }) => ({ path: `/${tenant}/contacts/${id}` }))

export const storedPage = ({ id: tenant }: Tenant, number: number, position: number): Ask => ({
  path: `/${tenant}/contacts?from=${position}&page=${number}`,
})
