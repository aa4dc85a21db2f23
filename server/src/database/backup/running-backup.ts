import type pg from 'pg'
import { clientOptions, newClient } from '../connections/connection.ts'
import { prepareBulkSession, refuseStandby } from '../connections/session.ts'

/** What PostgreSQL needs to recover from the copy: the label, and the names of files in pg_wal. */
type Ending = { label: string; wal: string[] }

type Facts = { cluster: string; version: string; sizeBytes: number }

/** A server that is being copied, until this session ends; `lost` says that it has ended before its time. */
export type RunningBackup = Facts & { lost: AbortSignal; end: () => Promise<Ending> }

export const withRunningBackup = async <T>(
  connectionString: string,
  work: (backup: RunningBackup) => Promise<T>,
): Promise<T> => {
  const client = newClient({ ...clientOptions(connectionString), pipeline: false })
  const session = new AbortController()
  const { signal: lost } = session
  client.once('error', (reason) => session.abort(reason))
  await client.connect()
  try {
    await refuseStandby(client)
    await prepareBulkSession(client, null)
    // From before the start until the session ends the slot makes the server keep its WAL, however much is written.
    await client.query(`select pg_create_physical_replication_slot('masthead_backup_' || pg_backend_pid(), true, true)`)
    const start = await one<{ lsn: string }>(client, `select pg_backup_start('masthead', fast => true)::text as lsn`)
    const facts = await one<Facts>(client, selectFacts)
    return await work({ ...facts, lost, end: () => end(client, start.lsn) })
  } catch (error) {
    throw lost.aborted ? lost.reason : error
  } finally {
    await client.end()
  }
}

const selectFacts = `
  select current_setting('data_directory') as cluster,
    (current_setting('server_version_num')::integer / 10000)::text as version,
    (select sum(pg_database_size(oid))::bigint from pg_database) as "sizeBytes"`

const end = async (client: pg.Client, start: string): Promise<Ending> => {
  const { lsn, label, tablespaces } = await one<{ lsn: string; label: string; tablespaces: string }>(
    client,
    `select lsn::text, labelfile as label, spcmapfile as tablespaces from pg_backup_stop(wait_for_archive => false)`,
  )
  if (tablespaces.trim() !== '')
    throw new Error('the database has tablespaces, which lie outside its folder: use pg_basebackup')
  const { rows } = await client.query<{ name: string }>(selectWal, [start, lsn])
  return { label, wal: rows.map(({ name }) => name) }
}

/** The files that hold the WAL from one location to another; a location at their border belongs to the next file. */
const selectWal = `
  select pg_walfile_name('0/0'::pg_lsn + number * size + 1) as name
  from (select setting::numeric as size from pg_settings where name = 'wal_segment_size') as segment,
    generate_series(div($1::pg_lsn - '0/0', size), div($2::pg_lsn - '0/0' - 1, size)) as number
  order by number`

const one = async <R extends pg.QueryResultRow>(client: pg.Client, statement: string): Promise<R> => {
  const [row] = (await client.query<R>(statement)).rows
  if (!row) throw new Error('PostgreSQL returned no row')
  return row
}
