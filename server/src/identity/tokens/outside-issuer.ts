import { type Api, managementApi } from '@masthead/contract'
import type { JWTVerifyGetKey } from 'jose'
import type { OutsideIssuerConfig } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import { consoleId } from '../people/applications.ts'
import { emailKey, findAccounts, lockAddress, proveAddress, removePassword } from '../people/users.ts'
import { type Authenticator, invalidToken, type Principal } from '../principal.ts'
import { scopesOf } from './delegated-tokens.ts'
import { jwtVerifier } from './verified-jwts.ts'

/** As configured; `audience` is null when the issuer puts none into access tokens, as Cognito does. */
export type OutsideIssuer = OutsideIssuerConfig

const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA']

/** Authenticates applications by access tokens of the outside issuer, with the same checks as for our own. */
export const outsideTokens = (
  database: Database,
  outside: OutsideIssuer,
  api: Api,
  key: JWTVerifyGetKey,
): Authenticator => {
  const { issuer, audience, matchUsersBy, claims: names, consoleClientId } = outside
  const verify = jwtVerifier(key, { issuer, ...(audience !== null && { audience }), algorithms })
  const isByEmail = matchUsersBy === 'email'

  const findMember = async (claims: Record<string, unknown>, applicationId: string): Promise<Member> => {
    if (isByEmail && claims[names.emailVerified] !== true && claims[names.emailVerified] !== 'true')
      throw invalidToken('The issuer has not verified the e-mail address of this user.')
    const user = isByEmail ? emailKey(text(claims[names.email])) : text(claims.sub)
    const values = [user, applicationId, tenantOf(claims[names.tenant])]
    const find = () => database.read<Member>({ text: isByEmail ? findByEmail : findBySubject, values })
    let rows = await find()
    if (isByEmail && rows.some(({ isProven }) => !isProven)) {
      await proveOwner(database, user)
      rows = await find()
    }
    const [member, ...others] = rows
    if (!member)
      throw invalidToken('The application, the user or the membership behind this access token is not known here.')
    if (others.length > 0) throw invalidToken('This user belongs to several tenants, and the access token names none.')
    return member
  }

  return async (token) => {
    const { header, claims } = await verify(token)
    if (!isAccessToken(header.typ, claims))
      throw invalidToken('This is not an access token; an ID token is not accepted.')
    if (claims.cnf !== undefined) throw invalidToken('This access token is bound to a key, which is not supported.')
    const clientId = text(claims[names.client])
    const isConsole = clientId !== '' && clientId === consoleClientId
    if (api === managementApi && !isConsole) throw invalidToken('Only the console may call this.')
    const applicationId = isConsole ? consoleId : clientId
    const carried = scopesOf(claims[names.scope], api.scopePrefix)
    const { scopes, isProven: _isProven, ...member } = await findMember(claims, applicationId)
    const registered = isConsole ? api.scopes : scopes
    const principal = {
      ...member,
      kind: 'delegated',
      tokenId: text(claims.jti),
      // The issuer does not know which scopes the application was registered for here.
      tokenScopes: new Set(registered.filter((scope) => carried.has(scope))),
      applicationId,
      grantId: null,
      lineage: `application ${applicationId} of ${member.userId}`,
    } as const
    return { principal, expiresAt: claims.exp * 1_000 }
  }
}

/** The issuer vouches for the address: its owner gets the proven account or else the oldest. */
const proveOwner = (database: Database, email: string): Promise<void> =>
  database.transaction(async (query) => {
    await lockAddress(query, email)
    const [owner] = await findAccounts(query, email)
    if (!owner) return
    if (owner.tenantId !== null) await removePassword(query, { kind: 'masthead' }, owner)
    await proveAddress(query, owner)
  })

/** Null only when the token names no tenant; a claim of another type must not count as none. */
const tenantOf = (claim: unknown): string | null => {
  if (claim === undefined) return null
  if (text(claim)) return text(claim)
  throw invalidToken('The tenant in this access token is not a text.')
}

type Member = Pick<Principal, 'tenantId' | 'userId' | 'role' | 'assignee' | 'legacyUserId'> & {
  scopes: string[]
  isProven: boolean
}

const findBy = (condition: string): string => `
  select membership.tenant_id as "tenantId", membership.user_id as "userId", membership.role,
    membership.legacy_user_id as "legacyUserId", application.scopes, users.tenant_id is null as "isProven",
    coalesce(membership.legacy_user_id, tenant.default_assignee, '') as assignee
  from users
  join memberships membership on membership.user_id = users.id
  join tenants tenant on tenant.id = membership.tenant_id
  join applications application on application.id = $2 and application.disabled_at is null
    and (application.tenant_id is null or application.tenant_id = tenant.id)
  where ${condition} and ($3::text is null or tenant.slug = $3 or tenant.id::text = $3)
  limit 2`
const findBySubject = findBy('users.subject = $1')
const findByEmail = findBy('users.email_key = $1')

/** By RFC 9068's `typ`, or by what Cognito (`token_use`) and Keycloak (`typ` among the claims) say instead. */
const isAccessToken = (typ: string | undefined, claims: Record<string, unknown>): boolean =>
  /^(application\/)?at\+jwt$/i.test(typ ?? '') || claims.token_use === 'access' || claims.typ === 'Bearer'

const text = (value: unknown): string => (typeof value === 'string' && !value.includes('\0') ? value : '')
