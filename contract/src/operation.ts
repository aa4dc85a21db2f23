import type { Static, TObject, TOptional, TSchema, TString } from 'typebox'
import { closed, compares, date, longest, nullableInteger, timestamp } from './fields.ts'
import type { ProblemCode } from './problems.ts'
import { Type } from './schema.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** One promise: who may call it, what it takes, what it returns. Problems that any call can meet are not repeated here. */
export type Operation = {
  method: Method
  /** Relative to the base path; parameters in braces. */
  path: string
  /** The scope that a token needs; of several, any one. */
  scope: string | readonly string[]
  summary: string
  /** What the summary leaves open, such as why the operation takes this and not more. */
  description?: string
  query?: TObject
  body?: TObject
  status: 200 | 201
  response: TObject
  /** The operation honours `If-Match`. */
  conditional?: true
  /** A GET whose caller may wait for news (`wait`), or follow them as a stream of server-sent events. */
  followed?: true
  /** The response does not follow from the tenant's records alone, so it is not cached. */
  isVolatile?: true
  /** The response is a file of one of these media types, or a part of it by `Range`, in place of `response`. */
  download?: readonly string[]
  /** What a parameter of the path is, where it is not the identifier of a record. */
  parameters?: Readonly<Record<string, string>>
  /** The response is shown once and kept nowhere, not even for a retry. */
  showsSecret?: true
  problems?: readonly ProblemCode[]
}

/** How the lists of a resource are kept: what is counted, left out and searched. */
export type Listing = {
  /** Equality filters whose totals are kept: the record's field, in the order of the description. */
  filters: readonly string[]
  /** Records that carry the field are left out unless the parameter is true. */
  leftOutUnless: Readonly<Record<string, string>>
  /** True for the parameter shows only records without the field, false only those with it. Absent shows both. */
  onlyWithout?: Readonly<Record<string, string>>
  /** Fields in which `search` looks. */
  search: readonly string[]
  /** Fields by which `sort` orders. */
  sorts: readonly string[]
  /** The sorts that have an index of their own among the records with one value of a field. */
  sortsWithin?: Readonly<Record<string, readonly string[]>>
  /** The parameter for records that are open and whose day has passed. */
  overdue?: { parameter: string; open: string; day: string }
}

export type Resource = {
  /** Plural; also the path segment and the name of the table. */
  name: string
  singular: string
  description: string
  record: TObject
  /** Fields that are stored, imported and exported, and that no response shows. */
  storedOnly?: Readonly<Record<string, TSchema>>
  /** The field with the identifier that people use, when there is one beside `id`. */
  businessIdentifier?: string
  /** The field by which other records refer to one; `id` where none is given. */
  canonicalIdentifier?: string
  /** The field by which an import recognises a record that has no business identifier. */
  importKey?: string
  /** The field that names, by its `id`, another record of the resource, which this one was made from; and how people say so. */
  predecessor?: { field: string; relation: string }
  /** The field that a status sets where an import does not: 1 for those of `open`, 0 for the other known ones, null for unknown ones. */
  openness?: { field: string; status: string; open: readonly string[] }
  listing?: Listing
  operations: Readonly<Record<string, Operation>>
}

/** The name of a record or body of the contract. */
export const titleOf = (schema: TSchema): string => {
  if ('title' in schema && typeof schema.title === 'string') return schema.title
  throw new Error('a body of the contract has no title')
}

/** Any one of them opens the operation. */
export const scopesOf = ({ scope }: Pick<Operation, 'scope'>): readonly string[] =>
  typeof scope === 'string' ? [scope] : scope

/** Whether the operation returns the pages of a list, by number or by cursor. */
export const isPaged = ({ query }: Pick<Operation, 'query'>): boolean => query?.properties.cursor !== undefined

export const defineResource = <const R extends Resource>(resource: R): R => resource

type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [N in Name | keyof PathParameters<Rest>]: string }
  : Record<never, string>

/** What a handler receives of a call that passed the checks. */
export type Input<O extends Operation> = {
  params: PathParameters<O['path']>
  query: O['query'] extends TSchema ? Static<O['query']> : Record<never, never>
  body: O['body'] extends TSchema ? Static<O['body']> : undefined
}
export type Output<O extends Operation> = Static<O['response']>

/** What a search, a sort or a filter without kept totals finds beyond this is not counted, and has no numbered pages. */
export const mostCounted = 10_000

/** As `toLocaleString` has it, which would load the languages of the world, a twentieth of a start. */
const withCommas = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** Of every page; whole, though v1 calls them numbers. */
export const pageNumbers = ['page', 'pageSize', 'total'] as const

