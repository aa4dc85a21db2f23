import {
  fieldsOf,
  isListed,
  type Kind,
  type ListedName,
  type ManagementResources,
  readScopeOf,
} from '@masthead/contract'
import { changesOfRecord, noValues, type RecordChange } from '../../audit/queries.ts'
import { requireRole } from '../../identity/principal.ts'
import type { Handlers } from '../../operation-call.ts'
import { readRecord } from '../../records/identifiers.ts'
import type { Fields } from '../../records/stored-record.ts'
import { json, notFound, pageOf } from '../responses.ts'

const pageSize = 20

export const handlers: Handlers<ManagementResources['history']> = {
  GetHistory: async ({ tenant, principal, params: { resource, recordId }, query: { before } }) => {
    if (!isListed(resource)) throw notFound('kind of record')
    requireRole(principal, readScopeOf(resource))
    // A record that was erased is not found, so nothing is told of it.
    const record = await readRecord(tenant, resource, recordId)
    const { id }: { id: string } = JSON.parse(String(record.body))
    const asked = { resource, recordId: id, before, most: pageSize + 1 }
    const page = pageOf(await changesOfRecord(tenant.read, asked), pageSize)
    return json({ ...page, items: page.items.map((entry) => changeOf(resource, entry)) })
  },
}

/** The audit log also holds fields that no response shows. */
const changeOf = (resource: ListedName, { values, ...change }: RecordChange) => {
  const { before, after }: { before: Fields | null; after: Fields | null } = JSON.parse(values ?? noValues)
  return { ...change, before: before && shown(resource, before), after: after && shown(resource, after) }
}

const shown = (resource: ListedName, values: Fields): Fields =>
  Object.fromEntries(
    fieldsOf(resource).flatMap(({ name, kind, isShown }) =>
      isShown && values[name] !== undefined ? [[name, asInResponses(kind, values[name])]] : [],
    ),
  )

/** Imports and their undos note numbers and instants as PostgreSQL writes them. */
const asInResponses = (kind: Kind, value: unknown): unknown => {
  if (typeof value !== 'string') return value
  if (kind === 'integer' || kind === 'number') return Number(value)
  return kind === 'timestamp' ? new Date(value).toISOString() : value
}
