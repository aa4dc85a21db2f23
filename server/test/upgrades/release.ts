import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { readMigration } from '../../src/database/schema/migration-files.ts'
import { compareVersions } from '../../src/database/schema/program-version.ts'
import type { RecordedResponses } from './recorded-responses.ts'
import type { Credentials } from './released-records.ts'

/**
 * What a release leaves behind: its database, with every kind of record, the secrets to use it with, which are no secrets of anybody,
 * and all that its program said about it.
 */
export type Release = {
  version: string
  credentials: Credentials
  /** The migrations that make its schema, with the SHA-256 of their files. */
  migrations: Record<string, string>
  tables: Record<string, Table>
  /** The last value of each sequence. */
  sequences: Record<string, string>
  responses: RecordedResponses
}

/** The values of each row as PostgreSQL writes them. */
type Table = { columns: string[]; rows: (string | null)[][] }

const folder = new URL('./releases/', import.meta.url)

/** The oldest first. */
export const readReleases = async (): Promise<Release[]> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json.gz'))
  const releases: Release[] = await Promise.all(
    names.map(async (name) => JSON.parse(gunzipSync(await readFile(new URL(name, folder))).toString())),
  )
  return releases.sort((one, other) => compareVersions(one.version, other.version))
}

export const writeRelease = async (release: Release): Promise<URL> => {
  const file = new URL(`${release.version}.json.gz`, folder)
  await writeFile(file, gzipSync(JSON.stringify(release), { level: 9 }))
  return file
}

export const hashOf = async (migration: string): Promise<string> =>
  createHash('sha256')
    .update((await readMigration(migration)).sql)
    .digest('hex')

const ours = `'public'::regnamespace`

export const dumpTables = async (client: pg.Client): Promise<Pick<Release, 'tables' | 'sequences'>> => {
  const { rows: found } = await client.query<{ name: string; columns: string[] }>(`
    select relname as name, array_agg(attname::text order by attnum) as columns
    from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = ''
    where relnamespace = ${ours} and relkind = 'r' group by relname order by relname`)
  const tables: Record<string, Table> = {}
  for (const { name, columns } of found) {
    const texts = columns.map((column) => `${pg.escapeIdentifier(column)}::text`)
    const text = `select ${texts.join(', ')} from ${pg.escapeIdentifier(name)} order by ${columns.map((_, index) => index + 1).join(', ')}`
    const { rows } = await client.query<(string | null)[]>({ text, rowMode: 'array' })
    tables[name] = { columns, rows }
  }
  const { rows: sequences } = await client.query<{ name: string; value: string }>(
    `select sequencename as name, last_value::text as value from pg_sequences where schemaname = 'public' and last_value is not null order by 1`,
  )
  return { tables, sequences: Object.fromEntries(sequences.map(({ name, value }) => [name, value])) }
}

/** Makes the database of the release: its migrations make the schema, and what they would have done to rows is in the rows. */
export const restoreRelease = async (client: pg.Client, { migrations, tables, sequences }: Release): Promise<void> => {
  await client.query(
    `create table migrations (version integer primary key, name text not null, applied_at timestamptz not null default now())`,
  )
  for (const name of Object.keys(migrations)) await client.query((await readMigration(name)).sql)
  // Rows may come before those that they refer to, and some are there by the migrations.
  await client.query('begin')
  await client.query('set local session_replication_role = replica')
  for (const name of Object.keys(tables)) await client.query(`delete from ${pg.escapeIdentifier(name)}`)
  for (const [name, { columns, rows }] of Object.entries(tables)) {
    const into = `${pg.escapeIdentifier(name)} (${columns.map((column) => pg.escapeIdentifier(column)).join(', ')})`
    const values = columns.map((_, index) => `$${index + 1}`).join(', ')
    for (const row of rows) await client.query(`insert into ${into} overriding system value values (${values})`, row)
  }
  for (const [name, value] of Object.entries(sequences)) await client.query('select setval($1, $2)', [name, value])
  await client.query('commit')
}
