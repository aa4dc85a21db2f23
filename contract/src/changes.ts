import * as field from './fields.ts'
import { defineResource } from './operation.ts'
import { type ListedName, listedNames, listOperationOf, resources } from './resources.ts'
import { Type } from './schema.ts'
import type { Scope } from './scopes.ts'

/** How many changes a call returns, and how long it may wait for the first one. */
export const changePages = { default: 200, maximum: 1_000, longestWaitSeconds: 30 } as const

/** How many streams, and how many waiting calls, a token may have open. */
export const mostFollowedByToken = 10

/** RFC 8288: the relation of the link from the last page of a walk to what has changed since its first page. */
export const changesRelation = 'https://masthead.dev/rel/changes'

/** The scope that reading the list of a resource needs. */
export const readScopeOf = (name: ListedName): Scope => {
  const scope = listOperationOf(name)?.scope
  if (typeof scope !== 'string') throw new Error(`${name} cannot be listed by one scope`)
  return scope as Scope // that of an operation of a resource
}

const Change = Type.Object(
  {
    resource: field.oneOf(listedNames, 'The list that the record is in.'),
    id: field.identifier('Identifier of the record.'),
    externalId: field.nullableText(
      'Identifier of the record in another system, as an import stored it; null where there is none, and of a record that was removed.',
    ),
    change: Type.Union([Type.Literal('written'), Type.Literal('removed')], {
      description: '`written`: the record was created or changed. `removed`: it is gone for good.',
    }),
    record: Type.Unsafe<Record<string, unknown> | null>({
      anyOf: [...listedNames.map((name) => resources[name].record), { type: 'null' }],
      description: 'The record as it is now, also a hidden or deleted one; null when it was removed.',
    }),
  },
  { ...field.closed, title: 'Change' },
)

const ChangePage = Type.Object(
  {
    items: Type.Array(Change, {
      description: 'The changes, in the order in which a copy applies them. A record comes once, as it is now.',
    }),
    cursor: Type.String({ description: 'Give it as `after` to get what comes next. It never expires.' }),
    hasMore: Type.Boolean({ description: 'More is there already.' }),
  },
  { ...field.closed, title: 'ChangePage' },
)

/** What happened to the records of all lists. It has no table of its own, so it is none of `resources`. */
export const changes = defineResource({
  name: 'changes',
  singular: 'change',
  description: 'What was written and removed, in order: for whoever keeps a copy.',
  record: Change,
  operations: {
    ListChanges: {
      method: 'GET',
      path: '/changes',
      scope: listedNames.map(readScopeOf),
      summary: 'List what has changed since a cursor, or wait for it, or follow it as a stream',
      query: Type.Object({
        after: Type.Optional(
          Type.String({
            description:
              'The `cursor` of an earlier response, or the link at the end of a walk. Without it, everything from the beginning.',
          }),
        ),
        resources: Type.Optional(
          Type.String({
            description: `Separated by commas, of ${listedNames.join(', ')}. Without it, all that the token may read.`,
          }),
        ),
        limit: Type.Optional(
          Type.Number({
            format: 'double',
            minimum: 1,
            maximum: changePages.maximum,
            multipleOf: 1,
            default: changePages.default,
            description: 'How many changes to return at most.',
          }),
        ),
        wait: Type.Optional(
          Type.Number({
            format: 'double',
            minimum: 0,
            maximum: changePages.longestWaitSeconds,
            multipleOf: 1,
            default: 0,
            description: 'Seconds to wait for a change where there is none yet.',
          }),
        ),
      }),
      status: 200,
      response: ChangePage,
      followed: true,
    },
  },
})
