import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { clientOptions, newClient } from '../../src/database/connections/connection.ts'
import { migrate } from '../../src/database/schema/migrate.ts'
import { distribute } from '../../src/database/shards/distribute.ts'
import { shardedWriteFunctions } from '../../src/records/writes/sharded-write.ts'
import { freePorts, Programs } from '../failover/programs.ts'
import { until } from '../processes/masthead-process.ts'

const settings = `
listen_addresses = '127.0.0.1'
shared_preload_libraries = 'citus'
max_connections = 400
max_prepared_transactions = 400
max_worker_processes = 200
wal_level = logical
shared_buffers = 128MB
`

export type CitusServers = {
  /** Of the first, the coordinator, and of the workers: superusers, in the database `postgres`. */
  connectionStrings: string[]
  programs: Programs
}

/** A coordinator and two workers, by the programs of a PostgreSQL that has Citus. They end with this process. */
export const startCitus = async (programsFolder: string, keep = false): Promise<CitusServers> => {
  const programs = new Programs({ keep })
  const ports = await freePorts(3)
  const connectionStrings: string[] = []
  for (const [index, port] of ports.entries()) {
    const name = index === 0 ? 'coordinator' : `worker-${index}`
    await programs.run(join(programsFolder, 'initdb'), ['-D', name, '-A', 'trust', '-U', 'postgres', '--no-sync'])
    appendFileSync(
      join(programs.folder, name, 'postgresql.conf'),
      `${settings}port = ${port}\nunix_socket_directories = '${programs.folder}'\n`,
    )
    programs.start(name, join(programsFolder, 'postgres'), ['-D', name])
    connectionStrings.push(`postgres://postgres@127.0.0.1:${port}/postgres`)
  }
  for (const address of connectionStrings) await until('PostgreSQL answers', () => answers(address))
  for (const address of connectionStrings) await allowMoves(address)
  return { connectionStrings, programs }
}

/** Citus moves shards by a plugin of its own, which newer servers allow only by name. */
const allowMoves = async (address: string): Promise<void> => {
  const client = new pg.Client(address)
  await client.connect()
  const { rowCount } = await client.query(`select from pg_settings where name = 'output_plugin_libraries'`)
  if (rowCount) await client.query(`alter system set output_plugin_libraries = 'pgoutput', 'citus'`)
  await client.query('select pg_reload_conf()')
  await client.end()
}

const answers = async (address: string): Promise<boolean> => {
  const client = newClient(clientOptions(address))
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

export const inDatabase = (connectionString: string, name: string): string =>
  Object.assign(new URL(connectionString), { pathname: `/${name}` }).href

const onEach = async (connectionStrings: readonly string[], text: string): Promise<void> => {
  for (const address of connectionStrings) {
    const client = new pg.Client(address)
    await client.connect()
    await client.query(text)
    await client.end()
  }
}

/** A new database on all of the servers, whose tables are not sharded yet. */
export const createCitusDatabase = async (servers: readonly string[], name: string): Promise<string> => {
  await onEach(servers, `create database ${name}`)
  const addresses = servers.map((server) => inDatabase(server, name))
  await onEach(addresses, 'create extension citus')
  const [coordinator = '', ...workers] = addresses
  const portOf = (address: string) => new URL(address).port
  await onEach([coordinator], `select citus_set_coordinator_host('127.0.0.1', ${portOf(coordinator)})`)
  for (const worker of workers) await onEach([coordinator], `select citus_add_node('127.0.0.1', ${portOf(worker)})`)
  return coordinator
}

/** A database of which clones can be made: Citus looks after each that somebody may connect to. */
export const makeTemplate = (servers: readonly string[], name: string): Promise<void> =>
  onEach(
    servers,
    `alter database ${name} allow_connections false; select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
  )

/** The servers know each other by their addresses, which are the same in the copy. */
export const cloneCitusDatabase = async (servers: readonly string[], name: string, template: string): Promise<void> =>
  onEach(servers, `create database ${name} template ${template}`)

export const shard = async (connectionString: string, shards = 8): Promise<void> => {
  const { role } = await migrate(connectionString)
  const client = newClient({ ...clientOptions(connectionString), pipeline: false })
  await client.connect()
  await distribute(client, { role, shards, functions: shardedWriteFunctions(), onProgress: () => {} })
  await client.end()
}
