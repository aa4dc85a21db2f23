import type { TenantDatabase } from '../../database/database.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { type Event, handOver, type Route, routeOf } from '../../legacy/hand-over.ts'
import { requireReference } from '../../records/identifiers.ts'
import { createRecord, type Fields, lockHead, type Writer } from '../../records/write.ts'
import type { NewAccount } from './rules.ts'

/** Stores the account under a new business identifier, with its first contact, or nothing of it. */
export const createAccount = (
  tenant: TenantDatabase,
  writer: Writer,
  account: NewAccount,
  contact: (Fields & { id: string }) | null,
): Promise<{ accountId: string; route: Route }> =>
  tenant.transaction(async (query) => {
    const given = account.primaryPublicationId
    const [route, primaryPublicationId] = await Promise.all([
      routeOf(query),
      given === null ? null : requireReference(query, 'publications', given, 'primaryPublicationId'),
    ])
    await lockHead(query, 'accounts')
    const accountId = await nextAccountId(query)
    const body = await createRecord(query, writer, 'accounts', { ...account, primaryPublicationId, accountId })
    const events: Event[] = [{ resource: 'accounts', action: 'created', body, userId: account.userId }]
    if (contact) {
      const body = await createRecord(query, writer, 'contacts', { ...contact, accountId })
      events.push({ resource: 'contacts', action: 'created', body, userId: writer.actingUser })
    }
    await handOver(query, route, events)
    return { accountId, route }
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
