import type { ResourceName } from '@masthead/contract'
import type { Author } from '../../audit/author.ts'
import { auditValues } from '../../audit/queries.ts'
import { type Query, unpreparedOn } from '../../database/connection.ts'
import type { TenantDatabase } from '../../database/database.ts'

/** What an import did to the files it was given. */
export type FileSummary = {
  file: string
  resource: ResourceName
  created: number
  changed: number
  unchanged: number
  refused: number
}

export type ImportRecord = {
  id: string
  startedAt: Date
  endedAt: Date | null
  undoneAt: Date | null
  files: FileSummary[]
}

const columns = `id, started_at as "startedAt", ended_at as "endedAt", undone_at as "undoneAt", files`

/** How long an import can be undone. */
export const undoDays = 30

const tooOld = `import_id in (select id from imports where started_at < now() - interval '${undoDays} days')`

/** Former values are personal data, and are kept no longer than they can be of use. */
export const forgetOld = async (query: Query): Promise<void> => {
  await query({ text: `delete from import_changes where ${tooOld}` })
  await query({ text: `delete from import_creations where ${tooOld}` })
}

/** The same, for whoever does not know whether there are any; there may be so many that it takes long. */
export const forgetOldImages = async (tenant: TenantDatabase): Promise<void> => {
  const found = await tenant.read({
    text: `(select 1 from import_changes where ${tooOld} limit 1) union all (select 1 from import_creations where ${tooOld} limit 1)`,
  })
  if (found.length > 0) await tenant.inBulk((client) => forgetOld(unpreparedOn(client)))
}

/** Of a record that is erased. */
export const forgetImages = async (query: Query, resource: ResourceName, id: string): Promise<number> =>
  (
    await query({
      text: 'delete from import_changes where resource = $1 and record_id = $2 returning 1',
      values: [resource, id],
    })
  ).length

/** `files` says what is planned. */
export const beginImport = async (
  query: Query,
  author: Author,
  id: string,
  files: readonly FileSummary[],
): Promise<void> => {
  await forgetOld(query)
  const after = JSON.stringify(files)
  await query({
    text: `with begun as (insert into imports (id, files) values ($1, $2) returning id)
      select append_to_audit(current_tenant(), $3, $4) from begun`,
    values: [id, after, ...auditValues(author, [{ action: 'begun', resource: 'imports', recordId: id, after }])],
  })
}

export const endImport = async (
  query: Query,
  author: Author,
  id: string,
  files: readonly FileSummary[],
): Promise<void> => {
  const after = JSON.stringify(files)
  await query({
    text: `with ended as (update imports set ended_at = now(), files = $2 where id = $1 returning id)
      select append_to_audit(current_tenant(), $3, $4) from ended`,
    values: [id, after, ...auditValues(author, [{ action: 'ended', resource: 'imports', recordId: id, after }])],
  })
}

export const listImports = (query: Query): Promise<(ImportRecord & { runId: string | null })[]> =>
  query<ImportRecord & { runId: string | null }>({
    text: `select ${columns}, (
        select id from import_runs where import_id = imports.id and kind = 'import' limit 1
      ) as "runId"
      from imports order by started_at desc, id desc limit 1000`,
  })

export const findImport = async (query: Query, id: string): Promise<ImportRecord | undefined> => {
  const [found] = await query<ImportRecord>({ text: `select ${columns} from imports where id = $1`, values: [id] })
  return found
}

/** Records at these positions are creations of the import. */
export const noteCreations = (
  query: Query,
  importId: string,
  resource: ResourceName,
  first: number,
  last: number,
): Promise<unknown> =>
  query({
    text: 'insert into import_creations (import_id, resource, first, last) values ($1, $2, $3, $4)',
    values: [importId, resource, first, last],
  })

export type Image = Record<string, unknown> & { id: string }

/** What the records were before the import changed them; of a record that it changes twice, the first image counts. */
export const noteChanges = (
  query: Query,
  importId: string,
  resource: ResourceName,
  images: readonly Image[],
): Promise<unknown> =>
  query({
    text: `insert into import_changes (import_id, resource, record_id, before)
      select $1, $2, (image ->> 'id')::uuid, image from json_array_elements($3::json) as image
      on conflict do nothing`,
    values: [importId, resource, JSON.stringify(images)],
  })
