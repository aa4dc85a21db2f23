import { randomUUID } from 'node:crypto'
import { sampleAccount, sampleContact, sampleInvoice, samplePublication, sampleSubscription } from './sample-records.ts'
import type { Service, TestTenant } from './service.ts'

/** A record as the API shows it. */
export type SampleRecord = Record<string, unknown> & { id: string }

export type SampleRecords = {
  account: SampleRecord & { accountId: string }
  publication: SampleRecord & { code: string }
  subscription: SampleRecord & { subscriptionId: string }
  invoice: SampleRecord
  contact: SampleRecord
  deletedContact: SampleRecord
}

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
  const one = <R extends SampleRecord>([first]: Record<string, unknown>[]): R => first as R // as it was just added
  const accountId = `${word}-1`
  const account = await tenant.add('accounts', [sampleAccount(accountId), sampleAccount(`${word}-2`)])
  const publication = await tenant.add('publications', [samplePublication(`${word}-1`), samplePublication(`${word}-2`)])
  const { id: publicationId } = one(publication)
  const subscription = [
    sampleSubscription(accountId, publicationId, { subscriptionId: `${word}-1` }),
    sampleSubscription(accountId, publicationId, { subscriptionId: `${word}-2` }),
  ]
  const invoice = [sampleInvoice(accountId, publicationId), sampleInvoice(accountId, publicationId)]
  const contact = [sampleContact(accountId, { name: word }), sampleContact(accountId, { name: word })]
  const deleted = sampleContact(accountId, { deletedAt: '2026-03-04T05:06:07.891Z' })
  return {
    tenant,
    word,
    token: await tenant.serviceToken(),
    records: {
      account: one(account),
      publication: one(publication),
      subscription: one(await tenant.add('subscriptions', subscription)),
      invoice: one(await tenant.add('invoices', invoice)),
      contact: one(await tenant.add('contacts', contact)),
      deletedContact: one(await tenant.add('contacts', [deleted])),
    },
  }
}
