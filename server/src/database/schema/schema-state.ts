import { version as programVersion } from '../../version.ts'
import type { Query } from '../connections/statement.ts'
import { knownMigrations } from './migration-files.ts'
import { isOlder } from './program-version.ts'

/**
 * How the schema of a database and this program go together:
 * - `former`: a program of before the first release made it, and none since can use it;
 * - `refused`: it admits only newer programs;
 * - `ahead`: a newer program migrated it, and it admits this one;
 * - `behind`: this program migrates it;
 * - `current`.
 */
export type SchemaState = {
  standing: 'former' | 'refused' | 'ahead' | 'behind' | 'current'
  /** How many migrations the database has, and how many this program knows. */
  version: number
  known: number
  /** The files of those that this program would apply. */
  missing: string[]
  /** The oldest program that the database admits; null where it admits all. */
  admits: string | null
}

type AppliedMigration = { version: number; name: string; admits: string | null }

export const schemaState = async (query: Query): Promise<SchemaState> => {
  const [files, applied] = [await knownMigrations(), await readApplied(query)]
  const version = applied.at(-1)?.version ?? 0
  const admits = newest(applied.flatMap((migration) => migration.admits ?? []))
  const missing = files.slice(version)
  return { standing: standingOf(applied, files, admits), version, known: files.length, missing, admits }
}

/** The column `admits` is younger than the table. */
const readApplied = async (query: Query): Promise<AppliedMigration[]> => {
  const [found] = await query<{ exists: boolean }>({ text: `select to_regclass('migrations') is not null as exists` })
  if (!found?.exists) return []
  return query({
    text: `select version, name, to_json(migrations) ->> 'admits' as admits from migrations order by version`,
  })
}

export const newest = (versions: readonly string[]): string | null =>
  versions.reduce<string | null>((found, one) => (found === null || isOlder(found, one) ? one : found), null)

const standingOf = (
  applied: readonly AppliedMigration[],
  files: readonly string[],
  admits: string | null,
): SchemaState['standing'] => {
  // The migrations were rewritten once, before the first release, so a database has former ones or those of this program.
  if (applied.some(({ version, name }) => version <= files.length && name !== files[version - 1])) return 'former'
  if (admits !== null && isOlder(programVersion, admits)) return 'refused'
  const version = applied.at(-1)?.version ?? 0
  if (version === files.length) return 'current'
  return version > files.length ? 'ahead' : 'behind'
}

const formerSchemaRemedy =
  'export each tenant with that program (`masthead export`) and import the files with this one (`masthead import`) into a new ' +
  'database or data folder; users, tokens and the audit log are not carried over'

/** Why this program may not use a database, with what to do; null where it may. */
export const refusalOf = ({ standing, admits }: SchemaState): { reason: string; remedy: string } | null => {
  if (standing === 'former') return { reason: 'an earlier Masthead made this database', remedy: formerSchemaRemedy }
  if (standing !== 'refused') return null
  const reason = `this database admits Masthead ${admits} and newer, and this is ${programVersion}`
  return { reason, remedy: `install Masthead ${admits} or newer` }
}
