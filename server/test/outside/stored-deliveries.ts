import { randomUUID } from 'node:crypto'
import type pg from 'pg'

/** A legacy system at an address where nothing answers, whose secret nobody can open. */
export const attachUnreachable = (owner: pg.Client, tenantId: string) =>
  owner.query(
    `insert into webhook_endpoints (tenant_id, id, kind, url, sealed_secret) values ($1, $1, 'legacy', 'http://127.0.0.1:9', '')`,
    [tenantId],
  )

/** A delivery to the tenant's legacy system, or another endpoint, that has waited for so long, or has failed then. */
export const storeDelivery = async (
  owner: pg.Client,
  tenantId: string,
  { recordId = randomUUID(), body = '{}', minutesAgo = 0, hasFailed = false, endpointId = tenantId },
) => {
  const { rows } = await owner.query(
    `insert into webhook_events (tenant_id, id, type, record_id, body, created_at)
      values ($1, $2, 'contact.updated', $3, $4, now() - $5 * interval '1 minute') returning sequence`,
    [tenantId, `msg_${randomUUID()}`, recordId, body, minutesAgo],
  )
  await owner.query(
    `insert into webhook_deliveries (tenant_id, endpoint_id, sequence, record_id, waiting_since, failed_at)
      values ($1, $6, $2, $3, now() - $4 * interval '1 minute', case when $5 then now() end)`,
    [tenantId, rows[0]?.sequence, recordId, minutesAgo, hasFailed, endpointId],
  )
}
