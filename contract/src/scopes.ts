import type { Resources } from './resources.ts'

type OperationsOf<R> = R extends { operations: infer O } ? O[keyof O] : never
type ScopeOf<O> = O extends { scope: infer S extends string } ? S : never

export type Scope = ScopeOf<OperationsOf<Resources[keyof Resources]>>

/** Each scope in words that a person who is asked for it understands. */
export const scopes: Readonly<Record<Scope, string>> = {
  'subscriptions:read': 'See subscriptions',
  'publications:read': 'See publications',
  'invoices:read': 'See invoices',
  'contacts:read': 'See contacts',
  'contacts:write': 'Create, change, delete and restore contacts',
  'accounts:read': 'See accounts',
  'accounts:write': 'Create and correct accounts',
  'tasks:read': 'See tasks',
  'tasks:write': 'Create tasks for accounts, change them and mark them as done',
}

export const isScope = (name: string): name is Scope => Object.hasOwn(scopes, name)
