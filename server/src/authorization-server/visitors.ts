import type { IncomingMessage } from 'node:http'
import type { Author } from '../audit/author.ts'

type Visitor = Extract<Author, { kind: 'visitor' }>
const visitors = new WeakMap<IncomingMessage, Visitor>()

/** The provider sees the bare request, so the address of the client, behind proxies too, is stored beside it. */
export const setVisitor = (request: IncomingMessage, address: string, requestId: string): void => {
  visitors.set(request, { kind: 'visitor', address, requestId })
}

export const visitorOf = (request: IncomingMessage): Visitor | { kind: 'masthead' } =>
  visitors.get(request) ?? { kind: 'masthead' }
