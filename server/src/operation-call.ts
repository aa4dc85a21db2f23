import type { Input, Operation, Resource } from '@masthead/contract'
import type { Caller } from './audit/author.ts'
import type { TenantDatabase } from './database/database.ts'
import type { Principal } from './identity/principal.ts'
import type { Page } from './records/list.ts'
import type { Writer } from './records/write.ts'

/** What an operation is called with, once token, scope and request have passed. */
export type Call<O extends Operation> = Input<O> & {
  principal: Principal
  writer: Writer & { author: Caller }
  tenant: TenantDatabase
  /** Address of the authorization server, for links to its pages. */
  issuer: string
  /** Refuses the call when the caller's `If-Match` names another version of this body. */
  requireCurrent: (body: string) => void
}

/** What an operation answers: its JSON, and what the headers say of it. */
export type Answer = { body: string | Buffer; links?: Page['links'] /** path below the base path */; location?: string }

/** One function an operation, by its name in the contract. */
export type Handlers<R extends Resource> = {
  [Name in keyof R['operations']]: (call: Call<R['operations'][Name]>) => Promise<Answer>
}
