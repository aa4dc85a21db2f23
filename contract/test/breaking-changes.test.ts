import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { breakingChanges, type Document } from './breaking-changes.ts'

const read = async (path: string): Promise<Document> =>
  JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8'))
const current = await read('../src/openapi.json')

test('nothing that was released is broken', async () => {
  // A release copies `src/openapi.json` here, and with it what was added; nothing else does.
  const released = await read('../released.json')
  const broken = breakingChanges(released, current)
  const cure = `v1 is frozen: leave this as it was, and bring what you need as a new path, an optional parameter or a
header of an answer; what cannot be had so begins /customer-api/v2.`
  assert.deepEqual(broken, [], `The change breaks those who use v1:\n${broken.join('\n')}\n\n${cure}`)
})

/** Today's document with something else at one place, given by its keys; undefined takes it away. */
const changed = (place: string, value: unknown): Document => {
  const document = structuredClone(current)
  const keys = place.split(' ')
  const last = keys.pop() ?? ''
  const holder = keys.reduce<unknown>((one, key) => Reflect.get(Object(one), key), document)
  assert.ok(typeof holder === 'object' && holder !== null, `there is no ${place}`)
  if (value === undefined) assert.ok(Reflect.has(holder, last) && Reflect.deleteProperty(holder, last))
  else Reflect.set(holder, last, value)
  return document
}

const list = 'paths /contacts get'
const create = 'paths /contacts post'
const contact = 'components schemas Contact'
const input = 'components schemas ContactInput'
const problem = 'components schemas Problem properties'
const scopes = 'components securitySchemes oauth2 flows authorizationCode scopes'
const parameters = current.paths['/contacts']?.get?.parameters ?? []
const [, pageSize] = parameters
const more = parameters.length
assert.equal(pageSize?.name, 'pageSize')

const text = { type: 'string' }
const region = { name: 'region', in: 'query', schema: text }
const header = { name: 'X-Region', in: 'header', schema: text }

