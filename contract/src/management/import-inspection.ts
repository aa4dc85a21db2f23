import * as field from '../fields.ts'
import { count, longest, oneOf } from '../fields.ts'
import { type ResourceName, resourceNames } from '../resources.ts'
import { Type } from '../schema.ts'

const texts = (description: string) => Type.Array(field.text('One of them.'), { description })

export const importEncodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'latin1'] as const
export type ImportEncoding = (typeof importEncodings)[number]
export const importEscapes = ['quotes', 'backslashes', 'both'] as const
export type ImportEscapes = (typeof importEscapes)[number]
export const dateOrders = ['dmy', 'mdy'] as const
export const decimalSigns = ['comma', 'point'] as const
export const epochUnits = ['seconds', 'milliseconds'] as const

const heading = field.text('Heading of a column, as it stands in the file.', { maxLength: 1_000 })
const fieldName = field.text('Name of a field.', { minLength: 1, maxLength: longest.label })
const value = field.text('A value, as it stands in the file.', { maxLength: longest.name })

/** More columns than that are left to the command line. */
const mostChoices = 1_000

/** Between parts of a value. */
const sign = { maxLength: 20 } as const

const fileOptions = {
  encoding: Type.Optional(oneOf(importEncodings, 'How the text is encoded; noticed when absent.')),
  escapes: Type.Optional(
    oneOf(importEscapes, 'What protects special characters in text with separators; noticed when absent.'),
  ),
  sheet: Type.Optional(field.text('Which sheet of a workbook; the first one when absent.', { maxLength: 255 })),
  dates: Type.Optional(
    oneOf(dateOrders, 'What comes first in dates such as 01/02/2026, where the values leave doubt.'),
  ),
  decimal: Type.Optional(
    oneOf(decimalSigns, 'What precedes the decimals of numbers such as 1.234, where the values leave doubt.'),
  ),
  timeZone: Type.Optional(
    field.text('Where clocks showed the times that have no zone: `Europe/Berlin`, `UTC`, `+01:00`.', {
      minLength: 1,
      maxLength: longest.label,
    }),
  ),
  epoch: Type.Optional(oneOf(epochUnits, 'What instants count that are written as whole numbers since 1970.')),
  isForSpreadsheet: Type.Optional(
    Type.Boolean({
      description: 'Whether an apostrophe in front of a text marks it for spreadsheets, as in an export.',
    }),
  ),
  ignoreUnknown: Type.Optional(Type.Boolean({ description: 'Leave out columns that match no field.' })),
  columns: Type.Optional(
    Type.Array(
      Type.Object(
        { heading, field: field.nullableInput('The field that it holds; null leaves it out.', 'label') },
        { ...field.closed, title: 'ImportColumn' },
      ),
      { description: 'Which fields columns hold, where that was chosen.', maxItems: mostChoices },
    ),
  ),
  splits: Type.Optional(
    Type.Array(
      Type.Object(
        {
          heading,
          into: Type.Array(field.nullableInput('The field of a part; null leaves it out.', 'label'), {
            description: 'In the order of the parts. With more parts than fields, the first field gets the rest.',
            minItems: 2,
            maxItems: 10,
          }),
          at: field.text('What separates the parts.', { ...sign, minLength: 1 }),
        },
        { ...field.closed, title: 'ImportSplit' },
      ),
      { description: 'Columns of which several fields are made: first and last name of a name.', maxItems: 100 },
    ),
  ),
  joins: Type.Optional(
    Type.Array(
      Type.Object(
        {
          field: fieldName,
          of: Type.Array(heading, { description: 'The columns in their order.', minItems: 2, maxItems: 20 }),
          with: field.text('What is put between their values.', sign),
        },
        { ...field.closed, title: 'ImportJoin' },
      ),
      { description: 'Fields that several columns make: an address of street and number.', maxItems: 100 },
    ),
  ),
  translations: Type.Optional(
    Type.Array(
      Type.Object(
        { field: fieldName, from: value, to: field.nullableInput('What it stands for; null: nothing.', 'name') },
        { ...field.closed, title: 'ImportTranslation' },
      ),
      { description: 'Values that stand for others, by field: `aktiv` for `active`.', maxItems: mostChoices },
    ),
  ),
}

const memberName = field.text('Name of a file in an archive.', { minLength: 1, maxLength: 1_000 })

/** Archives of more files are left to the command line. */
export const mostMembers = 100

export const ImportOptions = Type.Object(
  {
    ...fileOptions,
    member: Type.Optional({
      ...memberName,
      description: 'Which file of an archive is looked at; the first one that is imported when absent.',
    }),
    members: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: memberName,
            resource: Type.Optional(oneOf(resourceNames, 'What it holds; noticed when absent.')),
            isLeftOut: Type.Optional(
              Type.Boolean({
                description:
                  'Whether it is not imported. Where files are named after what they hold, others are left out when absent.',
              }),
            ),
            options: Type.Optional(Type.Object(fileOptions, { ...field.closed, title: 'ImportFileOptions' })),
          },
          { ...field.closed, title: 'ImportMember' },
        ),
        {
          description: 'What was decided about single files of an archive, instead of what holds for all.',
          maxItems: mostMembers,
        },
      ),
    ),
  },
  {
    ...field.closed,
    title: 'ImportOptions',
    description: 'How the file is read, where that was decided. The rest is noticed.',
  },
)

