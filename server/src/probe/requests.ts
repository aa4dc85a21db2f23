import { randomBytes } from 'node:crypto'
import {
  exportJobs,
  type NamedOperation,
  type Operation,
  operations,
  type Resource,
  type ResourceName,
  resources,
  storedFieldsOf,
  traitsOf,
} from '@masthead/contract'
import { newId } from '../records/identifiers.ts'
import { type Canary, canaryDomain, namesOf, type Twins } from './canaries.ts'
import type { LiveOperation, LiveParameter, LiveSchema } from './live-document.ts'
import { canaryFile } from './queries.ts'

/** The parameters and body of a request, by the names of the document. */
export type Filling = {
  path: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
  headers: Readonly<Record<string, string>>
  body: Readonly<Record<string, unknown>> | null
}

/** Requests for records of the other tenant, and for one that exists nowhere: all must get the same response. */
export type Attempt = { theirs: Filling[]; nowhere: Filling }

/** What the other tenant got when it sent the plain request. */
export type Observed = { tag?: string | undefined; cursor?: string | undefined; key?: string | undefined }

/** Where a request names something. */
type Naming = { in: 'path' | 'query' | 'body'; name: string; theirs: (other: Canary) => string[] }

/** How to call an operation, as far as its document and the contract of this program tell. */
export type Plan = {
  operation: LiveOperation
  /** Names the twins, so that it is the same for both canaries and succeeds for each. */
  plain: Filling
  /** Further requests that show a caller nothing but its own. */
  further: Filling[]
  namings: Naming[]
  headers: ReadonlySet<string>
  /** The parameter that takes a cursor. */
  cursorName: string | null
  /** What the probe does not know how to fill in. */
  unknown: string[]
}

const knownHeaders: readonly string[] = [
  'If-None-Match',
  'If-Match',
  'Idempotency-Key',
  'Last-Event-ID',
  'Range',
  'If-Range',
]

export const planOf = (operation: LiveOperation, twins: Twins, word: string): Plan => {
  const parametersIn = (where: string) => operation.parameters.filter((parameter) => parameter.in === where)
  const [inQuery, inHeaders] = [parametersIn('query'), parametersIn('header')]
  const unknown = operation.parameters
    .filter((parameter) => !isKnown(parameter, operation))
    .map(({ name, in: where }) => `the ${where} parameter ${name}`)

  const known = knownBy(operation)
  const path: Record<string, string> = {}
  const namings: Naming[] = []
  const refer = (where: 'path' | 'body', name: string, resource: ResourceName) =>
    namings.push({ in: where, name, theirs: (other) => identifiersIn(other, resource) })
  for (const [, name = ''] of operation.path.matchAll(/\{(\w+)\}/g)) {
    if (known?.resource.name === exportJobs.name) {
      const isFile = name === 'fileName'
      const id = operation.method === 'DELETE' ? twins.exports.deleted : twins.exports.kept
      path[name] = isFile ? canaryFile : id
      if (!isFile) namings.push({ in: 'path', name, theirs: (other) => [...other.exports] })
    } else if (known) {
      const resource = known.resource.name as ResourceName // an operation of the contract belongs to one
      path[name] = twins[resource].id
      refer('path', name, resource)
    } else unknown.push(`the path parameter ${name}`)
  }
  for (const parameter of inQuery) {
    const theirs = valuesOf(parameter, operation)
    if (theirs) namings.push({ in: 'query', name: parameter.name, theirs })
  }
  const body: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(operation.body ?? {})) {
    const resource = referenceIn(known?.operation.body, name)
    if (resource) refer('body', name, resource)
    const isKnown = Object.hasOwn(known?.operation.body?.properties ?? {}, name)
    const isEmail = traitsIn(known?.operation.body, name)?.content === 'email'
    const sample = isKnown ? sampleOf(schema, isEmail ? `${word}@${canaryDomain}` : word) : undefined
    body[name] = resource ? (twins[resource].businessIdentifier ?? twins[resource].id) : sample
    if (body[name] === undefined) unknown.push(`the property ${name} of the body`)
  }

  const size = inQuery.find(({ name }) => name === 'pageSize' || name === 'limit')
  // Those that show more. Others would leave out records that the caller may see.
  const { listing }: Partial<Resource> = known?.resource ?? {}
  const flags = inQuery.flatMap(({ name }) =>
    Object.hasOwn(listing?.leftOutUnless ?? {}, name) ? [[name, 'true']] : [],
  )
  const query = { ...Object.fromEntries(flags), ...(size && { [size.name]: String(size.schema.maximum ?? 1) }) }
  const plain = { path, query, headers: {}, body: operation.body && body }
  return {
    operation,
    plain,
    namings,
    unknown,
    headers: new Set(inHeaders.map(({ name }) => name)),
    further:
      size?.name === 'pageSize' ? [{}, { pageSize: '1', page: '2' }].map((other) => ({ ...plain, query: other })) : [],
    cursorName: inQuery.find(({ name }) => name === 'cursor' || name === 'after')?.name ?? null,
  }
}

