import { randomBytes } from 'node:crypto'
import { allows, type Role, roles, type Scope, scopePrefix } from '@masthead/contract'
import { importJWK, SignJWT } from 'jose'
import { operator } from '../audit/author.ts'
import type { Query } from '../database/connections/statement.ts'
import { registerApplication, setApplicationDisabled } from '../identity/people/applications.ts'
import { storeConsent, withdrawConsents } from '../identity/people/consents.ts'
import { addMember, createMember, type Member, type NewMember } from '../identity/people/members.ts'
import { noPassword } from '../identity/people/passwords.ts'
import { allScopes } from '../identity/people/roles.ts'
import { findProvenUser } from '../identity/people/users.ts'
import { createToken, revokeToken } from '../identity/tokens/access-tokens.ts'
import { loadSigningKeys } from '../identity/tokens/signing-keys.ts'
import { newId } from '../records/identifiers.ts'
import { Refusal } from '../refusal.ts'
import { type Canary, newCanaryEmail } from './canaries.ts'

/** A token, and what it opens. */
export type CanaryToken = {
  kind: string
  secret: string
  /** Null when every operation refuses it with 401. */
  opens: ((scope: string) => boolean) | null
}

/** How our own authorization server signs, and for whom. */
type Issuing = { issuer: string; audience: string; secret: string }

const hour = 3_600_000
const everything = () => true

/** Each canary gets tokens of every kind that works, and others that must be refused. */
export const makeTokens = async (query: Query, canaries: readonly [Canary, Canary], issuing: Issuing | null) => {
  // A user of both tenants could most easily reach one by a token of the other.
  const everywhere = newCanaryEmail()
  const sign = issuing && (await signer(query, issuing))
  const tokens = new Map<Canary, CanaryToken[]>()
  for (const canary of canaries) {
    const other = canaries.find((one) => one !== canary) ?? canary
    const members = await makeMembers(query, canary, everywhere)
    tokens.set(canary, [
      ...(await personalTokens(query, canary, members)),
      ...(await serviceTokens(query, canary)),
      ...(sign ? await delegatedTokens(query, canary, other, members.admin, sign) : []),
    ])
  }
  return tokens
}

type Members = Record<Role, string>

const makeMembers = async (query: Query, canary: Canary, everywhere: string): Promise<Members> => {
  const members: Partial<Members> = {}
  for (const role of roles) {
    const { id } = await makeMember(query, {
      tenantId: canary.id,
      role,
      name: `${canary.mark}-0`,
      legacyUserId: `${canary.mark}-0`,
      ...(role === 'admin' ? { email: everywhere, isProven: true } : { email: newCanaryEmail() }),
      passwordHash: noPassword,
    })
    members[role] = id
    if (role !== 'admin') canary.ids.add(id)
  }
  return members as Members // filled by the loop
}

/** A user who is a member of the other canary already has one account for both. */
const makeMember = async (query: Query, member: NewMember): Promise<Member> => {
  const known = await findProvenUser(query, member.email)
  return known ? addMember(query, operator, known, member) : createMember(query, operator, member)
}

const personalTokens = async (query: Query, canary: Canary, members: Members): Promise<CanaryToken[]> => {
  const given = { tenantId: canary.id, name: `${canary.mark}-0`, scopes: allScopes, lifetime: hour }
  const tokens: CanaryToken[] = []
  for (const role of roles) {
    const { token: secret } = await createToken(query, operator, { ...given, userId: members[role] })
    tokens.push({ kind: role, secret, opens: (scope) => allows(role, scope as Scope) }) // asks only how it ends
  }
  const expired = await createToken(query, operator, { ...given, lifetime: -hour, userId: members.admin })
  tokens.push({ kind: 'expired', secret: expired.token, opens: null })
  return tokens
}

const serviceTokens = async (query: Query, canary: Canary): Promise<CanaryToken[]> => {
  const name = `${canary.mark}-0`
  const create = (scopes: Scope[]) =>
    createToken(query, operator, { tenantId: canary.id, name, service: name, scopes, lifetime: hour })
  const isRead = (scope: string) => scope.endsWith(':read')
  const revoked = await create(allScopes)
  await revokeToken(query, operator, revoked.id)
  const every = await create(allScopes)
  const reading = await create(allScopes.filter(isRead))
  const writing = await create(allScopes.filter((scope) => !isRead(scope)))
  return [
    { kind: 'service', secret: every.token, opens: everything },
    { kind: 'reading only', secret: reading.token, opens: isRead },
    { kind: 'writing only', secret: writing.token, opens: (scope) => !isRead(scope) },
    { kind: 'revoked', secret: revoked.token, opens: null },
  ]
}

type Grant = { tenantId: string; userId: string; clientId: string; grantId: string }
type Sign = (grant: Grant, lifetimeSeconds?: number) => Promise<string>

const accessTokenSeconds = 600

/** Signs as the authorization server does: RFC 9068, with the claims that it adds. */
const signer = async (query: Query, { issuer, audience, secret }: Issuing): Promise<Sign> => {
  const [key] = await loadSigningKeys(query, secret)
  if (!key) throw new Refusal('there is no signing key yet: start the service once')
  const privateKey = await importJWK(key.privateKey, 'RS256')
  const scope = allScopes.map((name) => scopePrefix + name).join(' ')
  return ({ tenantId, userId, clientId, grantId }, lifetimeSeconds = accessTokenSeconds) => {
    const now = Math.floor(Date.now() / 1_000)
    return new SignJWT({ client_id: clientId, scope, tenant: tenantId, grant: grantId, jti: newId() })
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: key.id })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(userId)
      .setIssuedAt(now)
      .setExpirationTime(now + lifetimeSeconds)
      .sign(privateKey)
  }
}

const delegatedTokens = async (query: Query, canary: Canary, other: Canary, userId: string, sign: Sign) => {
  const register = async () => {
    const { clientId } = await registerApplication(query, operator, {
      name: `${canary.mark}-0`,
      redirectUris: ['https://canary.invalid/'],
      scopes: allScopes,
      isNative: false,
      mayRefresh: false,
      tenantId: canary.id,
    })
    return clientId
  }
  const consent = async (clientId: string): Promise<Grant> => {
    const grantId = randomBytes(24).toString('base64url')
    const grant = { grantId, tenantId: canary.id, userId }
    await storeConsent(query, operator, { ...grant, applicationId: clientId, scopes: allScopes })
    return { ...grant, clientId }
  }
  const [application, disabled] = [await register(), await register()]
  const granted = await consent(application)
  const withdrawn = await consent(application)
  const stopped = await consent(disabled)
  await withdrawConsents(query, operator, [withdrawn.grantId])
  await setApplicationDisabled(query, operator, disabled, true)
  const secret = await sign(granted)
  const dead: Record<string, string> = {
    'delegated, expired': await sign(granted, -accessTokenSeconds),
    'delegated, withdrawn': await sign(withdrawn),
    'delegated, disabled': await sign(stopped),
    'delegated, of another tenant': await sign({ ...granted, tenantId: other.id }),
    'delegated, altered': altered(secret, canary.id, other.id),
  }
  return [
    { kind: 'delegated', secret, opens: everything },
    ...Object.entries(dead).map(([kind, token]) => ({ kind, secret: token, opens: null })),
  ]
}

/** Puts another tenant into a token, under the signature of the first. */
const altered = (token: string, tenantId: string, otherId: string): string => {
  const [header, claims = '', signature] = token.split('.')
  const changed = Buffer.from(claims, 'base64url').toString().replace(tenantId, otherId)
  return [header, Buffer.from(changed).toString('base64url'), signature].join('.')
}
