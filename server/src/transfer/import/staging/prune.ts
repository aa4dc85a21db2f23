import { fieldsOf, importKeyOf, type ResourceName, resourceNames } from '@masthead/contract'
import type { TenantQuery } from '../../../database/tenant-query.ts'
import { Refusal } from '../../../refusal.ts'
import { stagingTable } from './staged-rows.ts'

/** Holds the records that a full file of the resource lacks. */
export const missingTable = (resource: ResourceName): string => `missing_${resource}`

export const prunable: readonly ResourceName[] = resourceNames.filter((name) =>
  fieldsOf(name).some(({ marksDeletion }) => marksDeletion),
)

/** Above this share of the live records the file is more likely wrong than full. */
const largestShare = 0.1

export type Missing = { resource: ResourceName; missing: number; live: number }

/** Reads the last position of each list before the files: records that arrive later cannot be in them. */
export const readHeads = async (query: TenantQuery): Promise<Map<string, number>> => {
  const text = 'select resource, last from heads where tenant_id = $1'
  const rows = await query<{ resource: string; last: number }>({ text })
  return new Map(rows.map(({ resource, last }) => [resource, last]))
}

/** A refused row still shows that its record is in the file, as long as its key can be read. */
export const findMissing = async (query: TenantQuery, resource: ResourceName, head: number): Promise<Missing> => {
  const staged = stagingTable(resource)
  const key = importKeyOf(resource)?.column
  const [unnamed] = await query.withoutTenant<{ line: number }>({
    text: `select line from ${staged} where reason is not null and id is null ${key ? `and ${key} is null` : ''} limit 1`,
  })
  if (unnamed) {
    throw new Refusal(
      `--prune needs to know every record of the file, but the row on line ${unnamed.line} of the ${resource} cannot be recognised: mend it first`,
    )
  }
  const inFile = (column: string) =>
    `exists (select from ${staged} as staged where staged.${column} = record.${column})`
  await query.withoutTenant({ text: `create temp table ${missingTable(resource)} (place bigint, record uuid)` })
  await query({
    text: `insert into ${missingTable(resource)}
      select row_number() over (order by position) as place, record.id as record from ${resource} as record
      where record.tenant_id = $1 and record.deleted_at is null and record.position <= $2::bigint
        and not ${inFile('id')} ${key ? `and not ${inFile(key)}` : ''}`,
    values: [head],
  })
  const [counts] = await query<{ missing: number; live: number }>({
    text: `select (select count(*) from ${missingTable(resource)}) as missing,
      (select count(*) from ${resource} where tenant_id = $1 and deleted_at is null) as live`,
  })
  return { resource, missing: counts?.missing ?? 0, live: counts?.live ?? 0 }
}

export const refuseLargePrune = ({ resource, missing, live }: Missing): void => {
  if (missing <= live * largestShare) return
  const share = Math.round((missing / live) * 100)
  throw new Refusal(
    `--prune would mark ${missing} of ${live} ${resource} as deleted (${share} %): above 10 % the file is probably not full. Use --force to do it`,
  )
}
