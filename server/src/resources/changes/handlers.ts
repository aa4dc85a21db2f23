import type { changes } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { readChanges } from '../../records/lists/changes.ts'
import { followedResources } from './rules.ts'

export const handlers: Handlers<typeof changes> = {
  ListChanges: ({ tenant, principal, query }) =>
    readChanges(tenant, followedResources(principal, query.resources), query),
}
