import { basename } from 'node:path'
import { type ResourceName, resourceNames } from '@masthead/contract'

/** In which formats records are written. */
export type FileFormat = 'csv' | 'ndjson'

/** What the name of a file says about what is in it. */
export const formatOfName = (path: string): FileFormat | 'json' | 'xlsx' | 'zip' | undefined => {
  if (/\.(csv|tsv|tab|txt)(\.gz)?$/i.test(path)) return 'csv'
  if (/\.(ndjson|jsonl)(\.gz)?$/i.test(path)) return 'ndjson'
  if (/\.json(\.gz)?$/i.test(path)) return 'json'
  const [, ending] = /\.(xlsx|zip)$/i.exec(path) ?? []
  return ending?.toLowerCase() as 'xlsx' | 'zip' | undefined // one of both
}

/** `contacts.csv`, `contacts-2026.ndjson.gz` and `contacts.csv.rejected.csv` hold contacts. */
export const resourceOfName = (path: string): ResourceName | undefined =>
  resourceNames.find((resource) => new RegExp(`^${resource}(?![a-z])`, 'i').test(basename(path)))

/** Of which resource an import of the whole folder takes the file; the rejected rows of an earlier one, and maps, it leaves. */
export const importedAs = (name: string): ResourceName | undefined =>
  formatOfName(name) && !/\.rejected\.csv$|map\.json$/i.test(name) ? resourceOfName(name) : undefined

/** An archive stands for its files as a folder does, unless none has the name of a resource. */
export const importedMembers = (members: readonly string[]): readonly string[] => {
  const named = members.filter((member) => importedAs(basename(member)))
  return named.length > 0 ? named : members
}
