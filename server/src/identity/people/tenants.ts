import { type Author, operator } from '../../audit/author.ts'
import { lockChains } from '../../audit/queries.ts'
import { firstRow } from '../../database/connections/first-row.ts'
import type { Query } from '../../database/connections/statement.ts'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { findTenantTables } from '../../database/tenant-tables.ts'
import { newId } from '../../records/identifiers.ts'
import { Refusal } from '../../refusal.ts'
import { auditChange, stampIdentity } from '../audit-change.ts'

export type Tenant = {
  id: string
  slug: string
  name: string
  defaultAssignee: string | null
  timeZone: string
  createdAt: Date
}

type NewTenant = Partial<Pick<Tenant, 'id' | 'defaultAssignee'>> & Pick<Tenant, 'slug' | 'name'>

const columns = `id, slug, name, default_assignee as "defaultAssignee", time_zone as "timeZone", created_at as "createdAt"`

export const createTenant = async (query: Query, given: NewTenant): Promise<Tenant> => {
  const { id = newId(), slug, name, defaultAssignee = null } = given
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(slug))
    throw new Refusal(`"${slug}" cannot be a slug: use 1 to 63 of a-z, 0-9 and -, not beginning with -`)
  if (name.trim() === '') throw new Refusal('a tenant needs a name: give it with --name')
  const tenant = await firstRow<Tenant>(query, {
    text: `insert into tenants (id, slug, name, default_assignee) values ($1, $2, $3, $4)
      on conflict (slug) do nothing returning ${columns}`,
    values: [id, slug, name, defaultAssignee],
  })
  if (!tenant) throw new Refusal(`there is already a tenant "${slug}": choose another slug`)
  await auditChange(query, id, operator, { action: 'created', resource: 'tenants', recordId: id, after: tenant })
  return tenant
}

/** Where it is which day, by the name of the IANA database. */
export const setTimeZone = async (query: Query, author: Author, id: string, given: string): Promise<Tenant> => {
  const before = await findTenantById(query, id)
  const timeZone = knownTimeZone(given)
  if (timeZone === null)
    throw new Refusal(`"${given}" is no time zone: give a name such as Europe/Berlin, America/New_York or UTC`)
  const after = await firstRow<Tenant>(query, {
    text: `update tenants set time_zone = $2 where id = $1 returning ${columns}`,
    values: [id, timeZone],
  })
  if (!after) throw new Error('the tenant vanished')
  await auditChange(query, id, author, { action: 'updated', resource: 'tenants', recordId: id, before, after })
  return after
}

/** The name of the IANA database for a place; null where it has none. */
export const knownTimeZone = (given: string): string | null => {
  if (abbreviations.has(given.toUpperCase())) return null
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: given }).resolvedOptions()
    return isNamed(timeZone) ? timeZone : null
  } catch {
    return null
  }
}

/** `Intl` resolves offsets such as +01:00 too, but an offset has no summer time. Its list lacks UTC and the zones of `Etc`. */
const isNamed = (timeZone: string): boolean => timeZones.has(timeZone) || /^(UTC|Etc\/GMT[+-]\d+)$/.test(timeZone)

const timeZones: ReadonlySet<string> = new Set(Intl.supportedValuesOf('timeZone'))

/** `Intl` takes these for one of the places that they may mean, such as IST for India; the IANA database does not have them. */
const abbreviations: ReadonlySet<string> = new Set(
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST'.split(' '),
)

export const listTenants = (query: Query) => query<Tenant>({ text: `select ${columns} from tenants order by slug` })

export const findTenant = async (query: Query, slug: string): Promise<Tenant> => {
  const tenant = await firstRow<Tenant>(query, {
    text: `select ${columns} from tenants where slug = $1`,
    values: [slug],
  })
  if (!tenant) throw new Refusal(`there is no tenant "${slug}"; \`masthead tenant list\` shows them`)
  return tenant
}

/** By its identifier or its slug, which is what stands in the addresses of the console. */
export const tenantNamed = <T extends { id: string; slug: string }>(tenants: readonly T[], name: string) =>
  tenants.find(({ id }) => id === name) ?? tenants.find(({ slug }) => slug === name)

export const findTenantById = async (query: Query, id: string): Promise<Tenant> => {
  const tenant = await firstRow<Tenant>(query, { text: `select ${columns} from tenants where id = $1`, values: [id] })
  if (!tenant) throw new Error('the tenant vanished')
  return tenant
}

/**
 * Deletes a tenant and its rows within a transaction of that tenant, whose policies keep the audit log of a real tenant.
 * It is one transaction, so it suits small tenants.
 */
export const eraseTenant = async (query: TenantQuery): Promise<void> => {
  // The lock waits for writes that refer to the tenant, and blocks new ones.
  await query({ text: 'select id from tenants where id = $1 for update' })
  await lockChains(query.withoutTenant)
  for (const { name } of (await findTenantTables(query.withoutTenant)).reverse()) {
    await query({ text: `delete from ${name} where tenant_id = $1` })
  }
  await query({ text: 'delete from tenants where id = $1' })
  await stampIdentity(query.withoutTenant)
}
