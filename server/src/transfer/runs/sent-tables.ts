import { readFile, stat } from 'node:fs/promises'
import { mostMembers, type ResourceName } from '@masthead/contract'
import { Refusal } from '../../refusal.ts'
import { importedMembers } from '../files/file-names.ts'
import { zipFile } from '../files/zip-file.ts'
import type { FileOptions, RunOptions } from '../reading/run-options.ts'
import type { RejectedRows } from './runs.ts'

/** A table of a file that was sent, and what was decided about it. */
export type SentTable = {
  /** Its name in an archive; empty where the file is the table. */
  member: string
  isLeftOut: boolean
  resource: ResourceName | ''
  options: FileOptions
}

/** An archive of several files has several. What was decided about one of them replaces what holds for all. */
export const sentTables = (
  names: readonly string[],
  { options, resource, fileName }: { options: RunOptions; resource: ResourceName | ''; fileName: string },
): SentTable[] => {
  const { member: _member, members = [], ...ofAll } = options
  if (names.length <= 1) return [{ member: names[0] ?? '', isLeftOut: false, resource, options: ofAll }]
  if (names.length > mostMembers)
    throw new Refusal(
      `${fileName} holds ${names.length.toLocaleString('en')} files, and up to ${mostMembers} can be sent at once: split it, or ask the operator of the service to import it from the command line`,
    )
  const imported = importedMembers(names)
  return names.map((member) => {
    const decided = members.find(({ name }) => name === member)
    return {
      member,
      isLeftOut: decided?.isLeftOut ?? !imported.includes(member),
      resource: decided?.resource ?? resource,
      options: { ...ofAll, ...decided?.options },
    }
  })
}

/** The refused rows of several files come as an archive, as these did. Null when they are too many. */
export const rejectedRowsOf = async (
  paths: readonly string[],
  {
    path: archive,
    fileName,
    isArchive,
    mostBytes,
  }: { path: string; fileName: string; isArchive: boolean; mostBytes: number },
): Promise<RejectedRows | null> => {
  const [first] = paths
  if (first === undefined) return null
  if (!isArchive) return { name: `${fileName}.rejected.csv`, file: await readFile(first) }
  const files: Record<string, Buffer> = {}
  let size = 0
  for (const path of paths) {
    size += (await stat(path)).size
    if (size > mostBytes) return null
    files[path.slice(archive.length + 1)] = await readFile(path)
  }
  return { name: `${fileName}.rejected.zip`, file: zipFile(files) }
}
