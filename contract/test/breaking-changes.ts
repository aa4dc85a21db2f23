import { isDeepStrictEqual } from 'node:util'

/**
 * What those who wrote against a released document lose by another one. Bodies are frozen, so an addition to one is a
 * break as well; new paths, optional parameters and headers are not, nor is whatever widens what is accepted.
 */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Schema = { [keyword: string]: Json }
type Content = Record<string, { schema: Schema }>
type Header = { required?: boolean; schema: Schema }
type Parameter = Header & { name: string; in: string }
type Body = { required?: boolean; content: Content }
type Response = { headers?: Record<string, Header>; content?: Content }
type Operation = {
  operationId: string
  security: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: Body
  responses: Record<string, Response>
}
type Flow = { authorizationUrl: string; tokenUrl: string; scopes: Record<string, string> }
type SecurityScheme = { type: string; scheme?: string; flows?: Record<string, Flow> }
export type Document = {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, SecurityScheme> }
}

export const breakingChanges = (released: Document, current: Document): string[] => {
  const [before, after] = [inlined(released), inlined(current)]
  return [
    ...(isDeepStrictEqual(before.servers, after.servers) ? [] : ['the base path is another']),
    ...each(operationsOf(before), operationsOf(after), (name, operation, changed) =>
      operationChanges(operation, changed).map((change) => `${name}: ${change}`),
    ),
    // Generated types go by their names.
    ...each(before.components.schemas, after.components.schemas, () => []),
    ...each(before.components.securitySchemes, after.components.securitySchemes, (name, scheme, changed) =>
      schemeChanges(scheme, changed).map((change) => `${name}: ${change}`),
    ),
  ]
}

/** With what every reference stands for in its place. */
const inlined = (document: Document): Document => {
  const known = new Map<string, Json>()
  const resolve = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    if (typeof value.$ref === 'string') return known.get(value.$ref) ?? follow(value.$ref)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one)]))
  }
  const follow = (reference: string): Json => {
    const keys = reference.slice('#/'.length).split('/')
    const target = keys.reduce<unknown>((value, key) => Object(value)[key], document)
    if (target === undefined) throw new Error(`there is no ${reference}`)
    const resolved = resolve(target as Json) // part of a JSON document
    known.set(reference, resolved)
    return resolved
  }
  return resolve(document) as Document // of the same shape
}

/** Whatever there was must still be there; what became of it is told by `changes`. */
const each = <T>(
  before: Record<string, T> = {},
  after: Record<string, T> = {},
  changes: (name: string, was: T, is: T) => string[],
): string[] =>
  Object.entries(before).flatMap(([name, was]) => {
    const is = after[name]
    return is === undefined ? [`${name} is gone`] : changes(name, was, is)
  })

const operationsOf = ({ paths }: Document): Record<string, Operation> =>
  Object.fromEntries(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
    ),
  )

const operationChanges = (before: Operation, after: Operation): string[] => [
  ...(before.operationId === after.operationId
    ? []
    : [`operationId is ${after.operationId}, not ${before.operationId}`]),
  ...securityChanges(before.security, after.security),
  ...parameterChanges(before.parameters, after.parameters),
  ...bodyChanges(before.requestBody, after.requestBody),
  ...each(before.responses, after.responses, (status, was, is) =>
    responseChanges(was, is).map((one) => `${status}: ${one}`),
  ),
  ...Object.keys(after.responses)
    .filter((status) => status < '400' && !before.responses[status])
    .map((status) => `${status} is a new way to succeed`),
]

/** Who could call it can call it. */
const securityChanges = (before: Operation['security'], after: Operation['security']): string[] =>
  before
    .filter(
      (had) => !after.some((needs) => Object.entries(needs).every(([name, scopes]) => isWithin(scopes, had[name]))),
    )
    .map((had) => `${JSON.stringify(had)} does not suffice any more`)

