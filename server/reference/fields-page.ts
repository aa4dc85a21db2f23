import {
  changes,
  exportJobs,
  type Operation,
  Problem,
  ProblemPlace,
  type Resource,
  resources,
  titleOf,
} from '@masthead/contract'
import { code, link, pageOf, table } from './markdown.ts'
import { kinds, limitsOf, plain, type Schema, typeOf } from './schema-words.ts'

export const fieldsPage = (): string =>
  pageOf(
    '# Fields',
    '',
    'Responses always contain every field, in this order, and no others; a field that may be null says so. Bodies of v1 are frozen:',
    'additions are new paths, optional parameters and headers.',
    ...table(
      ['resource', 'record', 'other bodies'],
      all.map((resource) => [
        resource.name,
        link(titleOf(resource.record)),
        others(resource)
          .map(({ title = '' }) => link(title))
          .join(' '),
      ]),
    ),
    '',
    '## Kinds of values',
    ...table(
      ['kind', 'what it is'],
      Object.values(kinds).map(({ name, meaning }) => [name, meaning]),
    ),
    '',
    'Text is any Unicode except U+0000, is stored as sent, and is never trimmed.',
    ...all.flatMap((resource) => [
      '',
      `## ${titleOf(resource.record)}`,
      '',
      sentences(resource.description, usesOf(resource, 'response', resource.record)),
      ...fields(plain(resource.record)),
      ...others(resource).flatMap(({ title = '', use, ...schema }) => ['', `### ${title}`, '', use, ...fields(schema)]),
    ]),
    '',
    '## Problem',
    '',
    'The body of every response with a status of 400 or above: RFC 9457 problem details, as `application/problem+json`.',
    '[Problems](problems.md) explains each code.',
    ...fields(withoutCodes(plain(Problem))),
    '',
    '### ProblemPlace',
    '',
    `${plain(ProblemPlace).description} It has one of the first three, and the last two.`,
    ...fields(placeOf(plain(ProblemPlace))),
  )

const all = Object.values<Resource>({ ...resources, changes, exportJobs })

type Used = Schema & { use: string }

/** The schemas of a resource beside its record, in the order in which its operations use them. */
const others = (resource: Resource): Used[] => {
  const schemas = new Map<string, Used>()
  for (const { query, body, response, download } of Object.values(resource.operations)) {
    for (const [part, schema] of Object.entries({ body, response: download ? undefined : response })) {
      if (schema === undefined || schema === resource.record) continue
      const used = plain(query && part === 'response' ? pageWithout(schema, resource) : schema)
      schemas.set(titleOf(schema), { ...used, use: usesOf(resource, part as 'body' | 'response', schema) }) // as written above
    }
  }
  if (resource !== exportJobs) return [...schemas.values()]
  const records = all.map(({ record }) => titleOf(record))
  for (const schema of [plain(resource.record), ...schemas.values()].flatMap(titledWithin))
    if (!records.includes(titleOf(schema)))
      schemas.set(titleOf(schema), { ...schema, use: sentences(schema.description ?? '') })
  return [...schemas.values()]
}

/** What a body holds that has a name of its own. */
const titledWithin = ({ properties = {} }: Schema): Schema[] =>
  Object.values(properties)
    .flatMap((schema) => [schema, schema.items ?? []].flat())
    .flatMap((schema) => [...(schema.title === undefined ? [] : [schema]), ...titledWithin(schema)])

/** A page holds records, which are described where they belong. */
const pageWithout = (page: unknown, { record }: Resource): Schema => {
  const { properties = {}, ...rest } = plain(page)
  const { items = {}, ...others } = properties
  return { ...rest, properties: { items: { ...items, items: { title: titleOf(record) } }, ...others } }
}

const usesOf = ({ operations }: Resource, part: 'body' | 'response', schema: unknown): string => {
  const users = Object.entries(operations).filter(([, operation]: [string, Operation]) => operation[part] === schema)
  const verb = part === 'body' ? 'Accepted' : 'Returned'
  return users.length === 0 ? '' : `${verb} by ${users.map(([name]) => link(name, 'operations.md')).join(', ')}.`
}

const sentences = (...some: readonly string[]): string => some.filter(Boolean).join(' ')

const fields = ({ properties = {}, required = [] }: Schema): string[] => {
  const allRequired = Object.keys(properties).every((name) => required.includes(name))
  return table(
    ['field', 'type', ...(allRequired ? [] : ['required']), 'meaning'],
    Object.entries(properties).map(([name, schema]) => [
      code(name),
      schema.items?.title ? `array of ${link(schema.items.title)}` : typeOf(schema),
      ...(allRequired ? [] : [required.includes(name) ? 'yes' : '']),
      sentences(schema.description ?? '', ...limitsOf(schema)),
    ]),
  )
}

/** The codes have a page of their own. */
const withoutCodes = ({ properties = {}, ...problem }: Schema): Schema => {
  const { code: { enum: _codes, ...named } = {}, errors = {}, ...rest } = properties
  return {
    ...problem,
    properties: { ...rest, code: named, errors: { ...errors, items: { title: 'ProblemPlace' } } },
  }
}

const placeOf = ({ anyOf = [] }: Schema): Schema => ({
  properties: Object.assign({}, ...anyOf.map(({ properties }) => properties).reverse()),
  required: ['code', 'detail'],
})
