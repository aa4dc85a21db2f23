import { userInfo } from 'node:os'
import type { Principal } from '../identity/principal.ts'

/** Who did something, and from where. It stands in the audit log as it is. */
export type Author =
  | Caller
  /** Somebody at a page of the authorization server, or an application at one of its endpoints. */
  | (CalledFrom & { kind: 'visitor'; user?: string })
  | { kind: 'operator'; name: string }
  | { kind: 'import'; import: string; operator: string }
  /** Nobody asked for it: a time was over, or a token was used twice. */
  | { kind: 'masthead' }

/** Whoever calls with a token; in an import, which goes on after the call, with its identifier. */
export type Caller = CalledFrom & {
  kind: Principal['kind']
  token: string
  user: string | null
  application: string | null
  import?: string
}

export type CalledFrom = { address: string; requestId: string }

export const callerOf = (
  { kind, tokenId, userId, applicationId }: Principal,
  { address, requestId }: CalledFrom,
): Caller => ({ kind, token: tokenId, user: userId, application: applicationId, address, requestId })

const operatorName = (): string => {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that has no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}

/** Whoever runs a command. */
export const operator: Author = { kind: 'operator', name: operatorName() }

export const importer = (importId: string): Author => ({ kind: 'import', import: importId, operator: operatorName() })
