import { createHash, randomUUID } from 'node:crypto'
import {
  identifiersOf,
  importKeyOf,
  type ListedName,
  listedNames,
  type Resource,
  type ResourceName,
  type Resources,
  resourceNames,
  resources,
  storedFieldsOf,
} from '@masthead/contract'
import type { Fields } from '../../src/records/stored-record.ts'
import type { Service, TestTenant } from '../service.ts'
import { sampleRecord } from './sample-records.ts'

/** A record as the API shows it. */
export type SampleRecord = Record<string, unknown> & { id: string }

type Identified<R> = R extends { businessIdentifier: infer Name extends string } ? Record<Name, string> : unknown

/** One of each list, by its singular. */
export type SampleRecords = {
  [Name in ListedName as Resources[Name]['singular']]: SampleRecord & Identified<Resources[Name]>
} & { deletedContact: SampleRecord; export: SampleRecord; deletedExport: SampleRecord }

export type PopulatedTenant = {
  tenant: TestTenant
  records: SampleRecords
  /** A word that occurs in every record that can be searched, and in no other tenant. */
  word: string
  /** A service token with every scope. */
  token: string
}

/** A tenant with two records of each resource, so that there is a next page; `records` are the first ones. */
export const populatedTenant = async (service: Service): Promise<PopulatedTenant> => {
  const tenant = await service.newTenant()
  const word = `w${randomUUID().slice(0, 8)}`
  const samples = await addSamples(tenant, [`${word}-1`, `${word}-2`])
  const given = { accountId: `${word}-1`, externalId: null, deletedAt: '2026-03-04T05:06:07.891Z' }
  const [deletedContact] = await tenant.add('contacts', [sampleRecord('contacts', given)])
  const named = listedNames.map((name) => [resources[name].singular, samples.get(name)])
  const exports = {
    export: await addExport(service, tenant, 'done'),
    deletedExport: await addExport(service, tenant, 'deleted'),
  }
  const records = { ...Object.fromEntries(named), deletedContact, ...exports } as SampleRecords // one of every list
  return { tenant, word, token: await tenant.serviceToken(), records }
}

/** Adds records of every resource under these names, each of which refers to the first of what it may refer to; answers the first ones. */
export const addSamples = async (
  tenant: TestTenant,
  names: readonly string[],
  more: { readonly [Name in ResourceName]?: Fields } = {},
): Promise<ReadonlyMap<ResourceName, Record<string, unknown>>> => {
  const first = new Map<ResourceName, Record<string, unknown>>()
  for (const resource of resourceNames) {
    const { listing }: Resource = resources[resource]
    const named = [importKeyOf(resource)?.name, listing?.search[0]].filter((field) => field !== undefined)
    const references = storedFieldsOf(resource).flatMap(({ name, reference }) => {
      const referred = reference && first.get(reference)
      return referred ? [[name, referred[identifiersOf(reference).canonical.name]]] : []
    })
    const given = names.map((name) =>
      sampleRecord(resource, {
        ...Object.fromEntries([...references, ...named.map((field) => [field, name])]),
        ...more[resource],
      }),
    )
    first.set(resource, (await tenant.add(resource, given))[0] ?? {})
  }
  return first
}

/** An export of contacts as it is stored when it has ended, with a small file. */
const addExport = async (service: Service, { id: tenantId }: TestTenant, state: 'done' | 'deleted') => {
  const [id, content] = [randomUUID(), Buffer.from('id,name\n')]
  const sha256 = createHash('sha256').update(content).digest('hex')
  const file = { name: 'contacts.csv', resource: 'contacts', records: 0, bytes: content.length, sha256 }
  await service.database.forTenant(tenantId).transaction(async (query) => {
    await query({
      text: `insert into exports (tenant_id, id, state, resources, filters, format, gzip, spreadsheet, as_of, files)
        values ($1, $2, $3, '["contacts"]', '{}', 'csv', false, false, now(), $4)`,
      values: [id, state, JSON.stringify(state === 'done' ? [file] : [])],
    })
    if (state === 'done')
      await query({
        text: `insert into export_chunks (tenant_id, export_id, file, number, content) values ($1, $2, $3, 0, $4)`,
        values: [id, file.name, content],
      })
  })
  return { id }
}
