import type { TObject } from 'typebox'
import { readScopeOf } from './changes.ts'
import * as field from './fields.ts'
import { defineResource, pagingParameters, titleOf } from './operation.ts'
import { type ListedName, listedNames, listParametersOf, resources } from './resources.ts'
import { Type } from './schema.ts'

/**
 * How many exports of a tenant may wait or be made, how many are kept and with how many bytes together, and how large one may be. One
 * is made at a time.
 */
export const exportLimits = {
  atOnce: 10,
  kept: 100,
  keptBytes: 8 * 2 ** 30,
  keptHours: 24,
  bytes: 2 * 2 ** 30,
} as const

export const exportFormats = ['csv', 'ndjson'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** `failed` and `deleted` exports have no files. */
const exportStates = ['waiting', 'running', 'done', 'failed', 'deleted'] as const
export type ExportState = (typeof exportStates)[number]

/** Where a list begins and how it is ordered does not matter to a file; a search of a whole list has no bound. */
const notExported: readonly string[] = [...pagingParameters, 'search', 'sort']

/** The parameters of the list of a resource that an export takes as well. */
export const filtersOf = (name: ListedName): TObject => {
  const filters = listParametersOf(name).filter(([parameter]) => !notExported.includes(parameter))
  return Type.Object(Object.fromEntries(filters), {
    ...field.closed,
    title: `${titleOf(resources[name].record)}Filters`,
    description: `As the list of ${name} takes them, without \`search\`.`,
  })
}

/** The filters of each resource, by its name. */
export type ExportFilters = { [Name in ListedName]?: Readonly<Record<string, string | number | boolean>> }

const filters = Type.Unsafe<ExportFilters>(
  Type.Object(Object.fromEntries(listedNames.map((name) => [name, Type.Optional(filtersOf(name))])), {
    ...field.closed,
    title: 'ExportFilters',
    description: 'Which records of each list; without filters, what the list shows.',
  }),
)

const resource = (description: string) => field.oneOf(listedNames, description)
const format = field.oneOf(exportFormats, 'The format of the files.')

const ExportInput = Type.Object(
  {
    resources: Type.Array(resource('A list.'), {
      minItems: 1,
      uniqueItems: true,
      description: 'What to export, a file for each. The token needs the scope to read every one of them.',
    }),
    filters: Type.Optional(filters),
    format: Type.Optional(format),
    gzip: Type.Optional(Type.Boolean({ description: 'Compress the files.' })),
    spreadsheet: Type.Optional(
      Type.Boolean({
        description: 'For CSV: keep spreadsheets from treating texts as formulas.',
      }),
    ),
  },
  { ...field.closed, title: 'ExportInput' },
)

const count = (description: string) => Type.Integer({ minimum: 0, description })

const ExportFile = Type.Object(
  {
    name: field.text('Its name, the last part of its address.'),
    resource: resource('What it holds.'),
    records: count('How many records it holds.'),
    bytes: count('Its size.'),
    sha256: field.text('SHA-256 of its bytes, in hexadecimal digits.'),
  },
  { ...field.closed, title: 'ExportFile', description: 'A file of an export.' },
)

const Export = Type.Object(
  {
    id: field.identifier('Identifier of the export.'),
    state: field.oneOf(
      exportStates,
      '`waiting`, `running`: ask again in a second. `done`: the files can be downloaded. `failed`: `problem` says why. `deleted`: somebody has cancelled or deleted it.',
    ),
    resources: Type.Array(resource('A list.'), { description: 'What it holds, a file for each.' }),
    filters,
    format,
    gzip: Type.Boolean({ description: 'The files are compressed.' }),
    spreadsheet: Type.Boolean({ description: 'Spreadsheets do not treat texts of the files as formulas.' }),
    records: count('How many records are written so far.'),
    expected: field.nullableInteger('How many it will be; null while nobody knows, as with most filters.'),
    asOf: field.nullableTimestamp('The moment of which all files are; null before it was begun.'),
    files: Type.Array(ExportFile, { description: 'The files; none until it is done.' }),
    problem: field.nullableText('Why it failed, and what to do.'),
    createdAt: field.timestamp('When it was asked for.'),
    expiresAt: field.timestamp('When it will be gone, with its files.'),
  },
  { ...field.closed, title: 'Export' },
)

const ExportList = Type.Object(
  {
    items: Type.Array(Export, {
      description: 'Up to a hundred: first those that have files or will have, then the others; the newest first.',
    }),
  },
  { ...field.closed, title: 'ExportList' },
)

/** Any of them opens the operations; what an export holds says which of them it needs. */
const scope = listedNames.map(readScopeOf)

const common = {
  scope,
  description: 'An export needs the scopes to read all lists that it holds.',
  status: 200,
  isVolatile: true,
  response: Export,
} as const

/** Files of many records, made in the background. They have no list of positions and versions, so they are none of `resources`. */
export const exportJobs = defineResource({
  name: 'exports',
  singular: 'export',
  description: 'Files of the records of one moment, made in the background and kept for a day.',
  record: Export,
  operations: {
    CreateExport: {
      ...common,
      method: 'POST',
      path: '/exports',
      summary: 'Ask for files of the records of one moment',
      body: ExportInput,
      status: 201,
    },
    GetExports: {
      ...common,
      method: 'GET',
      path: '/exports',
      summary: 'List the exports of the last day that the token may read',
      response: ExportList,
    },
    GetExport: {
      ...common,
      method: 'GET',
      path: '/exports/{exportId}',
      summary: 'Get how far an export is, and its files',
    },
    DownloadExport: {
      ...common,
      method: 'GET',
      path: '/exports/{exportId}/files/{fileName}',
      summary: 'Download a file of an export, or a part of it by `Range`',
      parameters: { fileName: 'The `name` of the file.' },
      response: Type.Object({}, { ...field.closed, title: 'FileContent' }),
      download: ['text/csv', 'application/x-ndjson', 'application/gzip'],
    },
    DeleteExport: {
      ...common,
      method: 'DELETE',
      path: '/exports/{exportId}',
      summary: 'Cancel an export, or delete its files',
    },
  },
})
