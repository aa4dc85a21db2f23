import type { ResourceName } from '@masthead/contract'
import { type Column, transferColumns } from '../columns.ts'

/**
 * SQL: a stored record, or a staged row, as JSON by its fields. Numbers and instants are texts, which the database
 * reads back to the digit.
 */
export const imageOf = (resource: ResourceName, row: string, importId = `${row}.import_id`): string => {
  const members = transferColumns[resource].map((column) => `'${column.field}', ${exact(column, row)}`)
  return `json_build_object(${[...members, `'importId', ${importId}`].join(', ')})`
}

const exact = ({ column, kind }: Column, row: string): string =>
  ['money', 'integer', 'number', 'timestamp'].includes(kind) ? `${row}.${column}::text` : `${row}.${column}`
