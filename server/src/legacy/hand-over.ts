import type { Query } from '../database/connection.ts'
import { newId } from '../records/identifiers.ts'
import { addDeliveries, isAttached } from './queries.ts'

/** Where a write goes: to Masthead alone, or also to the tenant's legacy system. */
export type Route = 'native' | 'legacy'

const resourceOf = { account: 'accounts', contact: 'contacts', task: 'tasks' } as const

type Created = `${keyof typeof resourceOf}.created`
export type EventType = Created | 'contact.updated' | 'contact.deleted' | 'contact.restored'

/** What happened to a record, and the record as the API shows it. */
export type Event = {
  type: EventType
  body: string /** absent where the record names its user itself */
  userId?: string | null
}

/** Decides for the whole transaction: a legacy system that is attached now stays attached until it commits. */
export const routeOf = async (query: Query): Promise<Route> => ((await isAttached(query)) ? 'legacy' : 'native')

/** Commits with the write. Called while the heads of the records are locked, so the order of calls is that of commits. */
export const handOver = async (query: Query, route: Route, events: readonly Event[]): Promise<void> => {
  if (route === 'native' || events.length === 0) return
  const timestamp = new Date().toISOString()
  await addDeliveries(
    query,
    events.map((event) => ({
      id: `msg_${newId().replaceAll('-', '')}`,
      resource: resourceNamed(event.type),
      record_id: JSON.parse(event.body).id,
      type: event.type,
      body: `{"type":"${event.type}","timestamp":"${timestamp}","data":${dataOf(event)}}`,
    })),
  )
}

const resourceNamed = (type: EventType): string => {
  const [singular] = type.split('.') as [keyof typeof resourceOf] // every type begins with one
  return resourceOf[singular]
}

/** The stored body to the letter, and one more property. */
const dataOf = ({ body, userId }: Event): string =>
  userId === undefined ? body : `${body.slice(0, -1)},"userId":${JSON.stringify(userId)}}`
