import { isListed, type ListedName, listedNames } from '@masthead/contract'
import type { Principal } from '../../identity/principal.ts'
import { suggestion } from '../../nearest-name.ts'
import { Problem } from '../../problem.ts'
import { readableLists, requireReadable } from '../readable-lists.ts'

/** The lists that the caller asks for, or all that it may read. */
export const followedResources = (principal: Principal, asked: string | undefined): readonly ListedName[] => {
  if (asked === undefined) return readableLists(principal)
  const names = new Set(asked.split(',').map(requireListed))
  requireReadable(principal, names)
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
