import { randomInt } from 'node:crypto'
import type { Scope } from '@masthead/contract'
import type { Author } from '../../audit/author.ts'
import { installation } from '../../audit/queries.ts'
import { firstRow } from '../../database/connections/first-row.ts'
import type { Query } from '../../database/connections/statement.ts'
import { Refusal } from '../../refusal.ts'
import { publishChange } from '../audit-change.ts'

/** The console is our own application and needs no consent. */
export const consoleId = 'masthead-console'

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

export const registerApplication = async (query: Query, author: Author, given: NewApplication) => {
  const { name, redirectUris, scopes, isNative, mayRefresh, clientId = newClientId(), tenantId = null } = given
  // An application of an outside issuer has its redirect URIs there, and brings its client id.
  if (redirectUris.length === 0 && given.clientId === undefined)
    throw new Refusal('an application needs a redirect URI: give one like https://app.example.com/callback')
  for (const uri of redirectUris) {
    const reason = objection(uri, isNative)
    if (reason) throw new Refusal(`"${uri}" cannot be a redirect URI: ${reason}`)
  }
  if (!name.trim() || !clientId.trim()) throw new Refusal('an application needs a name and an identifier: give both')
  const application = await firstRow<Application>(query, {
    text: `insert into applications (id, name, redirect_uris, scopes, is_native, may_refresh, tenant_id)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning ${columns}`,
    values: [clientId, name, redirectUris, scopes, isNative, mayRefresh, tenantId],
  })
  if (!application) throw new Refusal(`there is already an application "${clientId}": give another identifier`)
  await publish(query, author, 'registered', null, application)
  return application
}

const publish = (query: Query, author: Author, action: string, before: Application | null, after: Application) => {
  const change = { action, resource: 'applications', recordId: after.clientId, before, after }
  return publishChange(query, after.tenantId ?? installation, author, change)
}

const newClientId = (): string =>
  `app_${Array.from({ length: 20 }, () => 'abcdefghijklmnopqrstuvwxyz0123456789'[randomInt(36)]).join('')}`

const loopback = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** RFC 9700 §2.1: exact URIs, TLS but for loopback; RFC 8252 §7.1: private schemes are reversed domain names. */
const objection = (uri: string, isNative: boolean): string | null => {
  const url = URL.parse(uri)
  if (!url) return 'write it whole, like https://app.example.com/callback'
  if (uri.includes('#')) return 'leave out what begins with #'
  if (url.username || url.password) return 'leave the user name out'
  if (/[\s\p{Cc}]/u.test(uri)) return 'encode spaces and control characters'
  if (url.protocol === 'https:')
    return isNative && loopback.has(url.hostname) ? 'use http for a loopback address' : null
  if (url.protocol === 'http:') return loopback.has(url.hostname) ? null : 'use https'
  if (!isNative) return 'use https, or register the application as native'
  return url.protocol.includes('.') ? null : 'a private scheme must hold a domain name, as com.example.app:/callback'
}

export const listApplications = (query: Query) =>
  query<Application>({ text: `select ${columns} from applications order by created_at, id` })

/** The applications that the tenant's administrators registered, newest first. */
export const listApplicationsOf = (query: Query, tenantId: string) =>
  query<Application>({
    text: `select ${columns} from applications where tenant_id = $1 order by created_at desc, id`,
    values: [tenantId],
  })

export const countConsents = async (query: Query, tenantId: string): Promise<Map<string, number>> => {
  const counts = await query<{ id: string; count: number }>({
    text: `select application_id as id, count(*) as count from consents
      where tenant_id = $1 and withdrawn_at is null group by application_id`,
    values: [tenantId],
  })
  return new Map(counts.map(({ id, count }) => [id, count]))
}

export const findApplication = (query: Query, clientId: string) =>
  firstRow<Application>(query, { text: `select ${columns} from applications where id = $1`, values: [clientId] })

/** The tokens of a disabled application end at the next request; enabling it revives those that have not expired. */
export const setApplicationDisabled = async (query: Query, author: Author, clientId: string, disabled: boolean) => {
  const before = await findApplication(query, clientId)
  const after = await firstRow<Application>(query, {
    text: `update applications set disabled_at = case when $2::boolean then coalesce(disabled_at, now()) end
      where id = $1 returning ${columns}`,
    values: [clientId, disabled],
  })
  if (!after) throw new Refusal(`there is no application "${clientId}"; \`masthead app list\` shows them`)
  await publish(query, author, disabled ? 'disabled' : 'enabled', before, after)
  return after
}
