import { readdir, readFile } from 'node:fs/promises'

const directory = new URL('./migrations/', import.meta.url)

export type Migration = {
  name: string
  sql: string
  /** The first sentence of the comment that it begins with. */
  purpose: string
  /** The oldest program that can use the database afterwards; null where that does not change. */
  admits: string | null
}

/** The names of their files, in their order. */
export const knownMigrations = async (): Promise<string[]> =>
  (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()

export const readMigration = async (name: string): Promise<Migration> => {
  const sql = await readFile(new URL(name, directory), 'utf8')
  return { name, sql, ...headOf(sql) }
}

/** Reads the comment that a migration begins with. */
export const headOf = (sql: string): Pick<Migration, 'purpose' | 'admits'> => {
  const [head = ''] = /^(--.*\n)*/.exec(sql) ?? []
  const lines = head.split('\n').map((line) => line.replace(/^-- ?/, ''))
  const admitting = lines.flatMap((line) => /^admits:(.*)$/.exec(line)?.[1]?.trim() ?? [])
  const [purpose = ''] = lines
    .filter((line) => !line.startsWith('admits:'))
    .join(' ')
    .split(/(?<=\.) |\s*$/, 1)
  return { purpose, admits: admitting[0] ?? null }
}
