import * as field from '../fields.ts'
import { count } from '../fields.ts'
import { defineResource } from '../operation.ts'
import { Type } from '../schema.ts'
import { ImportRun } from './import-runs.ts'
import { listOf } from './list-of.ts'

const Import = Type.Object(
  {
    id: field.identifier('Identifier of the import.'),
    state: field.oneOf(
      ['running', 'interrupted', 'done', 'undone', 'done, too old to undo'],
      'How it stands. One that was interrupted is completed by the same file again, or undone.',
    ),
    startedAt: field.timestamp('When it began to write.'),
    endedAt: field.nullableTimestamp('When it ended; null while it runs, and when it was interrupted.'),
    undoneAt: field.nullableTimestamp('When it was undone; null when it was not.'),
    runId: field.nullableText('The run that brought it, for a day; null for one of the command line.'),
    files: Type.Array(
      Type.Object(
        {
          file: field.text('Name of the file.'),
          resource: field.text('What it holds.'),
          created: count('Records that were created.'),
          changed: count('Records that were changed.'),
          unchanged: count('Records that were the same already.'),
          refused: count('Rows that were refused.'),
        },
        field.closed,
      ),
      { description: 'What it did, file by file.' },
    ),
  },
  { ...field.closed, title: 'Import' },
)

export const imports = defineResource({
  name: 'imports',
  singular: 'import',
  description: 'Imports that wrote records, from the console and from the command line.',
  record: Import,
  operations: {
    GetImports: {
      method: 'GET',
      path: '/imports',
      scope: 'imports:manage',
      summary: 'List the imports, the newest first',
      status: 200,
      response: listOf(Import, 'ImportList'),
    },
    UndoImport: {
      method: 'POST',
      path: '/imports/{importId}/undo',
      scope: 'imports:manage',
      summary: 'Take back an import, where nothing changed since; possible for 30 days',
      status: 201,
      response: ImportRun,
      problems: ['conflict'],
    },
  },
})
