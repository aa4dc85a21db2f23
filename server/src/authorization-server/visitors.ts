import type { IncomingMessage } from 'node:http'
import type { Author } from '../audit/author.ts'

type Visitor = Extract<Author, { kind: 'visitor' }>
const visitors = new WeakMap<IncomingMessage, Visitor>()

/** The provider sees bare requests: from where they came, proxies considered, is remembered beside. */
export const rememberVisitor = (request: IncomingMessage, address: string, requestId: string): void => {
  visitors.set(request, { kind: 'visitor', address, requestId })
}

export const visitorOf = (request: IncomingMessage): Visitor | { kind: 'masthead' } =>
  visitors.get(request) ?? { kind: 'masthead' }
