import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Api } from '@masthead/contract'
import {
  type CachedHolder,
  type PresentedToken,
  type Principal,
  type Principals,
  presented,
} from '../../../identity/principal.ts'
import { Problem } from '../../../problem.ts'
import type { UnknownTokens } from './unknown-tokens.ts'

/** RFC 9728 §3.1 */
export const resourceMetadataPath = ({ basePath }: Api): string => `/.well-known/oauth-protected-resource${basePath}`

/** RFC 6750 §2.1 */
const tokenIn = ({ headers: { authorization: header }, socket }: IncomingMessage): PresentedToken | null => {
  if (header === undefined) return null
  const last = lastOver.get(socket)
  if (last?.header === header) return last.token
  const [, text] = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(header) ?? []
  const token = text === undefined ? null : presented(text)
  lastOver.set(socket, { header, token })
  return token
}

/** What came last over a connection, as long as that is open: nearly all send the same each time. */
const lastOver = new WeakMap<Socket, { header: string; token: PresentedToken | null }>()

/** Who held the token of the request when it was looked up. */
export const cachedHolder = (principals: Principals, request: IncomingMessage): CachedHolder | null => {
  const token = tokenIn(request)
  return token && principals.cached(token)
}

/** The caller, by the `Authorization` header alone. Where limits are, whoever guesses tokens is looked up no longer. */
export const authenticate = async (
  principals: Principals,
  request: IncomingMessage,
  addressOf: () => string,
  unknownTokens: UnknownTokens | null,
): Promise<Principal> => {
  const { authorization: header } = request.headers
  // RFC 6750 §3.1 counts an "unsupported authentication method" as no authentication information at all.
  if (header === undefined || !/^bearer( |$)/i.test(header)) {
    throw new Problem('missing_token', 'Send the header `Authorization: Bearer <ACCESS_TOKEN>`.')
  }
  const token = tokenIn(request)
  if (!token) throw new Problem('invalid_token', 'The header must be `Authorization: Bearer <ACCESS_TOKEN>`.')
  const find = () => principals.authenticate(token)
  // What is no token needs no look.
  if (!unknownTokens || !principals.isWellFormed(token)) return find()
  return unknownTokens.lookUp(token, principals.isNew(token), addressOf(), find)
}

/** RFC 6750 §3, RFC 9728 §5.1: "If the request lacks any authentication information, … no error". */
export const challenge = (problem: Problem, metadata: string, scope?: string): string => {
  const members: Record<string, string> = { realm: 'masthead' }
  if (problem.code === 'invalid_token') members.error = 'invalid_token'
  if (problem.status === 403) members.error = 'insufficient_scope'
  if (members.error) members.error_description = problem.message.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "'")
  if (problem.status === 403 && scope) members.scope = scope
  members.resource_metadata = metadata
  return `Bearer ${Object.entries(members)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`
}
