import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import {
  exportJobs,
  type Field,
  fieldOf,
  identifiersOf,
  importKeyOf,
  type KeyForm,
  operations,
  type ResourceName,
  resourceNames,
  storedFieldsOf,
} from '@masthead/contract'
import pg from 'pg'
import { until } from '../../../test/processes/masthead-process.ts'
import { importer, newFolder } from '../../../test/records/import-files.ts'
import { addSamples } from '../../../test/records/populated-tenant.ts'
import { assertTenantTallies } from '../../../test/records/tallies.ts'
import { type CallResponse, startService, type TestTenant, waitsForLocks } from '../../../test/service.ts'
import { newId } from '../identifiers.ts'
import { searchedText } from '../normalising.ts'
import type { Fields } from '../stored-record.ts'
import { tables } from '../tables.ts'

const service = await startService()

type Version = 1 | 2
type World = { tenant: TestTenant; token: string; referred: Record<Version, ReadonlyMap<ResourceName, Fields>> }

/** A tenant with two records of everything that a field can refer to, one for each version of a record. */
const newWorld = async (): Promise<World> => {
  const tenant = await service.newTenant()
  const referred = { 1: await addSamples(tenant, ['Former']), 2: await addSamples(tenant, ['Latter']) }
  return { tenant, token: await tenant.serviceToken(), referred }
}

/** What differs from that of every other field of the record and from that of its other version, as far as the kind allows. */
const distinctValue = ({ referred }: World, resource: ResourceName, field: Field, version: Version): unknown => {
  const { name, kind, content, reference, choices } = field
  const number = storedFieldsOf(resource).indexOf(field) + 1
  if (reference) return referred[version].get(reference)?.[identifiersOf(reference).canonical.name]
  if (choices.length > 0) return choices[version % choices.length]
  if (content === 'email') return `${name}-${version}@example.com`
  const values = {
    text: `${name} Ü${version}`,
    uuid: newId(),
    date: `200${version}-01-${String(number).padStart(2, '0')}`,
    timestamp: `200${version}-01-02T03:04:05.${100 + number}Z`,
    money: `${number}.${version}0`,
    integer: `${number}${version}`,
    number: version - 1,
    boolean: (number + version) % 2 === 0,
  }
  return values[kind]
}

const recordOf = (world: World, resource: ResourceName, version: Version): Fields =>
  Object.fromEntries(
    storedFieldsOf(resource).map((field) => [field.name, distinctValue(world, resource, field, version)]),
  )

/** The values of this test in the forms that filters and sorting compare. */
const keys: Record<KeyForm, (text: string) => string> = {
  lowerCase: (text) => text.toLowerCase(),
  name: (text) => text.toLowerCase().replaceAll('ü', 'u'),
  cents: (text) => text.replace('.', ''),
  whole: (text) => text,
}

/** By column, as texts: what a record that was given so must hold. */
const columnsOf = (resource: ResourceName, fields: Fields, importId: string | null): Record<string, string | null> => {
  const columns = storedFieldsOf(resource).flatMap(({ name, column, keyColumn, keyForm, kind }) => {
    const text = inOneForm(kind, fields[name])
    const key = text === null || !keyForm ? null : keys[keyForm](text)
    return [[column, text], ...(keyColumn ? [[keyColumn, key]] : [])]
  })
  const { search } = tables[resource].listing
  const searched = search.map((field) => fields[field]).filter((value) => typeof value === 'string')
  const searchText = search.length > 0 ? searchedText(searched.join(' ')) : null
  return { ...Object.fromEntries(columns), import_id: importId, search_text: searchText }
}

const inOneForm = (kind: Field['kind'], value: unknown): string | null => {
  if (value === null || value === undefined) return null
  return kind === 'timestamp' ? new Date(String(value)).toISOString() : String(value)
}

/** Reads the columns one by one, and the body; null when there is no such record. */
const read = async ({ tenant }: World, resource: ResourceName, id: unknown) => {
  const names = Object.keys(columnsOf(resource, {}, null)).filter((name) => name !== 'search_text')
  const { rows } = await service.owner.query<Record<string, string | null>>(
    `select ${names.map((name) => `${name}::text`).join(', ')}, body, (select text from search_texts
        where tenant_id = $1 and resource = $2 and position = record.position) as search_text
      from ${resource} as record where tenant_id = $1 and id = $3`,
    [tenant.id, resource, id],
  )
  if (!rows[0]) return null
  const { body, ...columns } = rows[0]
  for (const { column, kind } of storedFieldsOf(resource)) columns[column] = inOneForm(kind, columns[column])
  return { columns, body }
}

