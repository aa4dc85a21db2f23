import { allows, type Role, roles, type Scope } from '@masthead/contract'
import { operator } from '../../src/audit/author.ts'
import { listMembers, removeMember } from '../../src/identity/people/members.ts'
import { allScopes } from '../../src/identity/people/roles.ts'
import { newToken } from '../../src/identity/token-format.ts'
import { listTokens, revokeToken } from '../../src/identity/tokens/access-tokens.ts'
import { authorize, newApplication, newPerson, prefixed } from '../browsers/oauth-browser.ts'
import type { Service, TestTenant } from '../service.ts'

/** Who holds a token, and what may be done with it; null for a token that is worth nothing. */
export type Holder = { tenantId: string; scopes: ReadonlySet<string> } | null
export type Token = { text: string; holder: Holder }

type Maker = (service: Service, tenant: TestTenant, theirs: TestTenant) => Promise<Token>

const held = (text: string, { id }: TestTenant, scopes: readonly Scope[]): Token => ({
  text,
  holder: { tenantId: id, scopes: new Set(scopes) },
})
const worthless = (text: string): Token => ({ text, holder: null })

const readScopes = allScopes.filter((scope) => scope.endsWith(':read'))
const serviceToken =
  (scopes: readonly Scope[]): Maker =>
  async (_service, tenant) =>
    held(await tenant.serviceToken(scopes), tenant, scopes)
const personalToken =
  (role: Role): Maker =>
  async (_service, tenant) =>
    held(
      await tenant.personalToken(role),
      tenant,
      allScopes.filter((scope) => allows(role, scope)),
    )
const delegatedToken =
  (role: Role, scopes: readonly Scope[]): Maker =>
  async (service, tenant) => {
    const application = await newApplication(service, { scopes: [...scopes] })
    const person = await newPerson(service, [tenant, role])
    const request = { scope: `openid ${prefixed(...scopes)}` }
    const { access_token } = await authorize(service.origin, { application, person, request })
    return held(
      access_token,
      tenant,
      scopes.filter((scope) => allows(role, scope)),
    )
  }

/** A token of a tenant that is there for nothing else. */
const ended =
  (make: (tenant: TestTenant) => Promise<string>, end: (service: Service, tenantId: string) => Promise<void>): Maker =>
  async (service) => {
    const tenant = await service.newTenant()
    const text = await make(tenant)
    await end(service, tenant.id)
    return worthless(text)
  }

/** The claims of a good token under another signature or none, or other claims under its signature. */
const forgeries: Readonly<Record<string, (parts: readonly string[]) => readonly (string | undefined)[]>> = {
  'with another signature': ([head, claims, signature = '']) => [head, claims, [...signature].reverse().join('')],
  'without a signature': ([, claims]) => [encoded({ alg: 'none', typ: 'at+jwt' }), claims, ''],
  'with other claims': ([head, , signature]) => [head, encoded({ sub: 'x', exp: 9e9 }), signature],
  'of a key that nobody has': ([, claims, signature]) => [
    encoded({ alg: 'RS256', typ: 'at+jwt', kid: 'x' }),
    claims,
    signature,
  ],
}
const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/** Of every kind one. Those of the other tenant can only read, so that nobody but its own callers may change it. */
const makers: Readonly<Record<string, Maker>> = {
  'every scope': serviceToken(allScopes),
  ...Object.fromEntries(roles.map((role) => [role, personalToken(role)])),
  ...Object.fromEntries(allScopes.map((scope) => [`only ${scope}`, serviceToken([scope])])),
  ...Object.fromEntries(
    allScopes.map((scope) => [`all but ${scope}`, serviceToken(allScopes.filter((one) => one !== scope))]),
  ),
  delegated: delegatedToken('admin', allScopes),
  'delegated by a viewer': delegatedToken('viewer', allScopes),
  'delegated to read': delegatedToken('editor', readScopes),
  'of the other tenant': (service, _tenant, theirs) => serviceToken(readScopes)(service, theirs, theirs),
  'of a viewer of the other tenant': (service, _tenant, theirs) => personalToken('viewer')(service, theirs, theirs),
  expired: async (_service, tenant) => worthless(await tenant.serviceToken(allScopes, { lifetime: -1 })),
  'expired, of a user': async (_service, tenant) =>
    worthless(await tenant.personalToken('admin', allScopes, { lifetime: -1 })),
  revoked: ended(
    (tenant) => tenant.serviceToken(),
    async ({ database: { query } }, tenantId) => {
      for (const { id } of await listTokens(query, tenantId)) await revokeToken(query, operator, id)
    },
  ),
  'of a removed member': ended(
    (tenant) => tenant.personalToken('admin'),
    async ({ database: { query } }, tenantId) => {
      for (const { email } of await listMembers(query, tenantId)) await removeMember(query, operator, tenantId, email)
    },
  ),
  'that nobody holds': async () => worthless(newToken('service')),
  'of three parts': async () => worthless('a.b.c'),
  'cut off': async (_service, tenant) => worthless((await tenant.serviceToken()).slice(0, -1)),
}

export const tokenKinds: readonly string[] = [...Object.keys(makers), ...Object.keys(forgeries)]

export const newTokens = async (
  service: Service,
  tenant: TestTenant,
  theirs: TestTenant,
): Promise<ReadonlyMap<string, Token>> => {
  const tokens = new Map<string, Token>()
  for (const [kind, make] of Object.entries(makers)) tokens.set(kind, await make(service, tenant, theirs))
  const parts = tokens.get('delegated')?.text.split('.') ?? []
  for (const [kind, forge] of Object.entries(forgeries)) tokens.set(kind, worthless(forge(parts).join('.')))
  return tokens
}
