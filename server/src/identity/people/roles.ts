import { type Scope, scopes } from '@masthead/contract'

export const allScopes = Object.keys(scopes) as Scope[] // the keys of `scopes` are the scopes
