import { type Field, type ResourceName, storedFieldsOf } from '@masthead/contract'

/** A record by the names of its fields in the contract. */
export type Fields = Readonly<Record<string, unknown>>
export type StoredRecord = Fields & { id: string }

/**
 * SQL: a stored record, or a staged row, as JSON by its fields. Numbers and instants are texts, which the database
 * reads back to the digit.
 */
export const imageOf = (resource: ResourceName, row: string, importId = `${row}.import_id`): string => {
  const members = storedFieldsOf(resource).map((field) => `'${field.name}', ${exact(field, row)}`)
  return `json_build_object(${[...members, `'importId', ${importId}`].join(', ')})`
}

const exact = ({ column, kind }: Field, row: string): string =>
  ['money', 'integer', 'number', 'timestamp'].includes(kind) ? `${row}.${column}::text` : `${row}.${column}`

/** SQL: an instant as responses show it, whatever the settings of the database. */
export const instantText = (instant: string): string =>
  `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** SQL: what is stored of a record and shown by no response, likewise. */
export const hiddenOf = (resource: ResourceName, row = 'record'): string => {
  const hidden = storedFieldsOf(resource).filter(({ isShown }) => !isShown)
  return `json_build_object(${hidden.map((field) => `'${field.name}', ${exact(field, row)}`).join(', ')})`
}
