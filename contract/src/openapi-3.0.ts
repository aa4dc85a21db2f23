import { openapi } from './openapi.ts'
import { pageNumbers, titleOf } from './operation.ts'
import { fieldsOf } from './record-fields.ts'
import { resourceNames, resources } from './resources.ts'
import type { Json } from './schema.ts'
import { basePath } from './version.ts'

type Members = { [key: string]: Json }

/**
 * The document in OpenAPI 3.0.3, for generators of clients that know no later version: null is no type of its own there, a constant is
 * a choice of one, nothing stands beside a reference, and only OAuth names scopes. Whole numbers are integers of a size, and the address
 * is absolute. Where generators stumble over what is right, it says less.
 */
export const openapi30 = (baseUrl: string): Json => {
  const { webhooks: _webhooks, info, components, ...document } = openapi() as Members // as it is made there
  const { summary: _summary, ...rest } = info as Members // it is an object
  const { schemas, ...others } = JSON.parse(
    JSON.stringify(components, (name, value) => (/^(authorization|token)Url$/.test(name) ? baseUrl + value : value)),
  )
  return {
    ...olderMembers(document),
    openapi: '3.0.3',
    info: { ...rest, license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' } },
    servers: [{ url: baseUrl + basePath }],
    components: {
      ...olderMembers(others),
      schemas: olderMembers(withWholeNumbers(usedIn(document, schemas))),
    },
  }
}

const cents = new Map<string, string[]>(
  resourceNames.map((name) => [
    titleOf(resources[name].record),
    fieldsOf(name).flatMap(({ name, centsOf }) => (centsOf === null ? [] : [name])),
  ]),
)

/** Those of which v1 says no more than that they are numbers. */
const withWholeNumbers = (schemas: Members): Members =>
  Object.fromEntries(
    Object.entries(schemas).map(([title, schema]) => {
      const { properties = {}, ...rest } = schema as { properties?: { [name: string]: Members } } // of an object
      const isPage = pageNumbers.every((name) => name in properties)
      const whole = [...(isPage ? pageNumbers : []), ...(cents.get(title) ?? [])]
      const changed = Object.fromEntries(whole.map((name) => [name, { ...properties[name], multipleOf: 1 }]))
      return [title, whole.length === 0 ? schema : { ...rest, properties: { ...properties, ...changed } }]
    }),
  )

/** Not those of webhooks, which this version has no place for. */
const usedIn = (document: Members, schemas: Members): Members => {
  const used = new Set<string>()
  const look = (value: Json): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      look(schemas[name] ?? null)
    }
  }
  look(document)
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)))
}

const older = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(older)
  return value !== null && typeof value === 'object' ? olderMembers(value) : value
}

const olderMembers = ({ properties, security, ...members }: Members): Members => {
  const renewed = Object.fromEntries(Object.entries(members).map(([name, value]) => [name, older(value)]))
  const schema = changes.reduce((one, change) => change(one), renewed)
  if (Array.isArray(security)) schema.security = security.map((one) => scopesOfOAuth(one as Members)) // scopes by scheme
  const named = properties as Members | undefined // schemas by name, and names are no keywords
  return named === undefined
    ? schema
    : { ...schema, properties: Object.fromEntries(Object.entries(named).map(([name, value]) => [name, older(value)])) }
}

const withoutNull = ({ type, anyOf, ...schema }: Members): Members => {
  if (Array.isArray(type)) return { type: type.find((one) => one !== 'null') ?? null, ...schema, nullable: true }
  if (!Array.isArray(anyOf)) return type === undefined ? schema : { type, ...schema }
  const others = anyOf.filter((one) => (one as Members).type !== 'null') // choices are schemas
  // Only records are left out for null.
  return { ...schema, anyOf: others, ...(others.length < anyOf.length && { type: 'object', nullable: true }) }
}

const withoutConstants = ({ const: constant, anyOf, ...schema }: Members): Members => {
  if (constant !== undefined) return { ...schema, enum: [constant] }
  if (!Array.isArray(anyOf)) return schema
  const choices = anyOf.map((one) => (one as Members).enum) // choices are schemas
  return choices.every(Array.isArray) ? { type: 'string', ...schema, enum: choices.flat() } : { ...schema, anyOf }
}

/**
 * A choice between records becomes any object: what tells them apart stands outside of them, where a `discriminator` cannot look. One
 * between other objects becomes an object with the properties of all.
 */
const withoutChoices = ({ anyOf, ...schema }: Members): Members => {
  if (!Array.isArray(anyOf)) return schema
  const objects = anyOf as { properties?: Members; required?: string[] }[] // what is left of choices
  if (objects.some(({ properties }) => properties === undefined)) return { ...schema, type: 'object' }
  const [{ required = [] } = {}, ...others] = objects
  return {
    ...schema,
    type: 'object',
    additionalProperties: false,
    required: required.filter((name) => others.every((one) => one.required?.includes(name))),
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
  }
}

/** Clients in Python also measure a null, and fail, where the text has a limit. */
const withoutLimits = (schema: Members): Members => {
  if (schema.nullable !== true) return schema
  const { pattern: _pattern, minLength = 0, maxLength, ...rest } = schema
  if (maxLength === undefined) return rest
  return { ...rest, description: `${rest.description} ${minLength} to ${maxLength} characters.` }
}

const withSize = ({ multipleOf, ...schema }: Members): Members => {
  const { type, maximum } = schema
  if (type !== 'integer' && !(type === 'number' && multipleOf === 1)) return schema
  return { ...schema, type: 'integer', format: typeof maximum === 'number' && maximum < 2 ** 31 ? 'int32' : 'int64' }
}

const withNothingBeside = ({ $ref, ...schema }: Members): Members => {
  if (typeof $ref !== 'string') return schema
  return Object.keys(schema).length > 0 ? { ...schema, allOf: [{ $ref }] } : { $ref }
}

/** Clients return no body where it has no schema. */
const withBytes = ({ content, ...members }: Members): Members =>
  content === undefined
    ? members
    : {
        ...members,
        content: Object.fromEntries(
          // What it holds, by media type.
          Object.entries(content as { [type: string]: Members }).map(([type, one]) => [
            type,
            { schema: { type: 'string', format: 'binary' }, ...one },
          ]),
        ),
      }

/** Clients in Python write the booleans of a query as `True` and `False`, which the service refuses. */
const withWrittenBooleans = (parameter: Members): Members => {
  const { in: place, schema } = parameter as { in?: string; schema?: Members } // of a parameter
  if (place !== 'query' || schema?.type !== 'boolean') return parameter
  return { ...parameter, schema: { ...schema, type: 'string', enum: ['true', 'false'] } }
}

const changes = [
  withoutNull,
  withoutConstants,
  withoutChoices,
  withoutLimits,
  withSize,
  withNothingBeside,
  withBytes,
  withWrittenBooleans,
]

const scopesOfOAuth = (requirement: Members): Members =>
  Object.fromEntries(Object.entries(requirement).map(([scheme, scopes]) => [scheme, scheme === 'oauth2' ? scopes : []]))
