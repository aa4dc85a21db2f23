import { roles } from '@masthead/contract'

/** Every kind of token that opens something: personal ones by the role of their user, and the others. */
export const kinds = [...roles, 'service', 'delegated'] as const