const assertStored = async (
  world: World,
  resource: ResourceName,
  fields: Fields,
  importId: string | null = null,
): Promise<void> => {
  const found = await read(world, resource, fields.id)
  assert.deepEqual(found?.columns, columnsOf(resource, fields, importId), `${resource} ${fields.id}`)
}

const isFixed = (resource: ResourceName, { name }: Field): boolean =>
  name === 'id' || name === importKeyOf(resource)?.name

test('an import stores every field, a second one changes every field, and their undoing brings every field back', async () => {
  const world = await newWorld()
  const { masthead, importAll } = importer(service, world.tenant)
  const former = new Map(resourceNames.map((resource) => [resource, recordOf(world, resource, 1)]))
  const latter = new Map(
    resourceNames.map((resource) => {
      const fixed = storedFieldsOf(resource).filter((field) => isFixed(resource, field))
      const kept = Object.fromEntries(fixed.map(({ name }) => [name, former.get(resource)?.[name]]))
      return [resource, { ...recordOf(world, resource, 2), ...kept }]
    }),
  )
  const bringIn = async (records: ReadonlyMap<ResourceName, Fields>, counted: 'created' | 'changed') => {
    const files = [...records].map(([resource, record]) => [`${resource}.ndjson`, JSON.stringify(record)])
    const { id, files: told } = await importAll(await newFolder(Object.fromEntries(files)))
    assert.deepEqual(
      told.map((file) => [file.resource, file[counted]]),
      resourceNames.toSorted().map((resource) => [resource, 1]),
    )
    for (const [resource, record] of records) await assertStored(world, resource, record, id)
    await assertTenantTallies(service.owner, world.tenant.id)
    return String(id)
  }
  const undo = async (id: string) => {
    const { code, stderr } = await masthead('import', 'undo', id)
    assert.equal(code, 0, stderr)
    await assertTenantTallies(service.owner, world.tenant.id)
  }
  const first = await bringIn(former, 'created')
  const second = await bringIn(latter, 'changed')
  await undo(second)
  for (const [resource, record] of former) await assertStored(world, resource, record, first)
  await undo(first)
  for (const [resource, { id }] of former) assert.equal(await read(world, resource, id), null)
})

/** What a request asks for, and what must be stored then, by resource. */
type Asked = { method: string; path: string; body?: Fields; stored: Partial<Record<ResourceName, Fields>> }

/** Where a property of a body is stored, if not under its own name. */
type StoredAs = Record<string, [ResourceName, string][]>

/** Every property that the body of the operation may have, with a value of its own, and where it is stored. */
const bodyOf = (world: World, resource: ResourceName, operation: string, storedAs: StoredAs = {}) => {
  const { body } = operations.find(({ name }) => name === operation)?.operation ?? {}
  const stored: Partial<Record<ResourceName, Record<string, unknown>>> = {}
  const given = Object.keys(body?.properties ?? {}).map((property) => {
    const targets = storedAs[property] ?? [[resource, property]]
    const [[first, name] = [resource, property]] = targets
    const value = distinctValue(world, first, fieldOf(first, name), 2)
    for (const [target, field] of targets) stored[target] = { ...stored[target], [field]: value }
    return [property, value]
  })
  return { body: Object.fromEntries(given), stored }
}

/** A record of the first version, with all that is stored of it, under a key of its own. */
const existing = async (world: World, resource: ResourceName, more: Fields = {}): Promise<Fields> => {
  const key = importKeyOf(resource)
  const record = { ...recordOf(world, resource, 1), ...(key && { [key.name]: `K-${newId()}` }), ...more }
  await world.tenant.add(resource, [record])
  return record
}

/** An update that gives every property that it may have. */
const updating = async (world: World, resource: ResourceName, operation: string, more: Fields = {}): Promise<Asked> => {
  const { updatedAt: _own, ...record } = await existing(world, resource, more)
  const { body, stored } = bodyOf(world, resource, operation)
  const changed = { [resource]: { ...record, ...stored[resource] } }
  return { method: 'PATCH', path: `/${resource}/${record.id}`, body, stored: changed }
}

const firstContact: StoredAs = Object.fromEntries(
  ['firstName', 'lastName', 'title', 'phone'].map((name) => [name, [['contacts', name]]]),
)

