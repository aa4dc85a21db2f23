import * as field from '../fields.ts'
import { asking, cursor, defineResource, flag, pageOf, paging, search } from '../operation.ts'
import { Type } from '../schema.ts'

const Publication = Type.Object(
  {
    id: field.withDefault('newId', field.identifier('Identifier of the publication.')),
    code: field.text('Business identifier of the publication.'),
    name: field.keyed('name', field.nullableText('Name of the publication.')),
    isActive: field.nullableBoolean('The publication appears.'),
    frequency: field.nullableText('How often it appears.'),
    issFrequency: field.nullableText('How issues are counted.'),
    issueDecimals: field.nullableNumber('Decimals of an issue number.'),
    createdAt: field.withDefault('now', field.timestamp('When the publication was created.')),
    updatedAt: field.withDefault('now', field.timestamp('When the publication last changed.')),
  },
  { ...field.closed, title: 'Publication' },
)

const searched = ['code', 'name'] as const
const sorts = ['code', 'name', 'createdAt', 'updatedAt'] as const

export const publications = defineResource({
  name: 'publications',
  singular: 'publication',
  description: 'The titles a publisher sells.',
  record: Publication,
  businessIdentifier: 'code',
  listing: { filters: ['isActive'], leftOutUnless: {}, search: searched, sorts },
  operations: {
    GetPublications: {
      method: 'GET',
      path: '/publications',
      scope: 'publications:read',
      summary: 'List publications',
      query: Type.Object({
        ...paging,
        search: search(searched),
        isActive: flag('Only publications that appear (true), or that no longer do (false).'),
        ...asking(sorts),
        cursor,
      }),
      status: 200,
      response: pageOf(Publication, 'PublicationPage'),
    },
    GetPublicationById: {
      method: 'GET',
      path: '/publications/{publicationId}',
      scope: 'publications:read',
      summary: 'Get a publication by its code or id',
      status: 200,
      response: Publication,
    },
  },
})
