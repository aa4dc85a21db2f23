import type { Operation, Resource } from './operation.ts'
import { resources } from './resources.ts'

export type NamedOperation = { name: string; operation: Operation; resource: Resource }

/** Every operation with its name and resource, for whoever loops over the contract. */
export const operations: readonly NamedOperation[] = Object.values(resources).flatMap((resource) =>
  Object.entries(resource.operations).map(([name, operation]) => ({ name, operation, resource })),
)