/** Every operation that writes records. What the service itself gives a record is not among what must be stored. */
const requests: Record<string, (world: World) => Promise<Asked>> = {
  CreateContactRecord: async (world) => ({
    method: 'POST',
    path: '/contacts',
    ...bodyOf(world, 'contacts', 'CreateContactRecord'),
  }),
  UpdateContactRecord: (world) => updating(world, 'contacts', 'UpdateContactRecord', { deletedAt: null }),
  DeleteContactRecord: async (world) => {
    const { deletedAt: _before, updatedAt: _own, ...contact } = await existing(world, 'contacts', { deletedAt: null })
    return { method: 'DELETE', path: `/contacts/${contact.id}`, stored: { contacts: contact } }
  },
  RestoreContactRecord: async (world) => {
    const { updatedAt: _own, ...contact } = await existing(world, 'contacts')
    const restored = { contacts: { ...contact, deletedAt: null } }
    return { method: 'POST', path: `/contacts/${contact.id}/restore`, stored: restored }
  },
  CreateAccountRecord: async (world) => ({
    method: 'POST',
    path: '/accounts',
    ...bodyOf(world, 'accounts', 'CreateAccountRecord', {
      ...firstContact,
      website: [['accounts', 'webAddress']],
      email: [
        ['accounts', 'billingEmail'],
        ['contacts', 'email'],
      ],
    }),
  }),
  CreateTaskRecord: async (world) => ({
    method: 'POST',
    path: '/tasks',
    ...bodyOf(world, 'tasks', 'CreateTaskRecord'),
  }),
  UpdateAccountRecord: (world) => updating(world, 'accounts', 'UpdateAccountRecord'),
  UpdateTaskRecord: (world) => updating(world, 'tasks', 'UpdateTaskRecord'),
}

describe('every field that a request gives is stored', () => {
  /** What writes records. */
  const writing = operations.filter(
    ({ operation, resource }) => operation.method !== 'GET' && resource.name !== exportJobs.name,
  )

  const ask = (world: World, { method, path, body }: Asked, headers: Record<string, string> = {}) =>
    service.call(method, path, { token: world.token, ...(body && { body }), headers })

  const assertDone = async (
    world: World,
    { stored }: Asked,
    answer: CallResponse,
    showsRecord: boolean,
  ): Promise<void> => {
    assert.ok(answer.status === 200 || answer.status === 201, answer.text)
    const { id, accountId } = answer.body
    for (const [resource, fields] of Object.entries(stored) as [ResourceName, Fields][]) {
      // The response to a new account names it by its business identifier alone.
      const recordId = id ?? (await onlyOneOf(world, resource, accountId))
      const found = await read(world, resource, recordId)
      const names = storedFieldsOf(resource).map(({ name, column }) => [name, found?.columns[column]])
      await assertStored(world, resource, { ...Object.fromEntries(names), ...fields, id: recordId })
      if (showsRecord) assert.equal(answer.text, found?.body)
    }
  }

  const onlyOneOf = async ({ tenant }: World, resource: ResourceName, accountId: unknown): Promise<unknown> => {
    const text = `select id from ${resource} where tenant_id = $1 and account_id = $2`
    const { rows } = await service.owner.query(text, [tenant.id, accountId])
    assert.equal(rows.length, 1)
    return rows[0]?.id
  }

  for (const { name, resource, operation } of writing) {
    test(`by ${name}: alone, by its retry, and in a batch`, async (context) => {
      const showsRecord = operation.response === resource.record
      const prepare = requests[name]
      assert.ok(prepare, `${name} has a request here`)
      const world = await newWorld()
      const alone = await prepare(world)
      await assertDone(world, alone, await ask(world, alone), showsRecord)

      const keyed = await prepare(world)
      const key = { 'idempotency-key': 'once' }
      const answers = [await ask(world, keyed, key), await ask(world, keyed, key)]
      // Where no key is needed, because nothing differs the second time, none is read.
      const isReplayed = answers[1]?.headers.get('idempotency-replayed') === 'true'
      assert.deepEqual([isReplayed, answers[0]?.text], [keyed.method === 'POST', answers[1]?.text])
      for (const answer of answers) await assertDone(world, keyed, answer, showsRecord)

      const several = [await prepare(world), await prepare(world), await prepare(world)]
      const release = await holdHead(context, world.tenant, resource.name)
      const [first, ...others] = several.map((asked) => () => ask(world, asked))
      const sent = [first?.()]
      await until(
        'the first waits for the head',
        async () => (await service.owner.query(waitsForLocks)).rows.length === 1,
      )
      sent.push(...others.map((send) => send()))
      await until('the others wait for the first', () => service.database.load().writing.waiting === others.length)
      await release()
      for (const [index, answer] of (await Promise.all(sent)).entries()) {
        const asked = several[index]
        assert.ok(asked && answer)
        await assertDone(world, asked, answer, showsRecord)
      }
      await assertTenantTallies(service.owner, world.tenant.id)
    })
  }
})

/** Nobody writes the list until it is released. */
const holdHead = async (context: TestContext, { id }: TestTenant, resource: string) => {
  const client = new pg.Client(service.connectionString)
  await client.connect()
  context.after(() => client.end())
  await client.query('begin')
  await client.query('select from heads where tenant_id = $1 and resource = $2 for update', [id, resource])
  return () => client.query('commit')
}
