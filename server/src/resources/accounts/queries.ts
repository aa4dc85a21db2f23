import type { Route } from '@masthead/contract'
import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { requireReference } from '../../records/identifiers.ts'
import type { StoredRecord } from '../../records/stored-record.ts'
import { type Writer, write } from '../../records/writes/write.ts'
import { routeOf } from '../../webhooks/legacy/queries.ts'
import type { NewAccount } from './rules.ts'

/** Stores the account under a new business identifier, with its first contact, or nothing of it. */
export const createAccount = (
  tenant: TenantDatabase,
  { author, actingUser }: Writer,
  account: NewAccount,
  contact: StoredRecord | null,
): Promise<{ accountId: string; route: Route }> =>
  write(tenant, 'accounts', {
    locks: ['accounts'],
    decide: async (query) => {
      const given = account.primaryPublicationId
      const [route, primaryPublicationId] = await Promise.all([
        routeOf(query),
        given === null ? null : requireReference(query, 'publications', given, 'primaryPublicationId'),
      ])
      // Last, so that what is refused takes no number.
      const accountId = await nextAccountId(query)
      const created = (after: StoredRecord, userId: string | null) => ({
        before: null,
        after,
        author,
        delivery: { userId, isNative: route === 'native' },
      })
      const accounts = [created({ ...account, accountId, primaryPublicationId }, account.userId)]
      const contacts = contact ? [created({ ...contact, accountId }, actingUser)] : []
      return { changes: { accounts, contacts }, result: () => ({ accountId, route }) }
    },
  })

const triesAtOnce = 1_000

/** Under the lock of the head: the first number after the last one whose identifier no import has taken. */
const nextAccountId = async (query: TenantQuery): Promise<string> => {
  for (;;) {
    const [row] = await query<{ account_id: string | null }>({
      text: `
        update heads set last_number = coalesce(free.number, heads.last_number + $2)
        from heads as head
        left join lateral (
          select number from generate_series(head.last_number + 1, head.last_number + $2) as number
          where not exists (select from accounts where tenant_id = $1 and account_id = 'A' || number)
          order by number limit 1
        ) as free on true
        where heads.tenant_id = $1 and heads.resource = 'accounts'
          and head.tenant_id = $1 and head.resource = 'accounts'
        returning 'A' || free.number as account_id`,
      values: [triesAtOnce],
    })
    if (row?.account_id) return row.account_id
  }
}