/** Unknown parameters are reported instead of left out. */
const isKnown = (parameter: LiveParameter, operation: LiveOperation): boolean => {
  const { name, in: where, schema } = parameter
  // The path itself names its parameters.
  if (where === 'path') return true
  if (where === 'header') return knownHeaders.includes(name)
  if (where !== 'query') return false
  const isPaging = ['page', 'pageSize', 'cursor', 'after', 'limit', 'wait', 'resources', 'sort'].includes(name)
  // Days and instants name no record.
  const isRange = schema.format !== undefined && comparedBy(operation, name) !== undefined
  return isPaging || isRange || schema.type === 'boolean' || valuesOf(parameter, operation) !== null
}

const knownBy = ({ name }: LiveOperation): NamedOperation | undefined => operations.find((one) => one.name === name)

/** What the contract says of a property or parameter. */
const traitsIn = (schema: Operation['body'], name: string) => {
  const property = schema?.properties[name]
  return property && traitsOf(property)
}

/** The field that a parameter of a list compares with its value. */
const comparedBy = (operation: LiveOperation, name: string): string | undefined =>
  traitsIn(knownBy(operation)?.operation.query, name)?.compares?.field

/** The resource whose record a property or parameter names. */
const referenceIn = (schema: Operation['body'], name: string): ResourceName | undefined =>
  traitsIn(schema, name)?.reference as ResourceName | undefined // a test holds it to the names

const identifiersIn = ({ records }: Canary, resource: ResourceName): string[] =>
  records[resource].flatMap((record) => {
    const { id, businessIdentifier } = namesOf(resource, record)
    return businessIdentifier === null ? [id] : [id, businessIdentifier]
  })

/** Values of a query parameter that could find records of the other tenant. */
const valuesOf = ({ name, schema }: LiveParameter, operation: LiveOperation): Naming['theirs'] | null => {
  if (schema.type !== 'string') return null
  const referred = referenceIn(knownBy(operation)?.operation.query, name)
  if (referred) return (other) => identifiersIn(other, referred).slice(0, 2)
  if (name === 'search') return ({ mark }) => [mark, `${mark}-1`]
  const resource = Object.values(resources).find((one) => operation.path === `/${one.name}`)
  if (!resource) return null
  if (name === 'ids') return (other) => identifiersIn(other, resource.name).slice(0, 2)
  const field = comparedBy(operation, name) ?? name
  if (schema.format !== undefined || !storedFieldsOf(resource.name).some((one) => one.name === field)) return null
  return ({ records }) => records[resource.name].slice(0, 1).map((record) => String(record[field]))
}

/** Returns undefined for types that the probe does not know. */
const sampleOf = ({ type, format, enum: choices, maxLength }: LiveSchema, word: string): unknown => {
  const types = [type].flat()
  if (choices) return choices[0]
  if (types.includes('boolean')) return false
  if (!types.includes('string')) return undefined
  if (format === 'date') return '2030-01-02'
  // A value would delete the record.
  if (format === 'date-time') return types.includes('null') ? null : undefined
  return format === undefined ? word.slice(0, maxLength) : undefined
}

/** The attempts of one canary to reach records of the other. `nowhere` is a mark that nobody has. */
export const attemptsOf = (plan: Plan, other: Canary, observed: Observed, nowhere: string): Attempt[] => {
  const { plain, namings, headers, cursorName } = plan
  const absent = (value: string) => (value.startsWith(other.mark) ? value.replace(other.mark, nowhere) : newId())
  const put = (naming: Pick<Naming, 'in' | 'name'>, value: string): Filling => ({
    ...plain,
    [naming.in]: { ...plain[naming.in], [naming.name]: value },
  })
  const attempts = namings.flatMap((naming) => {
    const forms = Map.groupBy(naming.theirs(other), (value) => value.startsWith(other.mark))
    return [...forms.values()].map((values) => ({
      theirs: values.map((value) => put(naming, value)),
      nowhere: put(naming, absent(values[0] ?? '')),
    }))
  })
  const add = (name: string, theirs: Filling, nobodys: Filling, theirValue: string, nobodysValue = theirValue) =>
    attempts.push({ theirs: [withHeader(theirs, name, theirValue)], nowhere: withHeader(nobodys, name, nobodysValue) })
  const inPath = namings.find((naming) => naming.in === 'path')
  const [theirId = ''] = inPath?.theirs(other) ?? []
  for (const name of ['If-None-Match', 'If-Match'].filter((one) => headers.has(one))) {
    if (inPath) add(name, put(inPath, theirId), put(inPath, absent(theirId)), '*')
    if (inPath && observed.tag) add(name, put(inPath, theirId), put(inPath, absent(theirId)), observed.tag)
    if (observed.tag) add(name, plain, plain, observed.tag, `"${randomBytes(20).toString('base64url')}"`)
  }
  if (observed.key) add('Idempotency-Key', plain, plain, observed.key, `probe-${newId()}`)
  if (observed.cursor && cursorName !== null) {
    const forged = randomBytes(Buffer.from(observed.cursor, 'base64url').length).toString('base64url')
    const at = (cursor: string): Filling => ({ ...plain, query: { [cursorName]: cursor } })
    attempts.push({ theirs: [at(observed.cursor)], nowhere: at(forged) })
  }
  return attempts
}

const withHeader = (filling: Filling, name: string, value: string): Filling => ({
  ...filling,
  headers: { ...filling.headers, [name]: value },
})

/** The path and query of a request, below the base path. */
export const addressOf = ({ path }: LiveOperation, filling: Filling): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(filling.path[name] ?? ''))
  const query = new URLSearchParams(filling.query).toString()
  return query === '' ? filled : `${filled}?${query}`
}
