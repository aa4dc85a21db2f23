import { userInfo } from 'node:os'

/** Who did something, and from where. The audit log stores it as it is. */
export type Author =
  | Caller
  /** A visitor uses a page or an endpoint of the authorization server. */
  | (CalledFrom & { kind: 'visitor'; user?: string })
  | { kind: 'operator'; name: string }
  | { kind: 'import'; import: string; operator: string }
  /** Masthead acts by itself where a time has expired or a token was used twice. */
  | { kind: 'masthead' }

/** The caller of the API; `import` names an import that goes on after the call. */
export type Caller = CalledFrom & {
  kind: 'personal' | 'service' | 'delegated'
  token: string
  user: string | null
  application: string | null
  import?: string
}

export type CalledFrom = { address: string; requestId: string }

type Calling = {
  kind: Caller['kind']
  tokenId: string
  userId: string | null
  applicationId: string | null
}

export const callerOf = ({ kind, tokenId, userId, applicationId }: Calling, { address, requestId }: CalledFrom) => ({
  kind,
  token: tokenId,
  user: userId,
  application: applicationId,
  address,
  requestId,
})

const operatorName = (): string => {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that has no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}

/** The person who runs a command. */
export const operator: Author = { kind: 'operator', name: operatorName() }

export const importer = (importId: string): Author => ({ kind: 'import', import: importId, operator: operatorName() })
