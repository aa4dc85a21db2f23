import { createHash, randomBytes, randomInt } from 'node:crypto'
import {
  type Field,
  identifiersOf,
  type Kind,
  type ResourceName,
  resourceNames,
  resources,
  storedFieldsOf,
} from '@masthead/contract'
import type { Database } from '../database/database.ts'
import { listMembers } from '../identity/people/members.ts'
import { createTenant, eraseTenant, listTenants, type Tenant } from '../identity/people/tenants.ts'
import { newId } from '../records/identifiers.ts'
import type { Fields } from '../records/stored-record.ts'
import { tables } from '../records/tables.ts'
import { insertRecords } from '../records/writes/write.ts'
import { deleteUsers, storeExport } from './queries.ts'

/** A tenant that exists during a probe, full of texts that nobody else has. */
export type Canary = {
  id: string
  /** Begins every text in this tenant, and no other. */
  mark: string
  /** What only this tenant has, by the names of the contract. */
  records: Readonly<Record<ResourceName, readonly Fields[]>>
  /** Identifiers of exports that only this tenant has. */
  exports: readonly string[]
  /** Identifiers that only this tenant has. */
  ids: Set<string>
}

/** The record of each resource that both canaries have under the same `id` and the same business identifier. */
export type Twins = Readonly<Record<ResourceName, { id: string; businessIdentifier: string | null }>> & {
  /** The same of an export that is read, and of one that is deleted. */
  exports: { kept: string; deleted: string }
}

export const newMark = (): string => `cn${Array.from({ length: 10 }, () => randomInt(36).toString(36)).join('')}`

export const newTwins = (): Twins => ({
  ...byResource((resource) => {
    const businessIdentifier = 'businessIdentifier' in resources[resource] ? `twin-${newMark()}` : null
    return { id: newId(), businessIdentifier }
  }),
  exports: { kept: newId(), deleted: newId() },
})

/** In the order in which records can be added. */
const byResource = <T>(make: (resource: ResourceName) => T): Record<ResourceName, T> =>
  Object.fromEntries(resourceNames.map((resource) => [resource, make(resource)])) as Record<ResourceName, T> // of every resource

export const canaryDomain = 'canary.invalid'
const canaryName = 'Canary of masthead probe'

/** Follows from the id, so no tenant has it by accident or by its operator's wish; the policy of the audit log knows it too. */
const slugOf = (id: string): string => `canary-${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
const isCanary = ({ id, slug, name }: Tenant): boolean => slug === slugOf(id) && name === canaryName

/** A tenant with the twins, `count` further records of each resource, and one for each reason to leave it out of a list. */
export const makeCanary = async (database: Database, twins: Twins, count: number): Promise<Canary> => {
  const id = newId()
  const mark = newMark()
  const records: Partial<Record<ResourceName, Fields[]>> = {}
  let texts = 0
  const text = () => `${mark}-${++texts}`
  const twin = (resource: ResourceName) => recordOf(resource, twins[resource], null, text, (other) => twins[other])
  const add = (resource: ResourceName, leftOut: string | null) => {
    const names = { id: newId(), businessIdentifier: text() }
    return recordOf(resource, names, leftOut, text, (other) => namesOf(other, records[other]?.[0]))
  }
  const exports = [newId()]
  await database.forTenant(id).transaction(async (query) => {
    await createTenant(query.withoutTenant, { id, slug: slugOf(id), name: canaryName, defaultAssignee: `${mark}-0` })
    for (const resource of resourceNames) {
      const kinds = [...Array.from({ length: count }, () => null), ...leftOutFields(resource)]
      records[resource] = kinds.map((leftOut) => add(resource, leftOut))
      await insertRecords(query, resource, [twin(resource), ...records[resource]])
    }
    for (const one of [twins.exports.kept, twins.exports.deleted, ...exports]) await storeExport(query, one, text())
  })
  const ids = resourceNames.flatMap((resource) => (records[resource] ?? []).map((record) => String(record.id)))
  return {
    id,
    mark,
    records: byResource((resource) => records[resource] ?? []),
    exports,
    ids: new Set([id, ...ids, ...exports]),
  }
}

/** Records that have one of these are shown only on demand. */
const leftOutFields = (resource: ResourceName): string[] => Object.values(tables[resource].listing.leftOutUnless)

type Names = { id: string; businessIdentifier: string | null }
export const namesOf = (resource: ResourceName, record: Fields = {}): Names => {
  const { businessIdentifier } = { businessIdentifier: '', ...resources[resource] }
  return { id: String(record.id), businessIdentifier: businessIdentifier ? String(record[businessIdentifier]) : null }
}

/** A record with a value in every field. */
const recordOf = (
  resource: ResourceName,
  { id, businessIdentifier }: Names,
  leftOut: string | null,
  text: () => string,
  referred: (resource: ResourceName) => Names,
): Fields => {
  const isFlag = new Set(leftOutFields(resource))
  const sampleOf = ({ name, reference, kind, isIdentifier, choices }: Field): unknown => {
    if (name === 'id') return id
    if (isIdentifier) return businessIdentifier
    // The first record of a resource could not refer to another.
    if (reference === resource) return null
    if (reference) {
      return referred(reference)[identifiersOf(reference).canonical.isIdentifier ? 'businessIdentifier' : 'id']
    }
    if (isFlag.has(name) && name !== leftOut) return kind === 'boolean' ? false : null
    return choices[0] ?? (kind === 'text' ? text() : samples[kind])
  }
  return Object.fromEntries(storedFieldsOf(resource).map((field) => [field.name, sampleOf(field)]))
}

const samples = {
  uuid: null,
  date: '2026-01-02',
  timestamp: '2026-01-02T03:04:05.678Z',
  money: '1290.00',
  integer: '3',
  number: 1,
  boolean: true,
} as const satisfies Record<Exclude<Kind, 'text'>, unknown>

export const newCanaryEmail = (): string => `canary-${randomBytes(8).toString('hex')}@${canaryDomain}`

/** Removes all canaries, also those of a probe that was killed, and nothing else. */
export const removeCanaries = async (database: Database) => {
  for (const { id } of (await listTenants(database.query)).filter(isCanary)) {
    await database.forTenant(id).transaction(async (query) => {
      const members = await listMembers(query.withoutTenant, id)
      const users = members.filter(({ email }) => email.endsWith(`@${canaryDomain}`)).map((user) => user.id)
      await eraseTenant(query)
      await deleteUsers(query.withoutTenant, users)
    })
  }
}
