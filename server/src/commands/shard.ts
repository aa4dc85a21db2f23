import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { clientOptions, end, newClient } from '../database/connections/connection.ts'
import { unpreparedOn } from '../database/connections/session.ts'
import type { Query } from '../database/connections/statement.ts'
import { migrate, roleToServe } from '../database/schema/migrate.ts'
import { distribute } from '../database/shards/distribute.ts'
import { isolateTenant, listServers, placementOf, requireShards } from '../database/shards/placement.ts'
import { findSharding } from '../database/shards/sharding.ts'
import { findTenant } from '../identity/people/tenants.ts'
import { shardedWriteFunctions } from '../records/writes/sharded-write.ts'
import { Refusal } from '../refusal.ts'
import { action } from './action.ts'
import { readNumber } from './options.ts'
import { count, faint, say, showLines, showTable, strong } from './output.ts'
import { withProgress } from './progress.ts'
import { unusableDatabase } from './with-database.ts'

export const shard = (): Command => {
  const command = new Command('shard').description(
    'distribute the records over several servers (PostgreSQL with Citus)',
  )

  action(
    command
      .command('init')
      .description('distribute the tables of tenants; stop the service first. Run it again where it was interrupted')
      .option('--shards <number>', 'into how many parts, each of which can be on another server', '32'),
    (options: { shards: string }) => {
      const shards = readNumber(options.shards, '--shards', 4_096)
      return withProgress(
        (progress) =>
          asOwner(async (client, connectionString) => {
            const query = unpreparedOn(client)
            if ((await findSharding(query)) === 'none') await migrate(connectionString)
            const role = await roleToServe(client)
            const onProgress = (what: string, done: number, of: number) =>
              progress.show({ what, done, of, rows: done, unit: 'tables' })
            return distribute(client, { role, shards, functions: shardedWriteFunctions(), onProgress })
          }),
        { failure: 'the database was not sharded wholly; run the command again' },
      )
    },
    ({ distributed, shards, workers }) =>
      showLines(
        distributed.length === 0
          ? `Nothing to do: ${count(shards, 'shard')} on ${count(workers, 'server')}.`
          : `${count(distributed.length, 'table')} distributed into ${count(shards, 'shard')} on ${count(workers, 'server')}. Start the service again.`,
      ),
  )

  action(
    command
      .command('status')
      .description('show the servers and what they hold, or where a tenant is')
      .argument('[tenant]', 'the slug of a tenant'),
    (slug?: string) =>
      onShards(async (query) =>
        slug === undefined
          ? { servers: await listServers(query) }
          : { tenant: await placementOf(query, (await findTenant(query, slug)).id) },
      ),
    ({ servers, tenant }, slug = '') => {
      if (servers) showTable(servers, ['server', 'tenants', 'shards', 'megabytes'], 'No server.')
      if (tenant) showPlacement(slug, tenant)
    },
    ({ servers, tenant }) => servers ?? tenant,
  )

  action(
    command
      .command('isolate <tenant>')
      .description('give a tenant shards of its own; while they are copied, its writes wait')
      .option('--to <host:port>', 'and move them to this server'),
    (slug: string, { to }: { to?: string }) =>
      onShards(async (query) => {
        const { id } = await findTenant(query, slug)
        say(faint('Copying; meanwhile everybody reads, and writes of those who share the shards wait.'))
        return isolateTenant(query, id, to ?? null)
      }),
    (placement, slug) => showPlacement(slug, placement),
  )

  return command
}

const showPlacement = (slug: string, { server, isAlone, megabytes }: Awaited<ReturnType<typeof placementOf>>): void =>
  showLines(`${strong(slug)} is on ${server}, ${isAlone ? 'alone' : 'with others'} in shards of ${megabytes} MB.`)

const asOwner = async <T>(work: (client: ReturnType<typeof newClient>, connectionString: string) => Promise<T>) => {
  const { databaseUrl, directDatabaseUrl } = readConfig()
  const connectionString = directDatabaseUrl ?? databaseUrl
  if (connectionString === null)
    throw new Refusal(
      'the embedded database is one server: set DATABASE_URL to the coordinator of a PostgreSQL with Citus',
    )
  const client = newClient({ ...clientOptions(connectionString), application_name: 'shard', pipeline: false })
  await client.connect().catch((error) => {
    throw unusableDatabase(error)
  })
  try {
    return await work(client, connectionString)
  } finally {
    await end(client)
  }
}

const onShards = <T>(work: (query: Query) => Promise<T>): Promise<T> =>
  asOwner(async (client) => {
    const query = unpreparedOn(client)
    await requireShards(query)
    return work(query)
  })
