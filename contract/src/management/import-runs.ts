import * as field from '../fields.ts'
import { longest } from '../fields.ts'
import { defineResource } from '../operation.ts'
import { type ResourceName, resourceNames } from '../resources.ts'
import { Type } from '../schema.ts'

const count = (description: string) => Type.Integer({ description })

const states = ['receiving', 'running', 'interrupted', 'checked', 'done', 'failed'] as const
const steps = ['reading', 'judging', 'writing', 'undoing'] as const

/** Of a part of a file: in base64, so that a body of the largest size holds one. */
export const importPart = { bytes: 180_000, most: 1_000 } as const

export const ImportRun = Type.Object(
  {
    id: field.identifier('Identifier of the run.'),
    kind: Type.Unsafe<'import' | 'undo'>({ type: 'string', enum: ['import', 'undo'], description: 'What is done.' }),
    state: Type.Unsafe<(typeof states)[number]>({
      type: 'string',
      enum: [...states],
      description: '`checked`: it was only tried. `interrupted`: the process that did it has ended; start it again.',
    }),
    fileName: field.text('Name of the file; empty for an undo.'),
    resource: field.text('What the file holds; empty for an undo.'),
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
          line: count('Line of the file.'),
          column: field.text('Column; empty when it is the row as a whole.'),
          reason: field.text('Why.'),
        },
        field.closed,
      ),
      { description: 'The first rows that are refused.' },
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
    fileName: field.text('Name of the file: ends in .csv, .tsv, .txt, .ndjson or .jsonl, with .gz or without.', {
      minLength: 1,
      maxLength: longest.name,
    }),
    resource: Type.Unsafe<ResourceName>({
      type: 'string',
      enum: resourceNames,
      description: 'What the file holds.',
    }),
  },
  { ...field.closed, title: 'ImportRunInput' },
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
  { content: field.text('A CSV file: the refused rows with the reason in front, ready to be mended.') },
  { ...field.closed, title: 'RejectedRows' },
)

const run = { scope: 'imports:manage', status: 200, answer: ImportRun } as const

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
      answer: RejectedRows,
    },
  },
})
