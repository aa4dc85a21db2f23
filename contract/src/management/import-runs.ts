import type { Static } from 'typebox'
import * as field from '../fields.ts'
import { count, longest, oneOf } from '../fields.ts'
import { defineResource } from '../operation.ts'
import { resourceNames } from '../resources.ts'
import { Type } from '../schema.ts'
import { ImportInspection, ImportOptions } from './import-inspection.ts'

const states = ['receiving', 'running', 'interrupted', 'inspected', 'checked', 'done', 'failed', 'cancelled'] as const
const steps = ['reading', 'judging', 'writing', 'undoing'] as const

/** Of a part of a file: in base64, so that a body of the largest size holds one. */
export const importPart = { bytes: 180_000, most: 1_000 } as const

const file = field.text('The file of an archive; empty when it is none.')

const RefusalGroup = Type.Object(
  {
    file,
    column: field.text('Field; empty when it is the row as a whole.'),
    reason: field.text('Why, without the values of rows.'),
    example: field.text('Why the first of them is refused.'),
    count: count('How many rows.'),
    lines: Type.Array(Type.Integer(), { description: 'The lines of the first five.' }),
  },
  field.closed,
)

export const ImportRun = Type.Object(
  {
    id: field.identifier('Identifier of the run.'),
    kind: oneOf(['import', 'undo'], 'What is done.'),
    state: oneOf(
      states,
      '`inspected`: the file was looked at. `checked`: the import was only tried. `interrupted`: the process that did it has ended; start it again. `cancelled`: somebody ended it, and what it had written was taken back.',
    ),
    fileName: field.text('Name of the file; empty for an undo.'),
    resource: field.text('What the file holds; empty while nobody knows, and for an undo.'),
    options: ImportOptions,
    inspection: Type.Unsafe<Static<typeof ImportInspection> | null>({
      ...ImportInspection,
      type: ['object', 'null'],
      description: 'What was noticed in the file; null before somebody looked.',
    }),
    bytes: count('How much of the file has arrived.'),
    progress: Type.Unsafe<{ step: (typeof steps)[number]; done: number; of: number; rows: number } | null>({
      type: ['object', 'null'],
      required: ['step', 'done', 'of', 'rows'],
      properties: {
        step: { type: 'string', enum: [...steps], description: 'What it is at.' },
        done: { type: 'integer', description: 'How much of that is done, in bytes or records.' },
        of: { type: 'integer', description: 'How much there is; 0 when nobody knows.' },
        rows: { type: 'integer', description: 'Rows or records so far.' },
      },
      additionalProperties: false,
      description: 'How far it is; null before it starts.',
    }),
    created: count('Records that it creates, or would.'),
    changed: count('Records that it changes, or would.'),
    unchanged: count('Records that are the same already.'),
    refused: count('Rows that are refused.'),
    refusals: Type.Array(
      Type.Object(
        {
          file,
          line: count('Line of the file.'),
          column: field.text('Column; empty when it is the row as a whole.'),
          reason: field.text('Why.'),
        },
        field.closed,
      ),
      { description: 'The first rows that are refused.' },
    ),
    groups: Type.Array(RefusalGroup, { description: 'All refusals by reason, the most frequent first, 50 at most.' }),
    files: Type.Array(
      Type.Object(
        {
          file: field.text('Its name; of an archive, that of the file in it.'),
          resource: field.text('What it holds.'),
          created: count('Records that it creates, or would.'),
          changed: count('Records that it changes, or would.'),
          unchanged: count('Records that are the same already.'),
          refused: count('Rows that are refused.'),
        },
        field.closed,
      ),
      { description: 'The same by file: an archive may hold several. Empty before it was checked.' },
    ),
    removed: count('Records that an undo removed.'),
    restored: count('Records that an undo gave their former values.'),
    kept: count('Records that an undo left, because somebody changed them since.'),
    hasRejectedRows: Type.Boolean({ description: 'The refused rows can be got as a file.' }),
    importId: field.nullableText('Identifier of the import that it made or undid.'),
    problem: field.nullableText('Why it failed.'),
    createdAt: field.timestamp('When it was begun.'),
  },
  { ...field.closed, title: 'ImportRun' },
)

const ImportRunInput = Type.Object(
  {
    fileName: field.text('Name of the file.', { minLength: 1, maxLength: longest.name }),
    resource: Type.Optional(oneOf(resourceNames, 'What the file holds; noticed by its name or columns when absent.')),
  },
  { ...field.closed, title: 'ImportRunInput' },
)

const ImportRunChange = Type.Object(
  {
    resource: Type.Optional(oneOf(resourceNames, 'What the file holds.')),
    options: Type.Optional(ImportOptions),
  },
  { ...field.closed, title: 'ImportRunChange' },
)

const ImportPart = Type.Object(
  {
    number: Type.Integer({ minimum: 1, maximum: importPart.most, description: 'Its place; the first is 1.' }),
    content: field.text(`Up to ${importPart.bytes} bytes of the file, in base64.`, {
      minLength: 1,
      maxLength: (importPart.bytes / 3) * 4,
    }),
  },
  { ...field.closed, title: 'ImportPart' },
)

const RejectedRows = Type.Object(
  {
    fileName: field.text('What to call the file.'),
    content: field.text(
      'The refused rows in base64, with the reason in front: separated and encoded as the file that came, ready to be mended. Of an archive with several files, an archive.',
    ),
  },
  { ...field.closed, title: 'RejectedRows' },
)

const run = { scope: 'imports:manage', status: 200, response: ImportRun } as const

export const importRuns = defineResource({
  name: 'import-runs',
  singular: 'import run',
  description: 'A file on its way into the records: sent in parts, checked, then imported. Kept for a day.',
  record: ImportRun,
  operations: {
    CreateImportRun: {
      ...run,
      method: 'POST',
      path: '/import-runs',
      summary: 'Announce a file',
      body: ImportRunInput,
      status: 201,
    },
    AddImportPart: {
      ...run,
      method: 'POST',
      path: '/import-runs/{runId}/parts',
      summary: 'Send a part of the file',
      body: ImportPart,
      problems: ['conflict'],
    },
    UpdateImportRun: {
      ...run,
      method: 'PATCH',
      path: '/import-runs/{runId}',
      summary: 'Decide how the file is read; options that are given replace all former ones',
      body: ImportRunChange,
      problems: ['conflict'],
    },
    InspectImport: {
      ...run,
      method: 'POST',
      path: '/import-runs/{runId}/inspect',
      summary: 'See how the file is written, and what its first rows would become',
      problems: ['conflict'],
    },
    CheckImport: {
      ...run,
      method: 'POST',
      path: '/import-runs/{runId}/check',
      summary: 'See what the import would do; nothing is written',
      problems: ['conflict'],
    },
    StartImport: {
      ...run,
      method: 'POST',
      path: '/import-runs/{runId}/start',
      summary: 'Import the file',
      problems: ['conflict'],
    },
    CancelImport: {
      ...run,
      method: 'POST',
      path: '/import-runs/{runId}/cancel',
      summary: 'End what is running; what it has written is taken back',
      problems: ['conflict'],
    },
    GetImportRun: {
      ...run,
      method: 'GET',
      path: '/import-runs/{runId}',
      summary: 'Get how far it is',
    },
    GetRejectedRows: {
      ...run,
      method: 'GET',
      path: '/import-runs/{runId}/rejected-rows',
      summary: 'Get the refused rows as a file, ready to be mended and imported again',
      response: RejectedRows,
    },
  },
})
