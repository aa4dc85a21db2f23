import type { Resources } from '@masthead/contract'
import { found, type Handlers } from '../../operation-call.ts'
import { findBody } from '../../records/identifiers.ts'
import { listRecords } from '../../records/list.ts'

export const handlers: Handlers<Resources['publications']> = {
  GetPublications: ({ tenant, query }) => listRecords(tenant, 'publications', query),

  GetPublicationById: async ({ tenant, params: { publicationId } }) =>
    found(await findBody(tenant.read, 'publications', publicationId), 'publication', publicationId),
}
