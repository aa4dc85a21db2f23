import { managementResources } from './management/resources.ts'
import { managementScopes } from './management/scopes.ts'
import { type NamedOperation, operations, operationsOf } from './operations.ts'
import { scopes } from './scopes.ts'
import { basePath, scopePrefix } from './version.ts'

/** One of the two interfaces of the service. */
export type Api = {
  basePath: string
  /** Applications ask for its scopes by this prefix. */
  scopePrefix: string
  scopes: readonly string[]
  operations: readonly NamedOperation[]
}

export const customerApi: Api = { basePath, scopePrefix, scopes: Object.keys(scopes), operations }

/** For the console alone: no token of a customer carries its scopes. */
export const managementApi: Api = {
  basePath: '/management-api/v1',
  scopePrefix: 'management-api/',
  scopes: Object.keys(managementScopes),
  operations: operationsOf(managementResources),
}
