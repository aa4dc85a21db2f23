import { type Field, type ResourceName, storedFieldsOf } from '@masthead/contract'
import pg from 'pg'
import type { TenantQuery } from '../../database/tenant-query.ts'
import { instantText } from '../../records/stored-record.ts'
import { tables } from '../../records/tables.ts'
import type { FileFormat } from '../files/file-names.ts'
import { riskyBeginning } from '../files/spreadsheet-cells.ts'

/** Which records of a resource: all of them, deleted and hidden ones too, or those of some classes to which SQL conditions apply. */
export type Selection = { resource: ResourceName; classes?: readonly number[]; conditions?: string }

/** The statement that writes records by position. Values look as in the API, whatever the settings of the database. */
export const copyOut = (
  tenantId: string,
  selection: Selection,
  format: FileFormat,
  { forSpreadsheet = false, quoted = [] }: { forSpreadsheet?: boolean; quoted?: readonly string[] } = {},
) => {
  const { resource } = selection
  const fields = storedFieldsOf(resource)
  if (format === 'csv') {
    const cells = fields.map((field) => {
      const value = csvValue(resource, field)
      return `${forSpreadsheet && field.kind === 'text' ? spreadsheetText(value) : value} as ${field.column}`
    })
    // A spreadsheet may take what is not quoted apart at other delimiters, too.
    const columns = forSpreadsheet ? '*' : quoted.length > 0 ? `(${quoted.join(', ')})` : ''
    const quoting = columns && `, force_quote ${columns}`
    return `copy (${inOrder(tenantId, selection, cells.join(', '))}) to stdout (format csv, encoding 'UTF8'${quoting})`
  }
  const members = fields.map((field) => `${jsonValue(resource, field)} as "${field.name}"`)
  const lines = inOrder(
    tenantId,
    selection,
    'row_to_json(record)',
    `cross join lateral (select ${members.join(', ')}) as record`,
  )
  // JSON holds no control characters, so that with these nothing is ever quoted, and lines come out as they are.
  return `copy (${lines}) to stdout (format csv, quote E'\\x01', delimiter E'\\x02', encoding 'UTF8')`
}

/** Finds the columns in which a text is `\N`, which an import takes for null unless it is quoted. */
export const columnsToQuote = async (query: TenantQuery, resource: ResourceName): Promise<string[]> => {
  const columns = storedFieldsOf(resource).flatMap(({ kind, column }) => (kind === 'text' ? column : []))
  const found = columns.map((column) => `bool_or(${column} = E'\\\\N') as ${column}`).join(', ')
  const [row = {}] = await query<Record<string, boolean | null>>({
    text: `select ${found} from ${resource} where tenant_id = $1`,
  })
  return columns.filter((column) => row[column])
}

/**
 * The index holds positions by class: its parts are merged, and nothing is sorted, which would take as much room again
 * on the disk of the database.
 */
const inOrder = (tenantId: string, selection: Selection, values: string, more = ''): string => {
  const { resource, conditions = '' } = selection
  const { classes = Array.from({ length: tables[resource].classCount }, (_, index) => index) } = selection
  // COPY takes no parameters.
  const tenant = pg.escapeLiteral(tenantId)
  const parts = classes.map(
    (number) =>
      `(select * from ${resource} where tenant_id = ${tenant} and class = ${number} ${conditions} order by position)`,
  )
  return `select ${values} from (${parts.join(' union all ')}) as ${resource} ${more} order by ${resource}.position`
}

const csvValue = (resource: ResourceName, field: Field): string =>
  field.kind === 'boolean' ? `${resource}.${field.column}::text` : jsonValue(resource, field)

/** As `spreadsheetCell` makes it. Numbers, dates and the like have no beginning that matters, or are numbers there as well. */
const spreadsheetText = (value: string): string =>
  `case when ${value} ~ ${pg.escapeLiteral(riskyBeginning)} then '''' || ${value} else ${value} end`

const jsonValue = (resource: ResourceName, { column, kind }: Field): string => {
  const value = `${resource}.${column}`
  if (kind === 'timestamp') return instantText(value)
  if (kind === 'date') return `to_char(${value}, 'YYYY-MM-DD')`
  return kind === 'money' || kind === 'integer' ? `${value}::text` : value
}
