import { type ListedName, listedNames, readScopeOf } from '@masthead/contract'
import { mayUse, type Principal, requireScope } from '../identity/principal.ts'

export const readableLists = (principal: Principal): ListedName[] =>
  listedNames.filter((name) => mayUse(principal, readScopeOf(name)))

export const requireReadable = (principal: Principal, lists: Iterable<ListedName>): void => {
  for (const name of lists) requireScope(principal, readScopeOf(name))
}
