import { basename } from 'node:path'
import { type ResourceName, resourceNames } from '@masthead/contract'

/** What the name of a file says about what is in it. */
export type FileFormat = 'csv' | 'ndjson'

export const formatOfName = (path: string): FileFormat | undefined => {
  if (/\.(csv|tsv|txt)(\.gz)?$/i.test(path)) return 'csv'
  return /\.(ndjson|jsonl)(\.gz)?$/i.test(path) ? 'ndjson' : undefined
}

/** `contacts.csv`, `contacts-2026.ndjson.gz` and `contacts.csv.rejected.csv` hold contacts. */
export const resourceOfName = (path: string): ResourceName | undefined =>
  resourceNames.find((resource) => new RegExp(`^${resource}(?![a-z])`, 'i').test(basename(path)))

/** Of which resource an import of the whole folder takes the file; the rejected rows of an earlier one it leaves. */
export const importedAs = (name: string): ResourceName | undefined =>
  formatOfName(name) && !name.endsWith('.rejected.csv') ? resourceOfName(name) : undefined
