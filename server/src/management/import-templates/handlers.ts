import { type ManagementResources, resourceNames } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { importTemplate } from '../../transfer/import/template.ts'
import { json, notFound } from '../responses.ts'

export const handlers: Handlers<ManagementResources['importTemplates']> = {
  GetImportTemplate: async ({ params: { resource: name } }) => {
    const resource = resourceNames.find((known) => known === name)
    if (!resource) throw notFound('resource')
    const { fileName, content } = importTemplate(resource)
    return json({ fileName, content: content.toString('base64') })
  },
}
