import { type ManagementResources, resourceNames } from '@masthead/contract'
import type { Handlers } from '../../operation-call.ts'
import { importTemplate } from '../../transfer/import/template.ts'
import { existing, json } from '../responses.ts'

export const handlers: Handlers<ManagementResources['importTemplates']> = {
  GetImportTemplate: async ({ params: { resource: name } }) => {
    const resource = resourceNames.find((known) => known === name)
    const { fileName, content } = importTemplate(existing('resource', resource))
    return json({ fileName, content: content.toString('base64') })
  },
}
