import { type ManagementResources, resourceNames, storedFieldsOf } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { csvLine } from '../../transfer/files/csv-rows.ts'
import { json, notFound } from '../responses.ts'

/** By it Excel recognises UTF-8. */
const byteOrderMark = '\uFEFF'

export const handlers: Handlers<ManagementResources['importTemplates']> = {
  GetImportTemplate: async ({ params: { resource: name } }) => {
    const resource = resourceNames.find((known) => known === name)
    if (!resource) throw notFound('resource')
    const columns = storedFieldsOf(resource).map((field) => field.name)
    const content = Buffer.from(byteOrderMark + csvLine(columns)).toString('base64')
    return json({ fileName: `${resource}.csv`, content })
  },
}
