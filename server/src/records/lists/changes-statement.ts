import { fieldOf, type ListedName, listedNames, type Resource, resources } from '@masthead/contract'
import type { Statement } from '../../database/connections/statement.ts'

/**
 * A row of the answer: first the heads of the tenant's lists, with their timelines, and then changes, of which `body` is the JSON,
 * list by list and in the order of their versions.
 */
export type ChangeRow = { resource: ListedName; version: number; timelines: string | null; body: Buffer | null }

/** No list is as long: nothing comes after it. */
const neverReached = '9223372036854775807'

/** The changes after these versions, so many at most; of lists without a version there are none. */
export const changesStatement = (versions: ReadonlyMap<ListedName, number>, most: number): Statement => ({
  text,
  values: [most, ...listedNames.map((name) => versions.get(name) ?? neverReached)],
})

/** The JSON of a change, around the stored body of its record. */
const written = (name: ListedName): string => {
  const { importKey }: Resource = resources[name]
  const externalId = importKey ? `coalesce(to_json(${fieldOf(name, importKey).column})::text, 'null')` : `'null'`
  return `'{"resource":"${name}","id":"' || id || '","externalId":' || ${externalId} || ',"change":"written","record":' || body || '}'`
}

const removed = (name: ListedName): string =>
  `'{"resource":"${name}","id":"' || id || '","externalId":null,"change":"removed","record":null}'`

/**
 * A list is read by its index from the version on, and so are its tombstones: the page costs the same wherever it begins. PostgreSQL reads
 * the parts of a union one after the other and stops at the limit, so the lists stand in their order, and no more is read than fits.
 */
const changesOf = (name: ListedName, index: number): string => {
  const version = `$${index + 3}::bigint`
  return `(
    select '${name}' as resource, version, body from (
      (select version, ${written(name)} as body from ${name}
        where tenant_id = $1 and version > ${version} order by version limit $2::bigint)
      union all
      (select version, ${removed(name)} from removed_records
        where tenant_id = $1 and resource = '${name}' and version > ${version} order by version limit $2::bigint)
    ) as ${name} order by version limit $2::bigint
  )`
}

const text = `
  select resource, version, array_to_string(timelines, ' ') as timelines, null as body from heads where tenant_id = $1
  union all (
    select resource, version, null, body from (${listedNames.map(changesOf).join(' union all ')}) as changes limit $2::bigint
  )`
