import type { Input, Operation, Resource } from '@masthead/contract'
import type { Caller } from './audit/author.ts'
import type { TenantDatabase } from './database/database.ts'
import type { Principal } from './identity/principal.ts'
import type { SendMail } from './mail/mailer.ts'
import type { Page } from './records/list.ts'
import type { Writer } from './records/write.ts'

/** What an operation is called with, once token, scope and request have passed. */
export type Call<O extends Operation> = Input<O> & {
  principal: Principal
  tenant: TenantDatabase
  /** Address of our authorization server, for links to its pages; null where another signs people in. */
  issuer: string | null
  /** Tells the operator what went wrong after the answer. */
  onError: (error: unknown) => void
} & (O['method'] extends 'GET' ? unknown : Writing)

type Writing = {
  /** Null where nothing is mailed. */
  sendMail: SendMail | null
  writer: Writer & { author: Caller }
  /** Refuses the call when the caller's `If-Match` names another version of this body. */
  requireCurrent: (body: string) => void
}

/** What an operation answers: its JSON, and what the headers say of it. */
export type Answer = { body: string | Buffer; links?: Page['links'] /** path below the base path */; location?: string }

/** The handler of an operation as HTTP sees it; in its resource `Handlers<…>` binds it to its types. */
// biome-ignore lint/suspicious/noExplicitAny: a handler's call is typed where it is written, by its own operation
export type Handler = (call: any) => Promise<Answer>

/** What has no handler fails here, at start. */
export const handlerOf = (handlers: ReadonlyMap<string, Handler>, name: string): Handler => {
  const handler = handlers.get(name)
  if (!handler) throw new Error(`the operation ${name} has no handler`)
  return handler
}

/** One function an operation, by its name in the contract. */
export type Handlers<R extends Resource> = {
  [Name in keyof R['operations']]: (call: Call<R['operations'][Name]>) => Promise<Answer>
}
