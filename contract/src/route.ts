import type { Static } from 'typebox'
import { Type } from './schema.ts'

/** Where a creation went. */
export const Route = Type.Union([Type.Literal('native'), Type.Literal('legacy')], {
  description:
    'The processing route. `native`: Masthead is the system of record. `legacy`: the record is also handed to the legacy system.',
})
export type Route = Static<typeof Route>
