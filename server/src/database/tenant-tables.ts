import type { Query } from './connections/statement.ts'

/** A table whose rows belong to tenants, as the catalogue of the database knows it. */
export type TenantTable = {
  name: string
  columns: readonly TenantColumn[]
  /** The role that asks owns it, so that only a forced policy holds that role. */
  isOwned: boolean
}

export type TenantColumn = { name: string; type: string; isNeeded: boolean; isReadable: boolean }

/** Read before the tenant of a call is known, or for all tenants at once, so no policy can hold them. */
export const withoutPolicy: readonly string[] = [
  'users',
  'memberships',
  'access_tokens',
  'applications',
  'consents',
  'invitations',
  'audit_waiting',
]

/** Read by functions of their owner's, which name the tenant themselves, so no policy is forced on their owner. */
export const readByTheirOwner: readonly string[] = ['heads', 'search_texts']

/** Every table that has a tenant, those that others refer to first. */
export const findTenantTables = async (query: Query): Promise<TenantTable[]> => {
  const found = await query<TenantTable & { refersTo: string[] }>({
    text: `
      select quote_ident(relation.relname) as name, pg_has_role(relation.relowner, 'usage') as "isOwned",
        array(
          select quote_ident(referred.relname) from pg_constraint join pg_class as referred on referred.oid = confrelid
          where conrelid = relation.oid and contype = 'f'
        ) as "refersTo",
        (
          select json_agg(json_build_object(
            'name', quote_ident(attname), 'type', format_type(atttypid, null),
            'isNeeded', attnotnull and not atthasdef and attidentity = '',
            'isReadable', has_column_privilege(relation.oid, attnum, 'select')) order by attnum)
          from pg_attribute where attrelid = relation.oid and attnum > 0 and not attisdropped
        ) as columns
      from pg_class as relation
      join pg_attribute on attrelid = relation.oid and attname = 'tenant_id' and not attisdropped
      where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
      order by relname`,
  })
  const names = new Set(found.map(({ name }) => name))
  const placed = new Set<string>()
  const isReady = ({ name, refersTo }: { name: string; refersTo: string[] }) =>
    !placed.has(name) && refersTo.every((other) => other === name || !names.has(other) || placed.has(other))
  const ordered: TenantTable[] = []
  for (let table = found.find(isReady); table; table = found.find(isReady)) {
    placed.add(table.name)
    ordered.push(table)
  }
  if (ordered.length < found.length) throw new Error('tables of tenants refer to each other in a circle')
  return ordered
}
