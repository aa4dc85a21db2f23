import { type ResourceName, resources } from '@masthead/contract'
import type { TenantQuery } from '../database/tenant-query.ts'
import { newId } from '../records/identifiers.ts'
import { addDeliveries, isAttached } from './queries.ts'

/** Where a write goes: to Masthead alone, or also to the tenant's legacy system. */
export type Route = 'native' | 'legacy'

/** What happened to a record, and the record as the API shows it. */
export type Event = {
  resource: ResourceName
  action: 'created' | 'updated' | 'deleted' | 'restored'
  body: string
  /** Absent where the record names its user itself. */
  userId?: string | null
}

/** Decides for the whole transaction: a legacy system that is attached now stays attached until it commits. */
export const routeOf = async (query: TenantQuery): Promise<Route> => ((await isAttached(query)) ? 'legacy' : 'native')

/** Commits with the write. Called while the heads of the records are locked, so the order of calls is that of commits. */
export const handOver = async (query: TenantQuery, route: Route, events: readonly Event[]): Promise<void> => {
  if (route === 'native' || events.length === 0) return
  const timestamp = new Date().toISOString()
  await addDeliveries(
    query,
    events.map((event) => {
      const { resource, action, body } = event
      const type = `${resources[resource].singular}.${action}`
      return {
        id: `msg_${newId().replaceAll('-', '')}`,
        resource,
        record_id: JSON.parse(body).id,
        type,
        body: `{"type":"${type}","timestamp":"${timestamp}","data":${dataOf(event)}}`,
      }
    }),
  )
}

/** The stored body to the letter, and one more property. */
const dataOf = ({ body, userId }: Event): string =>
  userId === undefined ? body : `${body.slice(0, -1)},"userId":${JSON.stringify(userId)}}`
