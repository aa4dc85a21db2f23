import { randomUUID } from 'node:crypto'
import {
  identifiersOf,
  importKeyOf,
  type ListedName,
  listedNames,
  type Resource,
  type Resources,
  resources,
  storedFieldsOf,
} from '@masthead/contract'
import type { Fields } from '../src/records/write.ts'
import { sampleRecord } from './sample-records.ts'
import type { Service, TestTenant } from './service.ts'

/** A record as the API shows it. */
export type SampleRecord = Record<string, unknown> & { id: string }

type Identified<R> = R extends { businessIdentifier: infer Name extends string } ? Record<Name, string> : unknown

/** One of each list, by its singular. */
export type SampleRecords = {
  [Name in ListedName as Resources[Name]['singular']]: SampleRecord & Identified<Resources[Name]>
} & { deletedContact: SampleRecord }

export type PopulatedTenant = {
  tenant: TestTenant
  records: SampleRecords
  /** A word that occurs in every record that can be searched, and in no other tenant. */
  word: string
  /** A service token with every scope. */
  token: string
}

/** A tenant with two records of each list, so that there is a next page; `records` are the first ones. */
export const populatedTenant = async (service: Service): Promise<PopulatedTenant> => {
  const tenant = await service.newTenant()
  const word = `w${randomUUID().slice(0, 8)}`
  const records: Record<string, Record<string, unknown>> = {}
  const make = (resource: ListedName, number: number, more: Fields = {}): Fields => {
    const { listing }: Resource = resources[resource]
    const names = [importKeyOf(resource)?.name, listing?.search[0]].filter((name) => name !== undefined)
    const referred = storedFieldsOf(resource).flatMap(({ name, reference }) => {
      if (!reference || reference === resource) return []
      return [[name, records[resources[reference].singular]?.[identifiersOf(reference).canonical.name]]]
    })
    const own = names.map((name) => [name, `${word}-${number}`])
    return sampleRecord(resource, { ...Object.fromEntries([...referred, ...own]), ...more })
  }
  const add = async (key: string, resource: ListedName, given: Fields[]): Promise<void> => {
    records[key] = (await tenant.add(resource, given))[0] ?? {}
  }
  for (const resource of listedNames)
    await add(resources[resource].singular, resource, [make(resource, 1), make(resource, 2)])
  const deletedAt = '2026-03-04T05:06:07.891Z'
  await add('deletedContact', 'contacts', [make('contacts', 3, { deletedAt })])
  // The loop above has filled it by the same names.
  return { tenant, word, token: await tenant.serviceToken(), records: records as unknown as SampleRecords }
}
