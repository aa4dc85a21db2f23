import type { Resources } from '@masthead/contract'
import { requireAddress } from '../../email-address.ts'
import type { Handlers } from '../../operation-call.ts'
import { readRecord } from '../../records/identifiers.ts'
import { listRecords } from '../../records/lists/list.ts'
import { updateRecord } from '../../records/writes/update.ts'
import { createAccount } from './queries.ts'
import { type Account, firstContact, newAccount } from './rules.ts'

export const handlers: Handlers<Resources['accounts']> = {
  GetAccounts: ({ tenant, query }) => listRecords(tenant, 'accounts', query),

  CreateAccountRecord: async ({ tenant, principal, writer, body }) => {
    requireAddress('email', body.email)
    const contact = firstContact(body, principal.userId)
    const { accountId, route } = await createAccount(tenant, writer, newAccount(body), contact)
    return {
      body: JSON.stringify({ accountId, company: body.company, route }),
      location: `/accounts/${accountId}`,
    }
  },

  GetAccountById: ({ tenant, params: { accountId } }) => readRecord(tenant, 'accounts', accountId),

  UpdateAccountRecord: ({ tenant, writer, params: { accountId }, body, requireCurrent }) =>
    updateRecord<Account>(tenant, 'accounts', {
      named: accountId,
      author: writer.author,
      delivery: { userId: writer.actingUser },
      decide: (account) => {
        requireCurrent(account.body)
        requireAddress('billingEmail', body.billingEmail, account.record.billingEmail)
        return body
      },
    }),
}
