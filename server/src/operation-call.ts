import type { Input, Operation, Resource } from '@masthead/contract'
import type { Caller } from './audit/author.ts'
import type { TenantDatabase } from './database/database.ts'
import type { Principal } from './identity/principal.ts'
import type { SendMail } from './mail/mailer.ts'
import type { News } from './records/lists/changes.ts'
import type { Page } from './records/lists/list.ts'
import type { Writer } from './records/writes/write.ts'
import type { WebhookSettings } from './webhooks/settings.ts'

/** The input of a handler, after token, scope and request were checked. */
export type Call<O extends Operation> = Input<O> & {
  principal: Principal
  tenant: TenantDatabase
  /** The address of our authorization server, for links to its pages; null with an outside issuer. */
  issuer: string | null
  /** Logs what fails after the response. */
  onError: (error: unknown) => void
} & (O['method'] extends 'GET' ? DownloadCall<O> : WriteCall)

/** The audit log tells who has downloaded a file. */
type DownloadCall<O extends Operation> = O extends { download: readonly string[] } ? { author: Caller } : unknown

type WriteCall = {
  /** Null without a mail server. */
  sendMail: SendMail | null
  webhooks: WebhookSettings
  writer: Writer & { author: Caller }
  /** Throws 412 when `If-Match` names another version of this body. */
  requireCurrent: (body: string) => void
}

/** A file that a response sends, whole or in part. */
export type FileResponse = {
  name: string
  mediaType: string
  bytes: number
  /** A strong validator. */
  etag: string
  /** The bytes from one place to before another. */
  read: (from: number, to: number) => AsyncIterable<Buffer>
}

/** The response of an operation: its JSON, and the values of its headers; `location` is a path below the base path. */
export type HandlerResult = {
  body: string | Buffer
  location?: string | undefined
  /** Of an operation that can be followed. */
  news?: News
  /** Of an operation that is a download. */
  file?: FileResponse
} & Partial<Pick<Page, 'links' | 'next' | 'isOfToday'>>

/** A handler as HTTP calls it; `Handlers<…>` types it in its resource. */
// biome-ignore lint/suspicious/noExplicitAny: a handler's call is typed where it is written, by its own operation
export type Handler = (call: any) => Promise<HandlerResult>

/** Fails when an operation has no handler: at the start, or at the first call of the management API. */
export const handlerOf = (handlers: ReadonlyMap<string, Handler>, name: string): Handler => {
  const handler = handlers.get(name)
  if (!handler) throw new Error(`the operation ${name} has no handler`)
  return handler
}

/** One function for each operation, by its name in the contract. */
export type Handlers<R extends Resource> = {
  [Name in keyof R['operations']]: (call: Call<R['operations'][Name]>) => Promise<HandlerResult>
}
