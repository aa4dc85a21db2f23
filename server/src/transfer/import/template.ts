import { writeFile } from 'node:fs/promises'
import { importKeysOf, type ResourceName, storedFieldsOf } from '@masthead/contract'
import { messageOf } from '../../error-message.ts'
import { fileTrouble } from '../../file-trouble.ts'
import { Refusal } from '../../refusal.ts'
import { csvLine } from '../files/csv-rows.ts'

/** By it Excel recognises UTF-8. */
const byteOrderMark = '\uFEFF'

/** A file to fill in: a line with the columns of a resource. */
export const importTemplate = (resource: ResourceName): { fileName: string; content: Buffer } => {
  const columns = storedFieldsOf(resource).map(({ name }) => name)
  return { fileName: `${resource}.csv`, content: Buffer.from(byteOrderMark + csvLine(columns)) }
}

/** Returns which columns a row must have; of its keys, one. */
export const writeImportTemplate = async (resource: ResourceName, to: string | undefined) => {
  const { fileName, content } = importTemplate(resource)
  const path = to ?? fileName
  await writeFile(path, content, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new Refusal(`${path} exists: remove it, or choose another name with --to`)
    throw new Refusal(`${fileTrouble(path, error) ?? `${path}: ${messageOf(error)}`}: choose another place with --to`)
  })
  const needed = storedFieldsOf(resource).filter((field) => !field.isNullable && field.default === null)
  const [names, keys] = [needed.map(({ name }) => name), importKeysOf(resource).map(({ name }) => name)]
  return { resource, path, needed: keys.some((key) => names.includes(key)) ? names : [...names, keys.join(' or ')] }
}
