import { type CorpusFile, givenTo, kindOf, recordsOf } from '../corpus.ts'
import type { Value } from '../records.ts'

type Types = Readonly<Record<string, string>>

/** Creates a table in the types of the database and fills it, statement by statement. */
export const tableOf = (
  file: CorpusFile,
  types: Types,
  literal: (kind: string, value: Exclude<Value, null>) => string,
): string => {
  const headings = Object.keys(file.columns)
  const columns = headings.map((heading) => `${heading} ${types[kindOf(file, heading)] ?? types.text}`)
  const rows = recordsOf(file).map((record) => {
    const values = headings.map((heading) => {
      const value = givenTo(file, record, heading)
      return value === null ? 'null' : literal(kindOf(file, heading), value)
    })
    return `insert into records values (${values.join(', ')});`
  })
  return [`create table records (${columns.join(', ')});`, ...rows].join('\n')
}
