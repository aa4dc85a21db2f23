import { randomInt } from 'node:crypto'
import type { Scope } from '@masthead/contract'
import type { Author } from '../audit/author.ts'
import { installation } from '../audit/queries.ts'
import type { Query } from '../database/connection.ts'
import { Refusal } from '../refusal.ts'
import { noteChange } from './changes.ts'

/** Our own, which asks nobody for consent. */
export const consoleId = 'masthead-console'

/** A program of somebody else's that acts for users. */
export type Application = {
  clientId: string
  name: string
  redirectUris: string[]
  scopes: Scope[]
  isNative: boolean
  mayRefresh: boolean
  /** The only tenant that can be consented to, when a tenant's administrator registered it. */
  tenantId: string | null
  createdAt: Date
  disabledAt: Date | null
}

const columns = `id as "clientId", name, redirect_uris as "redirectUris", scopes, is_native as "isNative",
  may_refresh as "mayRefresh", tenant_id as "tenantId", created_at as "createdAt", disabled_at as "disabledAt"`

export type NewApplication = Pick<Application, 'name' | 'redirectUris' | 'scopes' | 'isNative' | 'mayRefresh'> & {
  clientId?: string
  tenantId?: string | null
}

export const registerApplication = async (
  query: Query,
  author: Author,
  given: NewApplication,
): Promise<Application> => {
  // One that an outside issuer knows has its redirect URIs there.
  if (given.redirectUris.length === 0 && given.clientId === undefined) {
    throw new Refusal('an application needs at least one redirect URI')
  }
  for (const uri of given.redirectUris) requireRedirectUri(uri, given.isNative)
  const clientId = given.clientId ?? newClientId()
  if (!given.name.trim() || !clientId.trim()) throw new Refusal('an application needs a name and an identifier')
  const { name, redirectUris, scopes, isNative, mayRefresh, tenantId = null } = given
  const [application] = await query<Application>({
    text: `insert into applications (id, name, redirect_uris, scopes, is_native, may_refresh, tenant_id)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning ${columns}`,
    values: [clientId, name, redirectUris, scopes, isNative, mayRefresh, tenantId],
  })
  if (!application) throw new Refusal(`there is already an application "${clientId}"`)
  await note(query, author, application, 'registered')
  return application
}

const note = (
  query: Query,
  author: Author,
  after: Application,
  action: string,
  before: Application | null = null,
): Promise<void> =>
  noteChange(query, after.tenantId ?? installation, author, {
    ...{ action, resource: 'applications', recordId: after.clientId, after: JSON.stringify(after) },
    before: before && JSON.stringify(before),
  })

const newClientId = (): string =>
  `app_${Array.from({ length: 20 }, () => 'abcdefghijklmnopqrstuvwxyz0123456789'[randomInt(36)]).join('')}`

const loopback = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** RFC 9700 §2.1: exact URIs, TLS but for loopback; RFC 8252 §7.1: private schemes are those of a domain name reversed. */
const requireRedirectUri = (uri: string, isNative: boolean): void => {
  const why = objection(uri, isNative)
  if (why) throw new Refusal(`"${uri}" cannot be a redirect URI: ${why}`)
}

const objection = (uri: string, isNative: boolean): string | null => {
  const url = URL.parse(uri)
  if (!url) return 'it is not an absolute address'
  if (uri.includes('#')) return 'it has a fragment'
  if (url.username || url.password) return 'it has a user name'
  if (/[\s\p{Cc}]/u.test(uri)) return 'it holds a space or a control character'
  if (url.protocol === 'https:')
    return isNative && loopback.has(url.hostname) ? 'a loopback address is reached by http' : null
  if (url.protocol === 'http:') return loopback.has(url.hostname) ? null : 'use https'
  if (!isNative) return 'use https, or register the application as native'
  return url.protocol.includes('.') ? null : 'a private scheme must hold a domain name, as com.example.app:/callback'
}

export const listApplications = (query: Query): Promise<Application[]> =>
  query<Application>({ text: `select ${columns} from applications order by created_at, id` })

/** Those that a tenant's administrators registered, the newest first. */
export const listApplicationsOf = (query: Query, tenantId: string): Promise<Application[]> =>
  query<Application>({
    text: `select ${columns} from applications where tenant_id = $1 order by created_at desc, id`,
    values: [tenantId],
  })

/** How many consents stand in a tenant, by application. */
export const countConsents = async (query: Query, tenantId: string): Promise<Map<string, number>> => {
  const counts = await query<{ id: string; count: number }>({
    text: `select application_id as id, count(*) as count from consents
      where tenant_id = $1 and withdrawn_at is null group by application_id`,
    values: [tenantId],
  })
  return new Map(counts.map(({ id, count }) => [id, count]))
}

export const findApplication = async (query: Query, clientId: string): Promise<Application | null> => {
  const [application] = await query<Application>({
    text: `select ${columns} from applications where id = $1`,
    values: [clientId],
  })
  return application ?? null
}

/** A disabled application's tokens end within a second; an enabled one's that have not expired work again. */
export const setApplicationDisabled = async (
  query: Query,
  author: Author,
  clientId: string,
  disabled: boolean,
): Promise<Application> => {
  const before = await findApplication(query, clientId)
  const [application] = await query<Application>({
    text: `update applications set disabled_at = case when $2::boolean then coalesce(disabled_at, now()) end
      where id = $1 returning ${columns}`,
    values: [clientId, disabled],
  })
  if (!application) throw new Refusal(`there is no application "${clientId}"; \`masthead app list\` shows them`)
  await note(query, author, application, disabled ? 'disabled' : 'enabled', before)
  return application
}
