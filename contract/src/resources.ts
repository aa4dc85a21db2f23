import { accounts } from './resources/accounts.ts'
import { contacts } from './resources/contacts.ts'
import { invoices } from './resources/invoices.ts'
import { publications } from './resources/publications.ts'
import { subscriptions } from './resources/subscriptions.ts'
import { tasks } from './resources/tasks.ts'

/** The only list of resources, in the order in which the reference shows them. */
export const resources = { subscriptions, publications, invoices, contacts, accounts, tasks } as const

export type Resources = typeof resources
export type ResourceName = keyof Resources
