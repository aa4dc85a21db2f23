import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openapi, openapi30 } from '../src/index.ts'

type Schema = Readonly<Record<string, unknown>>
type Parameter = { name: string; schema: Schema }

/** What generators of clients for Python and Go stumbled over; `npm run test:clients` runs them. */
describe('the document in OpenAPI 3.0', () => {
  const text = JSON.stringify(openapi30('https://api.gazette.test'))
  const { components, paths } = JSON.parse(text)
  const { Problem, Change, ContactInput, ...others } = components.schemas

  test('leaves no choice between schemas, for which generators name a type that they do not write', () => {
    assert.doesNotMatch(text, /"(any|one)Of"/)
  })

  test('has one object for a choice between objects, with what all of them require', () => {
    const { required, properties } = Problem.properties.errors.items
    assert.deepEqual(required, ['code', 'detail'])
    assert.deepEqual(Object.keys(properties).sort(), ['code', 'detail', 'header', 'parameter', 'pointer'])
  })

  test('has any object for a choice between records', () => {
    const { description: _description, ...record } = Change.properties.record
    assert.deepEqual(record, { type: 'object', nullable: true })
  })

  test('limits no text that may be null, and says how long it may be', () => {
    const all: { properties: Record<string, Schema> }[] = [ContactInput, ...Object.values(others)]
    const limited = all
      .flatMap(({ properties }) => Object.values(properties))
      .filter((one) => 'pattern' in one || 'minLength' in one || 'maxLength' in one)
    assert.ok(limited.length > 0 && limited.every(({ nullable }) => nullable === undefined))
    assert.equal(ContactInput.properties.firstName.description, 'First name. 0 to 255 characters.')
  })

  test('says that files are bytes, as clients return no body without a schema', () => {
    const { content } = paths['/exports/{exportId}/files/{fileName}'].get.responses[200]
    assert.deepEqual(content['text/csv'], { schema: { type: 'string', format: 'binary' } })
  })

  test('has texts for the booleans of queries, which clients in Python would write as `True`', () => {
    const parametersOf = (all: Record<string, { get?: { parameters: Parameter[] } }>): Parameter[] =>
      Object.values(all).flatMap(({ get }) => get?.parameters ?? [])
    const later = parametersOf(JSON.parse(JSON.stringify(openapi())).paths)
    const names = later.filter(({ schema }) => schema.type === 'boolean').map(({ name }) => name)
    const texts = parametersOf(paths).filter(({ schema }) => String(schema.enum) === 'true,false')
    assert.ok(names.includes('overdue'))
    assert.deepEqual(
      texts.map(({ name, schema }) => [name, schema.type]),
      names.map((name) => [name, 'string']),
    )
  })
})
