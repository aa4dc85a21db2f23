import type { TenantQuery } from '../../database/tenant-query.ts'

/** Events of records are stored by the write statement; these are the others. */
type OtherEvent = { type: string; recordId: string; data: object }

/** Stores an event for the endpoint, or for all that are told of its type. It commits with what it tells of. Returns its id. */
export const recordEvent = async (
  query: TenantQuery,
  { type, recordId, data }: OtherEvent,
  endpointId: string | null = null,
): Promise<string | null> => {
  const [told] = await query<{ id: string | null }>({
    text: `select tell_endpoints($1, 'later', $2, $3, $4, is_native => true, endpoint => $5) as id`,
    values: [type, recordId, JSON.stringify(data), endpointId],
  })
  return told?.id ?? null
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
