import { type Api, managementApi, type Role } from '@masthead/contract'
import type { Database } from '../database/database.ts'
import { Problem } from '../problem.ts'
import { consoleId } from './applications.ts'
import { scopesOf } from './delegated-tokens.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import type { Authenticator, Holder, Principal } from './principal.ts'
import { closePassword, emailKey, findAccounts, holdAddress, proveAddress } from './users.ts'
import { VerifiedJwts } from './verified-jwts.ts'

/** An identity provider of the operator's choice, whose access tokens are accepted instead of our own. */
export type OutsideIssuer = {
  issuer: string
  /** What `aud` must hold; null when the issuer puts none into access tokens, as Cognito does. */
  audience: string | null
  /** By which claim a user is found: the subject, or an e-mail address that the issuer has verified. */
  matchUsersBy: 'subject' | 'email'
  claims: { client: string; scope: string; tenant: string; email: string; emailVerified: string }
  /** Under which name it knows the console; null when there is none. */
  consoleClientId: string | null
}

const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA']

/** Finds out for whom an application acts, by an access token of the outside issuer. The same checks as for our own. */
export class OutsideTokens implements Authenticator {
  readonly #database: Database
  readonly #issuer: OutsideIssuer
  readonly #api: Api
  readonly #jwts: VerifiedJwts

  constructor(database: Database, issuer: OutsideIssuer, api: Api, { key }: IssuerKeys) {
    this.#database = database
    this.#issuer = issuer
    this.#api = api
    const audience = issuer.audience === null ? {} : { audience: issuer.audience }
    this.#jwts = new VerifiedJwts(key, { issuer: issuer.issuer, ...audience, algorithms })
  }

  async authenticate(token: string): Promise<Holder> {
    const { header, claims } = await this.#jwts.verify(token)
    if (!isAccessToken(header.typ, claims)) throw refused('This is not an access token; an ID token is not accepted.')
    if (claims.cnf !== undefined) throw refused('This access token is bound to a key, which is not supported.')
    const { claims: names } = this.#issuer
    const clientId = text(claims[names.client])
    const isConsole = clientId !== '' && clientId === this.#issuer.consoleClientId
    if (this.#api === managementApi && !isConsole) throw refused('Only the console may call this.')
    const applicationId = isConsole ? consoleId : clientId
    const carried = scopesOf(claims[names.scope], this.#api.scopePrefix)
    const member = await this.#findMember(claims, applicationId)
    const registered = isConsole ? this.#api.scopes : member.scopes
    const principal: Principal = {
      kind: 'delegated',
      tokenId: text(claims.jti),
      tenantId: member.tenant_id,
      userId: member.user_id,
      role: member.role,
      // The issuer does not know what the application was registered for here.
      tokenScopes: new Set(registered.filter((scope) => carried.has(scope))),
      assignee: member.assignee,
      legacyUserId: member.legacy_user_id,
      applicationId,
      grantId: null,
      lineage: `application ${applicationId} of ${member.user_id}`,
    }
    return { principal, expiresAt: claims.exp * 1_000 }
  }

  async #findMember(claims: Record<string, unknown>, applicationId: string): Promise<MemberRow> {
    const { matchUsersBy, claims: names } = this.#issuer
    const isVerified = [true, 'true'].some((value) => claims[names.emailVerified] === value)
    if (matchUsersBy === 'email' && !isVerified)
      throw refused('The issuer has not verified the e-mail address of this user.')
    const user = matchUsersBy === 'email' ? emailKey(text(claims[names.email])) : text(claims.sub)
    const find = () =>
      this.#database.read<MemberRow>({
        text: matchUsersBy === 'email' ? findByEmail : findBySubject,
        values: [user, applicationId, tenantOf(claims[names.tenant])],
      })
    let rows = await find()
    if (matchUsersBy === 'email' && rows.some(({ is_proven }) => !is_proven)) {
      await this.#vouchFor(user)
      rows = await find()
    }
    // Without a tenant in the token it must be plain which one is meant.
    const [member, ...others] = rows
    if (!member)
      throw refused('The application, the user or the membership behind this access token is not known here.')
    if (others.length > 0) throw refused('This user belongs to several tenants, and the access token names none.')
    return member
  }

  /** The issuer vouches for the address: the proven account, or else the oldest, is that of its owner. */
  async #vouchFor(email: string): Promise<void> {
    await this.#database.transaction(async (query) => {
      await holdAddress(query, email)
      const [owner] = await findAccounts(query, email)
      if (!owner) return
      if (owner.tenantId !== null) await closePassword(query, { kind: 'masthead' }, owner)
      await proveAddress(query, { kind: 'masthead' }, owner)
    })
  }
}

/** Null only when the token names none: one that cannot be read must not become another. */
const tenantOf = (claim: unknown): string | null => {
  if (claim === undefined) return null
  if (text(claim)) return text(claim)
  throw refused('The tenant in this access token is not a text.')
}

type MemberRow = {
  tenant_id: string
  user_id: string
  role: Role
  assignee: string
  legacy_user_id: string | null
  scopes: string[]
  is_proven: boolean
}

const findBy = (condition: string): string => `
  select membership.tenant_id, membership.user_id, membership.role, application.scopes, membership.legacy_user_id,
    users.tenant_id is null as is_proven,
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

const refused = (detail: string): Problem => new Problem('invalid_token', detail)
