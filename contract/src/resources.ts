import type { TSchema } from 'typebox'
import { isPaged, type Operation } from './operation.ts'
import { accounts } from './resources/accounts.ts'
import { contacts } from './resources/contacts.ts'
import { invoices } from './resources/invoices.ts'
import { publications } from './resources/publications.ts'
import { subscriptions } from './resources/subscriptions.ts'
import { tasks } from './resources/tasks.ts'

/**
 * The only list of resources. Each refers to those before it alone, and a new one comes last, because cursors of changes hold the places of
 * lists and never expire.
 */
export const resources = { publications, accounts, contacts, subscriptions, invoices, tasks } as const

export type Resources = typeof resources
export type ResourceName = keyof Resources

export const resourceNames = Object.keys(resources) as ResourceName[] // they are its keys

/** Those whose records can be listed and got. */
export type ListedName = {
  [Name in ResourceName]: Resources[Name] extends { listing: object } ? Name : never
}[ResourceName]
export const isListed = (name: string): name is ListedName =>
  Object.hasOwn(resources, name) && 'listing' in resources[name as ResourceName] // it is one of its keys
export const listedNames: readonly ListedName[] = resourceNames.filter(isListed)

/** Undefined where the records of a resource cannot be listed. */
export const listOperationOf = (name: ResourceName): Operation | undefined =>
  Object.values<Operation>(resources[name].operations).find(isPaged)

/** All that the list operation takes. */
export const listParametersOf = (name: ResourceName): [string, TSchema][] =>
  Object.entries<TSchema>(listOperationOf(name)?.query?.properties ?? {})
