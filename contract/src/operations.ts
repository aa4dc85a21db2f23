import { changes } from './changes.ts'
import { exportJobs } from './exports.ts'
import type { Operation, Resource } from './operation.ts'
import { resources } from './resources.ts'

export type NamedOperation = { name: string; operation: Operation; resource: Resource }

export const operationsOf = (among: Readonly<Record<string, Resource>>): readonly NamedOperation[] =>
  Object.values(among).flatMap((resource) =>
    Object.entries(resource.operations).map(([name, operation]) => ({ name, operation, resource })),
  )

/** Every operation with its name and resource, for whoever loops over the contract. */
export const operations = operationsOf({ ...resources, changes, exportJobs })

/** RFC 9110 §8.8.3: an `ETag` names what the address of the record returns, so the response must be that, and one that can be got again. */
export const isTagged = ({ operation, resource }: NamedOperation): boolean =>
  operation.method === 'GET' || (operation.response === resource.record && resource.listing !== undefined)
