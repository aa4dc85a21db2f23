import * as field from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'

const ImportTemplate = Type.Object(
  {
    fileName: field.text('What to call the file.'),
    content: field.text('A CSV file in base64, whose only line names the columns.'),
  },
  { ...field.closed, title: 'ImportTemplate' },
)

export const importTemplates = defineResource({
  name: 'import-templates',
  singular: 'import template',
  description: 'Files to fill in, one for each resource.',
  record: ImportTemplate,
  operations: {
    GetImportTemplate: {
      method: 'GET',
      path: '/import-templates/{resource}',
      scope: 'imports:manage',
      summary: 'Get a file with the columns of a resource',
      status: 200,
      response: ImportTemplate,
    },
  },
})