const parameterChanges = (before: Parameter[] = [], after: Parameter[] = []): string[] => {
  const named = (parameters: Parameter[]) =>
    Object.fromEntries(parameters.map((one) => [`the ${one.in} parameter ${one.name}`, one]))
  const [had, has] = [named(before), named(after)]
  return [
    ...each(had, has, (name, was, is) => [
      ...(is.required && !was.required ? [`${name} is now required`] : []),
      ...schemaChanges(name, was.schema, is.schema, isWider),
    ]),
    ...Object.keys(has)
      .filter((name) => has[name]?.required && !had[name])
      .map((name) => `${name} is new and required`),
  ]
}

const bodyChanges = (before: Body | undefined, after: Body | undefined): string[] => {
  if (!before) return after?.required ? ['the body is new and required'] : []
  if (!after) return ['the body is gone']
  return [
    ...(after.required && !before.required ? ['the body is now required'] : []),
    ...each(before.content, after.content, (type, was, is) => schemaChanges(type, was.schema, is.schema, isWider)),
  ]
}

const responseChanges = (before: Response, after: Response): string[] => [
  ...each(before.headers, after.headers, (name, was, is) => [
    ...(was.required && !is.required ? [`${name} is no longer certain`] : []),
    ...schemaChanges(name, was.schema, is.schema, isNever),
  ]),
  ...each(before.content, after.content, (type, was, is) => schemaChanges(type, was.schema, is.schema, isNever)),
]

type Allowance = (keyword: string, was: Json | undefined, is: Json | undefined) => boolean

const schemaChanges = (place: string, before: Schema, after: Schema, isAllowed: Allowance): string[] => {
  if (isDeepStrictEqual(before, after)) return []
  const [had, has] = [partsOf(place, before), partsOf(place, after)]
  const keywords = new Set([...Object.keys(before), ...Object.keys(after)].filter((one) => !annotations.has(one)))
  return [
    ...each(had, has, (part, was, is) => schemaChanges(part, was, is, isAllowed)),
    ...Object.keys(has)
      .filter((part) => !had[part])
      .map((part) => `${part} is new`),
    ...[...keywords].flatMap((keyword) => {
      const [was, is] = [before[keyword], after[keyword]]
      if (isDeepStrictEqual(sorted(was), sorted(is)) || isAllowed(keyword, was, is)) return []
      return [`${place}: ${keyword} is ${JSON.stringify(is) ?? 'gone'}, was ${JSON.stringify(was) ?? 'not set'}`]
    }),
  ]
}

/** What says nothing about values, and what `partsOf` takes apart. */
const annotations = new Set(['title', 'description', 'examples', 'deprecated', 'properties', 'items', 'anyOf'])

const partsOf = (place: string, { properties, items, anyOf }: Schema): Record<string, Schema> =>
  Object.fromEntries([
    ...Object.entries((properties ?? {}) as Record<string, Schema>).map(([name, one]) => [`${place}.${name}`, one]),
    ...(items ? [[`${place}[]`, items]] : []),
    ...((anyOf ?? []) as Schema[]).map((one, index) => [`${place}|${index}`, one]),
  ])

/** The order of names does not matter. */
const sorted = (value: Json | undefined): Json | undefined => (Array.isArray(value) ? value.toSorted() : value)

/** What is returned stays to the letter. */
const isNever: Allowance = () => false

/** Whatever was accepted still is, and means the same. */
const isWider: Allowance = (keyword, was, is) => {
  if (is === undefined) return keyword !== 'default'
  if (was === undefined) return false
  if (/^max/.test(keyword)) return Number(is) >= Number(was)
  if (/^min/.test(keyword)) return Number(is) <= Number(was)
  if (keyword === 'type' || keyword === 'enum') return isWithin(was, is)
  return keyword === 'required' && isWithin(is, was)
}

const isWithin = (some: Json, all: Json | undefined): boolean =>
  all !== undefined && [some].flat().every((one) => [all].flat().includes(one))

const schemeChanges = (before: SecurityScheme, after: SecurityScheme): string[] => [
  ...(before.type === after.type && before.scheme === after.scheme ? [] : ['is of another kind']),
  ...each(before.flows, after.flows, (flow, was, is) => [
    ...(was.authorizationUrl === is.authorizationUrl && was.tokenUrl === is.tokenUrl ? [] : [`${flow} moved`]),
    ...each(was.scopes, is.scopes, () => []),
  ]),
]