describe('a break of v1 is found where', () => {
  const breaks: Record<string, [place: string, value: unknown, told: string]> = {
    'a path is gone': ['paths /contacts', undefined, 'GET /contacts is gone'],
    'an operation is gone': [create, undefined, 'POST /contacts is gone'],
    'an operation has another name': [`${list} operationId`, 'X', 'GET /contacts: operationId is X, not GetContacts'],
    'the base path is another': ['servers 0 url', '/v2', 'the base path is another'],
    'a status is gone': [`${list} responses 304`, undefined, 'GET /contacts: 304 is gone'],
    'a success is new': [`${list} responses 202`, {}, 'GET /contacts: 202 is a new way to succeed'],
    'an answer has another type': [`${list} responses 200 content`, {}, 'GET /contacts: 200: application/json is gone'],
    'a header is gone': [`${list} responses 200 headers Link`, undefined, 'GET /contacts: 200: Link is gone'],
    'a header is no longer certain': ['components headers Link required', false, '200: Link is no longer certain'],
    'a header is retyped': ['components headers Link schema type', 'integer', '200: Link: type is "integer"'],
    'an answer lacks a property': [`${contact} properties phone`, undefined, '201: application/json.phone is gone'],
    'an answer has a new property': [`${contact} properties fax`, text, '200: application/json.items[].fax is new'],
    'a property is retyped': [`${contact} properties id type`, 'integer', 'json.id: type is "integer", was "string"'],
    'a property may be null': [
      `${contact} properties id type`,
      ['string', 'null'],
      'json.id: type is ["string","null"]',
    ],
    'a property has another format': [`${contact} properties id format`, undefined, 'json.id: format is gone'],
    'a property may be absent': [`${contact} required`, ['id'], '201: application/json: required is ["id"], was ['],
    'a value is new': [`${problem} code enum 0`, 'bored', '400: application/problem+json.code: enum is ["bored",'],
    'one of several shapes changes': [
      `${problem} errors items anyOf 0 properties pointer type`,
      'integer',
      'problem+json.errors[]|0.pointer: type is "integer", was "string"',
    ],
    'a parameter is gone': [`${list} parameters 1`, region, 'the query parameter pageSize is gone'],
    'a parameter is now required': [`${list} parameters 1 required`, true, 'parameter pageSize is now required'],
    'a required parameter is new': [
      `${list} parameters ${more}`,
      { ...region, required: true },
      'GET /contacts: the query parameter region is new and required',
    ],
    'a required header is new': [
      `${create} parameters 1`,
      { ...header, required: true },
      'POST /contacts: the header parameter X-Region is new and required',
    ],
    'a parameter accepts less': [`${list} parameters 1 schema maximum`, 9, 'pageSize: maximum is 9, was 200'],
    'a parameter has a new limit': [`${list} parameters 2 schema maxLength`, 9, 'maxLength is 9, was not set'],
    'a parameter has another default': [`${list} parameters 1 schema default`, 9, 'pageSize: default is 9, was 50'],
    'a body is new and required': [`${list} requestBody`, { required: true }, 'the body is new and required'],
    'a body is gone': [`${create} requestBody`, undefined, 'POST /contacts: the body is gone'],
    'a body is taken in fewer types': [
      'paths /contacts/{contactId} patch requestBody content application/merge-patch+json',
      undefined,
      'PATCH /contacts/{contactId}: application/merge-patch+json is gone',
    ],
    'a body needs a property': [`${input} required`, ['accountId', 'name'], 'required is ["accountId","name"], was'],
    'a body lacks a property': [
      `${input} properties notes`,
      undefined,
      'POST /contacts: application/json.notes is gone',
    ],
    'a body has a new property': [`${input} properties fax`, text, 'POST /contacts: application/json.fax is new'],
    'a body accepts less': [`${input} properties name maxLength`, 9, 'json.name: maxLength is 9, was 255'],
    'a body accepts null no more': [`${input} properties name type`, 'string', 'json.name: type is "string", was ["s'],
    'another scope is needed': [
      `${list} security 0 personalAccessToken 0`,
      'contacts:write',
      'GET /contacts: {"personalAccessToken":["contacts:read"]} does not suffice any more',
    ],
    'one more scope is needed': [
      `${list} security 0 personalAccessToken 1`,
      'accounts:read',
      'GET /contacts: {"personalAccessToken":["contacts:read"]} does not suffice any more',
    ],
    'a kind of token is refused': [
      `${list} security 2`,
      { other: [] },
      '{"oauth2":["service-api/contacts:read"]} does',
    ],
    'a scope is gone': [`${scopes} service-api/contacts:read`, undefined, 'oauth2: service-api/contacts:read is gone'],
    'a security scheme is another': ['components securitySchemes oauth2 type', 'http', 'oauth2: is of another kind'],
  }
  for (const [what, [place, value, told]] of Object.entries(breaks))
    test(what, () => {
      const found = breakingChanges(current, changed(place, value))
      assert.ok(
        found.some((one) => one.includes(told)),
        `${told}\nis not among\n${found.join('\n')}`,
      )
    })

  test('a schema has another name, by which generated types go', () => {
    const renamed = JSON.stringify(current).replaceAll('"Contact":', '"Person":').replaceAll('/Contact"', '/Person"')
    assert.deepEqual(breakingChanges(current, JSON.parse(renamed)), ['Contact is gone'])
  })
})

describe('v1 is not broken where', () => {
  const names = [current.components.schemas.Contact?.required ?? []].flat()
  const additions: Record<string, [place: string, value: unknown]> = {
    'a path is new': ['paths /notes', { get: current.paths['/contacts']?.get }],
    'an operation is new': ['paths /contacts put', current.paths['/contacts']?.post],
    'an optional parameter is new': [`${list} parameters ${more}`, region],
    'an optional header is new': [`${create} parameters 1`, header],
    'an answer has a new header': [`${list} responses 200 headers Sunset`, { schema: text }],
    'a refusal is new': [`${list} responses 451`, { description: 'No.' }],
    'a parameter accepts more': [`${list} parameters 1 schema maximum`, 500],
    'a body accepts more': [`${input} properties name maxLength`, 500],
    'a body needs less': [`${input} required`, []],
    'another kind of token is taken': [`${list} security 3`, { other: [] }],
    'a scope is new': [`${scopes} service-api/notes:read`, 'Read notes'],
    'something is said in other words': [`${contact} properties name description`, 'The name.'],
    'names stand in another order': [`${contact} required`, names.toReversed()],
  }
  for (const [what, [place, value]] of Object.entries(additions))
    test(what, () => {
      const document = changed(place, value)
      assert.notDeepEqual(document, current)
      assert.deepEqual(breakingChanges(current, document), [])
    })
})
