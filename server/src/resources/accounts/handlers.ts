import type { Resources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { readRecord } from '../../records/identifiers.ts'
import { listRecords } from '../../records/list.ts'
import { createAccount } from './queries.ts'
import { firstContact, newAccount } from './rules.ts'

export const handlers: Handlers<Resources['accounts']> = {
  GetAccounts: ({ tenant, query }) => listRecords(tenant, 'accounts', query),

  CreateAccountRecord: async ({ tenant, principal, writer, body }) => {
    const contact = firstContact(body, principal.userId)
    const { accountId, route } = await createAccount(tenant, writer, newAccount(body), contact)
    return {
      body: JSON.stringify({ accountId, company: body.company, route }),
      location: `/accounts/${accountId}`,
    }
  },

  GetAccountById: ({ tenant, params: { accountId } }) => readRecord(tenant, 'accounts', accountId),
}
