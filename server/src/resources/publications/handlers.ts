import type { Resources } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { readRecord } from '../../records/identifiers.ts'
import { listRecords } from '../../records/lists/list.ts'

export const handlers: Handlers<Resources['publications']> = {
  GetPublications: ({ tenant, query }) => listRecords(tenant, 'publications', query),

  GetPublicationById: ({ tenant, params: { publicationId } }) => readRecord(tenant, 'publications', publicationId),
}
