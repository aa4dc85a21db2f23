import { importKeysOf, type ResourceName, storedFieldsOf } from '@masthead/contract'
import { csvLine } from '../files/csv-rows.ts'
import { byteOrderMark } from '../files/text-encoding.ts'
import { writeNewFile } from './new-file.ts'

/** A file to fill in: a line with the columns of a resource. Excel recognises UTF-8 by the mark. */
export const importTemplate = (resource: ResourceName): { fileName: string; content: Buffer } => {
  const columns = storedFieldsOf(resource).map(({ name }) => name)
  return { fileName: `${resource}.csv`, content: Buffer.from(byteOrderMark + csvLine(columns)) }
}

/** Returns which columns a row must have; of its keys, one. */
export const writeImportTemplate = async (resource: ResourceName, to: string | undefined) => {
  const { fileName, content } = importTemplate(resource)
  const path = to ?? fileName
  await writeNewFile(path, content)
  const needed = storedFieldsOf(resource).filter((field) => !field.isNullable && field.default === null)
  const [names, keys] = [needed.map(({ name }) => name), importKeysOf(resource).map(({ name }) => name)]
  return { resource, path, needed: keys.some((key) => names.includes(key)) ? names : [...names, keys.join(' or ')] }
}
