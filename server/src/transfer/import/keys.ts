import { type Resource, type ResourceName, resources } from '@masthead/contract'
import { transferColumns } from '../columns.ts'

/** The fields by which an import recognises a record: its business identifier or that of another system, and its `id`. */
export const keysOf = (resource: ResourceName): string[] => {
  const key = keyOf(resource)
  return key === null ? ['id'] : [key, 'id']
}

/** The one of them that is not made by this service. */
export const keyOf = (resource: ResourceName): string | null => {
  const { businessIdentifier }: Resource = resources[resource]
  if (businessIdentifier) return businessIdentifier
  return transferColumns[resource].some(({ field }) => field === 'externalId') ? 'externalId' : null
}
