import type { TenantQuery } from '../../database/tenant-query.ts'
import { wakeLater } from '../deliveries/queries.ts'

/** Events of records are stored by the write statement; these are the others. */
export type OtherEvent = { type: string; recordId: string; data: object }

/** Stores an event for the endpoint, or for all that are told of its type. It commits with what it tells of. Returns its id. */
export const recordEvent = async (
  query: TenantQuery,
  { type, recordId, data }: OtherEvent,
  endpointId: string | null = null,
): Promise<string | null> => {
  const told = await query<{ id: string }>({
    text: `select id from webhook_endpoints
      where tenant_id = $1 and case when $2::uuid is null then $3 = any (events) else id = $2 end for key share`,
    values: [endpointId, type],
  })
  if (told.length === 0) return null
  const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data })
  const [event] = await query<{ sequence: number; id: string }>({
    text: `insert into webhook_events (tenant_id, id, type, record_id, body)
      values ($1, 'msg_' || replace(gen_random_uuid()::text, '-', ''), $2, $3, $4) returning sequence, id`,
    values: [type, recordId, body],
  })
  if (!event) throw new Error('the event was not stored')
  await query({
    text: `insert into webhook_deliveries (tenant_id, endpoint_id, sequence, record_id)
      select tenant_id, id, $2, $3 from webhook_endpoints where tenant_id = $1 and id = any ($4)`,
    values: [event.sequence, recordId, told.map(({ id }) => id)],
  })
  await query({ text: wakeLater })
  return event.id
}

/** Of a record that is erased nothing stays, whether it was sent or not. Returns how many deliveries there were. */
export const deleteEventsOf = async (query: TenantQuery, recordId: string): Promise<number> => {
  const deleted = await query({
    text: `delete from webhook_deliveries where tenant_id = $1
        and endpoint_id = any (array(select id from webhook_endpoints where tenant_id = $1))
        and sequence = any (array(select sequence from webhook_events where tenant_id = $1 and record_id = $2))
      returning 1`,
    values: [recordId],
  })
  await query({ text: 'delete from webhook_events where tenant_id = $1 and record_id = $2', values: [recordId] })
  return deleted.length
}
