import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startService } from '../../server/test/service.ts'
import released from '../released.json' with { type: 'json' }
import {
  fieldOf,
  fieldsOf,
  identifiersOf,
  type KeyForm,
  type Kind,
  listedNames,
  operations,
  predecessorOf,
  type Resource,
  type ResourceName,
  resourceNames,
  resources,
  storedFieldsOf,
  traitsOf,
} from '../src/index.ts'

/** What every table of records has beside the fields of its resource. */
const machinery = ['tenant_id', 'position', 'version', 'class', 'body', 'import_id']

const sqlTypes: Record<Kind, string> = {
  text: 'text',
  uuid: 'uuid',
  date: 'date',
  timestamp: 'timestamp with time zone',
  money: 'numeric',
  integer: 'bigint',
  number: 'numeric',
  boolean: 'boolean',
}

const keyTypes: Record<KeyForm, string> = { lowerCase: 'text', name: 'text', cents: 'bigint', whole: 'bigint' }

type Column = { name: string; type: string; isNullable: boolean }

describe('the stored fields of a resource', async () => {
  const service = await startService()
  const columnsOf = async (table: string): Promise<Column[]> => {
    const { rows } = await service.owner.query<Column>(
      `select column_name as name, data_type as type, is_nullable = 'YES' as "isNullable"
        from information_schema.columns where table_schema = 'public' and table_name = $1`,
      [table],
    )
    return rows.filter(({ name }) => !machinery.includes(name))
  }
  const byName = (columns: Column[]): Column[] => columns.sort((one, other) => (one.name < other.name ? -1 : 1))

  for (const resource of resourceNames) {
    test(`are the columns of the table ${resource}`, async () => {
      const promised = storedFieldsOf(resource).flatMap(({ column, keyColumn, keyForm, kind, isNullable }) => [
        { name: column, type: sqlTypes[kind], isNullable },
        ...(keyColumn && keyForm ? [{ name: keyColumn, type: keyTypes[keyForm], isNullable }] : []),
      ])
      assert.deepEqual(byName(await columnsOf(resource)), byName(promised))
    })
  }
})

describe('a reference', () => {
  const isName = (name: string): name is ResourceName => Object.hasOwn(resources, name)

  test('of a record leads to its predecessor or to a resource that comes before it', () => {
    for (const [index, resource] of resourceNames.entries()) {
      const predecessor = predecessorOf(resource)
      for (const { name, reference } of fieldsOf(resource)) {
        const led = name === predecessor?.name ? [resource] : resourceNames.slice(0, index)
        if (reference) assert.ok(led.includes(reference), `${resource}.${name}`)
      }
      if (predecessor) assert.equal(identifiersOf(resource).canonical.name, 'id')
    }
  })

  test('leads to records that can be named by two identifiers', () => {
    const referred = new Set(
      resourceNames.flatMap((name) => fieldsOf(name).flatMap(({ reference }) => reference ?? [])),
    )
    for (const name of referred) assert.ok((resources[name] as Resource).businessIdentifier, name)
  })

  const given = operations.flatMap(({ name, operation: { query, body } }) =>
    Object.entries({ ...query?.properties, ...body?.properties }).map(([property, schema]) => ({
      name,
      property,
      reference: traitsOf(schema).reference,
    })),
  )

  test('of a request leads to a resource', () => {
    for (const { name, property, reference } of given) {
      if (reference !== undefined) assert.ok(isName(reference), `${name} ${property}`)
    }
  })

  test('is said of everything that is called an identifier, but for those of other systems', () => {
    const ofOthers = ['externalId', 'issueId', 'ownerId', 'userId']
    const fields = resourceNames.flatMap((resource) =>
      fieldsOf(resource)
        .filter(({ isIdentifier }) => !isIdentifier)
        .map(({ name, reference }) => ({ name: resource, property: name, reference: reference ?? undefined })),
    )
    for (const { name, property, reference } of [...given, ...fields]) {
      if (property.endsWith('Id') && !ofOthers.includes(property)) assert.ok(reference, `${name} ${property}`)
    }
  })
})

test('a list has the place that it was released with', () => {
  const places = released.components.schemas.Change.properties.resource.enum
  assert.deepEqual(listedNames.slice(0, places.length), places)
})

test('what a resource says of its fields names fields that it has', () => {
  for (const resource of resourceNames) {
    const { listing, openness, businessIdentifier, canonicalIdentifier, importKey }: Resource = resources[resource]
    const told = Object.values({ ...listing?.leftOutUnless, ...listing?.onlyWithout })
    const named = [listing?.filters, told, listing?.search, openness?.field].flat()
    const known = fieldsOf(resource).map(({ name }) => name)
    for (const name of [...named, businessIdentifier, canonicalIdentifier, importKey]) {
      if (name !== undefined) assert.ok(known.includes(name), `${resource} ${name}`)
    }
    if (openness)
      for (const status of openness.open) assert.ok(fieldOf(resource, openness.status).known.includes(status))
  }
})

test('nothing that the contract says of storage reaches the JSON of a schema', () => {
  for (const { record } of Object.values<Resource>(resources)) {
    for (const schema of Object.values(record.properties)) {
      const known = ['type', 'description', 'format', 'pattern', 'anyOf']
      assert.deepEqual(
        Object.keys(JSON.parse(JSON.stringify(schema))).filter((key) => !known.includes(key)),
        [],
      )
    }
  }
})