const nullableResource = (description: string) =>
  Type.Unsafe<ResourceName | null>({ type: ['string', 'null'], description })

const Column = Type.Object(
  {
    heading,
    examples: texts('The three first values that are not empty.'),
    field: field.nullableText('The field that it holds; null when it is left out, or unknown.'),
    match: oneOf(
      ['exact', 'name', 'chosen', 'left out', 'unknown'],
      'Why: it has the name of the field in the API, one of its names in four languages, or somebody chose.',
    ),
    values: count('Cells that are not empty.'),
  },
  field.closed,
)

const NoticedFormat = Type.Object(
  {
    field: field.text('The field.'),
    heading: field.text('The heading of its column.'),
    format: field.text('How values are written, such as `day.month.year`; empty while that is in doubt.'),
    fits: count('Values that are written so.'),
    values: count('Values of the column.'),
    option: oneOf(['dates', 'decimal', 'timeZone', 'epoch', ''], 'The option that decides; empty where none does.'),
    choices: Type.Array(
      Type.Object(
        { value: field.text('A value of the option.'), example: field.text('What it would make of a value.') },
        field.closed,
      ),
      { description: 'Of a doubt: what each value of the option would make of the first doubtful value.' },
    ),
  },
  field.closed,
)

const PreviewRow = Type.Object(
  {
    line: count('Line of the file.'),
    values: Type.Array(Type.Unsafe<string | null>({ type: ['string', 'null'] }), {
      description: 'What each field would hold, in the order of the fields.',
    }),
    problem: field.nullableText('Why the row would be refused, as far as the file alone tells.'),
  },
  field.closed,
)

export const ImportInspection = Type.Object(
  {
    format: oneOf(['csv', 'ndjson', 'json', 'xlsx'], 'What the file is.'),
    encoding: oneOf([...importEncodings, ''], 'How its text is encoded; empty for a workbook.'),
    separator: field.text('What separates cells; empty where nothing does.'),
    escapes: oneOf(
      [...importEscapes, 'in doubt', ''],
      'What protects special characters in text with separators, where the option `escapes` decides what is in doubt; empty for others.',
    ),
    sheets: texts('The sheets of a workbook.'),
    sheet: field.text('The sheet that is read; empty when it is no workbook.'),
    members: Type.Array(
      Type.Object(
        {
          name: memberName,
          resource: nullableResource('What it holds; null when nobody can tell, or it is left out.'),
          isLeftOut: Type.Boolean({ description: 'It is not imported.' }),
          rows: count('Rows, without the header; 0 when it is left out.'),
          problems: count('How many reasons there are why it cannot be imported yet.'),
        },
        field.closed,
      ),
      { description: 'The files of an archive, in its order. They are imported together.' },
    ),
    member: field.text('The file of the archive that is looked at here; empty when it is no archive.'),
    rows: count('Rows, without the header.'),
    resource: nullableResource('What the file holds; null when nobody can tell.'),
    resourceNoticed: oneOf(['given', 'name', 'columns', ''], 'How the resource was found; empty when it was not.'),
    candidates: Type.Array(
      Type.Object(
        {
          resource: oneOf(resourceNames, 'What it could hold.'),
          matched: count('How many columns fit.'),
        },
        field.closed,
      ),
      { description: 'What the file could hold by its columns, the best first.' },
    ),
    isRemembered: Type.Boolean({ description: 'The options are those of an earlier import with the same header.' }),
    columns: Type.Array(Column, { description: 'The columns in the order of the file.' }),
    unknown: texts('Headings that match no field, and that nobody has decided about.'),
    formats: Type.Array(NoticedFormat, { description: 'How values are written, where it is not as in the API.' }),
    statuses: Type.Array(
      Type.Object(
        { field: field.text('The field.'), value: field.text('The value.'), count: count('How often it occurs.') },
        field.closed,
      ),
      { description: 'Values that are no known status. They go in as they are unless they are translated.' },
    ),
    apostrophes: oneOf(
      ['none', 'marks', 'text', 'in doubt'],
      'What apostrophes in front of texts are, where they could be marks of an export for spreadsheets; `isForSpreadsheet` decides.',
    ),
    notes: texts('What was understood, as sentences.'),
    problems: texts('Why the file cannot be imported yet, as sentences.'),
    preview: Type.Object(
      {
        fields: texts('The fields that the file gives.'),
        rows: Type.Array(PreviewRow, { description: 'The first twenty.' }),
      },
      { ...field.closed, description: 'What the first rows would become.' },
    ),
  },
  field.closed,
)