export const pageOf = <R extends TObject>(record: R, title: string) =>
  Type.Object(
    {
      items: Type.Array(record, {
        description: 'The records of this page, in order of arrival unless `sort` asks for another.',
      }),
      page: Type.Number({ format: 'double', description: 'The number of this page; the first is 1.' }),
      pageSize: Type.Number({ format: 'double', description: 'How many records a full page holds.' }),
      total: Type.Unsafe<number | null>({
        type: ['number', 'null'],
        format: 'double',
        description: `How many records match, exactly. Null when more than ${withCommas(mostCounted)} do, or have to be looked at, and the list is searched, sorted or filtered by more than what it counts.`,
      }),
    },
    { ...closed, title },
  )

/** What a request may weigh. */
export const largest = { bodyBytes: 256 * 1024, urlBytes: 8 * 1024, headBytes: 32 * 1024 } as const

/** How long the `Idempotency-Key` of a request may be, and how long its idempotency record is kept. */
export const idempotencyKeys = { longest: 255, keptHours: 24 } as const

/** The content types that a body may come in; the first is the usual one. */
export const mediaTypesOf = ({ method }: Pick<Operation, 'method'>): readonly string[] =>
  method === 'PATCH' ? ['application/json', 'application/merge-patch+json'] : ['application/json']

export const largestPage = 2_147_483_647
export const pageSizes = { default: 50, maximum: 200 } as const

/** The parameters every list has. `cursor` comes last: it is an addition to the description. */
export const paging = {
  page: Type.Optional(
    Type.Number({
      format: 'double',
      minimum: 1,
      maximum: largestPage,
      multipleOf: 1,
      default: 1,
      description: 'The page to show; the first is 1.',
    }),
  ),
  pageSize: Type.Optional(
    Type.Number({
      format: 'double',
      minimum: 1,
      maximum: pageSizes.maximum,
      multipleOf: 1,
      default: pageSizes.default,
      description: 'How many records a page holds.',
    }),
  ),
}
export const cursor = Type.Optional(
  Type.String({
    description: 'From the `next` link: continues a walk exactly where the page before ended. Not with `page`.',
  }),
)
export const pagingParameters: readonly string[] = [...Object.keys(paging), 'cursor']

export const search = (fields: readonly string[]) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: longest.search,
      description: `Words, separated by spaces, that must all occur in one of ${fields.join(', ')}. Case and accents do not matter, nor whether ü is written ue or u, and the like.`,
    }),
  )
export const filter = (description: string) => Type.Optional(Type.String({ description }))
/** Only records whose field has this value. */
export const equal = (field: string, description: string) =>
  compares(field, '=', Type.Optional(Type.String({ minLength: 1, maxLength: longest.search, description })))

/** Two parameters, `…From` and `…To`, around the days of a field. */
export const days = <Name extends string>(name: Name, what: string) =>
  ({
    [`${name}From`]: compares(name, '>=', Type.Optional(date(`Only ${what} on this day or later.`))),
    [`${name}To`]: compares(name, '<=', Type.Optional(date(`Only ${what} on this day or earlier.`))),
  }) as Record<`${Name}From` | `${Name}To`, TOptional<TString>> // the keys are those two

/** The parameter and the property by which what has numbers is walked, the newest first. */
export const before = (what: string) =>
  Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      multipleOf: 1,
      description: `Only ${what} with smaller numbers: \`next\` of the answer before.`,
    }),
  )
export const next = nullableInteger('Give it as `before` for older ones; null when there are none.')

export const mostIds = 200

/** The parameters that came later, which every list has. */
export const asking = <const Fields extends readonly string[]>(sorts: Fields) => ({
  changedFrom: compares(
    'updatedAt',
    '>=',
    Type.Optional(timestamp('Only records that last changed at this instant or later.')),
  ),
  changedTo: compares(
    'updatedAt',
    '<',
    Type.Optional(timestamp('Only records that last changed before this instant.')),
  ),
  ids: Type.Optional(
    Type.String({
      minLength: 1,
      description: `Only these records: up to ${mostIds} identifiers of either kind, separated by commas.`,
    }),
  ),
  sort: Type.Optional(
    Type.Unsafe<Fields[number] | `-${Fields[number]}`>({
      type: 'string',
      enum: sorts.flatMap((field) => [field, `-${field}`]),
      description: `A field to order by, with \`-\` for descending; records without a value come last. Such a list is walked by cursor; numbered pages reach its first ${withCommas(mostCounted)} records.`,
    }),
  ),
})
export const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
