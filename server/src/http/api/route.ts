import { type Api, type NamedOperation, type Operation, scopesOf } from '@masthead/contract'
import type { AnyScope } from '../../identity/principal.ts'
import { type Handler, handlerOf } from '../../operation-call.ts'
import { type HeadersOf, responseHeaders } from '../responses/response-headers.ts'
import { type BodyReader, bodyReader } from './requests/request-body.ts'

/** An operation of the contract with all that serves it. */
export type Route = {
  name: string
  /** The pattern of its path, as logs and traces show it. */
  path: string
  /** Any one of them opens it. */
  scopes: readonly AnyScope[]
  operation: Operation
  isRead: boolean
  handler: Handler
  readBody: BodyReader
  headersOf: HeadersOf
}

export const newRoute = (
  named: NamedOperation,
  { basePath }: Api,
  { handlers, baseUrl }: { handlers: ReadonlyMap<string, Handler>; baseUrl: string },
): Route => {
  const { name, operation } = named
  return {
    name,
    path: basePath + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    scopes: scopesOf(operation) as AnyScope[], // a test holds the operations to them
    operation,
    isRead: operation.method === 'GET',
    handler: handlerOf(handlers, name),
    readBody: bodyReader(operation),
    headersOf: responseHeaders(named, baseUrl + basePath),
  }
}
