import { randomUUID } from 'node:crypto'
import { type Resource, type ResourceName, resources } from '@masthead/contract'
import type { Fields } from '../../src/records/stored-record.ts'
import {
  sampleAccount,
  sampleContact,
  sampleInvoice,
  samplePublication,
  sampleSubscription,
} from '../records/sample-records.ts'
import type { CallResponse, Service, TestTenant } from '../service.ts'

/** A tenant whose every record holds a word that nobody else may ever see. */
export type CanaryTenant = {
  tenant: TestTenant
  canary: string
  /** By resource: what its records go by, `id` and business identifier. */
  names: ReadonlyMap<string, readonly string[]>
}

/** The canaries that an answer shows: no other words have their shape. */
export const canariesIn = ({ headers, text }: CallResponse): string[] =>
  [text, ...headers.values()].flatMap((one) => one.match(/canary[0-9a-f]{32}/g) ?? [])

export const newCanaryTenant = async (service: Service): Promise<CanaryTenant> => {
  const canary = `canary${randomUUID().replaceAll('-', '')}`
  const tenant = await service.newTenant(canary)
  const names = new Map<string, string[]>()
  const add = async (name: ResourceName, records: Fields[]): Promise<string> => {
    const { businessIdentifier }: Resource = resources[name]
    const added = await tenant.add(name, records)
    const known = added.flatMap((record) => [record.id, businessIdentifier && record[businessIdentifier]])
    names.set(name, [...(names.get(name) ?? []), ...known.filter(Boolean).map(String)])
    return String(added[0]?.id)
  }
  const word = randomUUID().slice(0, 8)
  const [first, second] = [`${word}-1`, `${word}-2`]
  await add('accounts', [
    sampleAccount(first, { company: canary }),
    sampleAccount(second, { city: canary, status: null }),
  ])
  const publication = await add('publications', [
    samplePublication(first, { name: canary }),
    samplePublication(second, { name: canary, isActive: null }),
  ])
  await add('subscriptions', [
    sampleSubscription(first, publication, { subscriptionId: first, notes: canary }),
    sampleSubscription(second, publication, { notes: canary, deletedAt: '2026-03-04T05:06:07.891Z' }),
  ])
  await add('invoices', [
    sampleInvoice(first, publication, { notes: canary }),
    sampleInvoice(second, null, { notes: canary, status: 'paid' }),
  ])
  await add('contacts', [
    sampleContact(first, { name: canary }),
    sampleContact(first, { notes: canary, hideContact: true }),
    sampleContact(second, { name: canary, deletedAt: '2026-03-04T05:06:07.891Z' }),
  ])
  return { tenant, canary, names }
}
