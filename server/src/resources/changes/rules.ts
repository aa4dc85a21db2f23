import { isListed, type ListedName, listedNames, readScopeOf } from '@masthead/contract'
import { type AnyScope, mayUse, type Principal, requireScope } from '../../identity/principal.ts'
import { suggestion } from '../../nearest-name.ts'
import { Problem } from '../../problem.ts'

const scopeOf = (name: ListedName): AnyScope => readScopeOf(name) as AnyScope // it is that of an operation of the contract

/** The lists that the caller asks for, or all that it may read. */
export const followedResources = (principal: Principal, asked: string | undefined): readonly ListedName[] => {
  if (asked === undefined) return listedNames.filter((name) => mayUse(principal, scopeOf(name)))
  const names = new Set(asked.split(',').map(requireListed))
  for (const name of names) requireScope(principal, scopeOf(name))
  return [...names]
}

const requireListed = (name: string): ListedName => {
  if (isListed(name)) return name
  const detail = `There is no list \`${name.slice(0, 100)}\`. ${suggestion(name, listedNames)}`
  throw new Problem('invalid_parameter', detail, {
    errors: [
      {
        parameter: 'resources',
        code: 'unknown_resource',
        detail: `One of ${listedNames.join(', ')}, separated by commas.`,
      },
    ],
  })
}
