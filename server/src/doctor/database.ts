import type { Config } from '../config.ts'
import { serverOf, serviceRole } from '../database/connections/address.ts'
import { withClient } from '../database/connections/connection.ts'
import { connectionLimit, mostConnections } from '../database/connections/connection-limit.ts'
import { long, queryOn } from '../database/connections/session.ts'
import type { Query } from '../database/connections/statement.ts'
import type { Database } from '../database/database.ts'
import { oldestServer, serviceRoleRemedy } from '../database/schema/migrate.ts'
import { refusalOf, schemaState } from '../database/schema/schema-state.ts'
import { listServers } from '../database/shards/placement.ts'
import { interruptedRemedy, type Sharding } from '../database/shards/sharding.ts'
import { messageOf } from '../error-message.ts'
import { listTenants } from '../identity/people/tenants.ts'
import { findInstallationSecret, findSecret } from '../identity/tokens/installation-secret.ts'
import { loadSigningKeys, longestUseDays } from '../identity/tokens/signing-keys.ts'
import { openSigningSecret } from '../webhooks/secret.ts'
import { type Check, failure, ok, warning } from './finding.ts'
import * as facts from './queries.ts'

/** `query` has the role of the connection string, `database` the role that serves. */
export const databaseChecks = (
  config: Config,
  query: Query,
  database: Database,
  sharding: Sharding,
): Record<string, Check> => ({
  server: () => checkServer(query),
  role: async () => judgeRole(await facts.role(query, serviceRole)),
  extensions: () => checkExtensions(query),
  schema: () => checkSchema(query),
  'row-level security': () => checkRowSecurity(query),
  durability: () => checkDurability(query),
  clock: () => checkClock(query),
  connections: () => checkConnections(query, config),
  ...(config.databaseUrl === null && { 'write-ahead log': () => checkWriteAheadLog(query) }),
  ...(config.replicaDatabaseUrls.length > 0 && { replicas: () => checkReplicas(query, config) }),
  ...(sharding !== 'none' && { shards: () => checkShards(query, sharding) }),
  secret: () => checkSecret(query, config),
  'signing keys': () => checkKeys(query, config),
  webhooks: () => checkWebhooks(database, config),
})

const checkShards = async (query: Query, sharding: Sharding) => {
  if (sharding === 'begun') return failure('tables are sharded in part', interruptedRemedy)
  const lost = await facts.unreachableServers(query)
  if (lost.length > 0) return failure(lost.join(', '), 'start these servers, or see to the way between them')
  const servers = await listServers(query)
  return ok(
    `${servers.reduce((sum, { shards }) => sum + shards, 0)} shards on ${servers.length} servers, which reach each other`,
  )
}

const checkReplicas = async (query: Query, { replicaDatabaseUrls }: Config) => {
  const found: string[] = []
  const written = await facts.writtenUpTo(query)
  for (const url of replicaDatabaseUrls) {
    const name = serverOf(url)
    try {
      const { isStandby, behind } = await withClient(url, (client) => facts.replica(queryOn(client, long), written))
      if (!isStandby)
        return warning(
          `${name} takes writes: it is no replica, and is not asked`,
          'let DATABASE_REPLICA_URLS name standbys',
        )
      found.push(behind <= 0 ? `${name} has everything` : `${name} lacks ${Math.ceil(behind / 1_024)} KiB of the log`)
    } catch (error) {
      return warning(`${name} does not answer: ${messageOf(error)}`, 'reads go to the primary until it does')
    }
  }
  return ok(found.join(', '))
}

const checkServer = async (query: Query) => {
  const { version, major, isStandby, encoding, characterType } = await facts.server(query)
  const found = `PostgreSQL ${version}, ${encoding}, character type ${characterType}`
  if (major < oldestServer)
    return failure(found, `upgrade the server: Masthead needs PostgreSQL ${oldestServer} or newer`)
  if (isStandby)
    return failure(`${found}, a standby`, 'let DATABASE_URL lead to the primary: a standby takes no writes')
  const anew = `dump it and load it into one made with: create database … template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C.UTF-8'`
  if (encoding !== 'UTF8') return failure(`${found}: it cannot hold every text`, anew)
  if (/^(C|POSIX)$/.test(characterType)) return warning(`${found}: names outside ASCII are found slowly`, anew)
  return ok(found)
}

const judgeRole = (role: facts.RoleFacts) => {
  const { name, bypasses, isSuperuser, mayCreateRoles, service } = role
  if (role.foreignTables > 0) {
    return failure(
      `${name} does not own ${role.foreignTables} of the tables`,
      `use the role that migrated them, or have an administrator run: reassign owned by <that role> to ${name}`,
    )
  }
  if (!role.mayCreateTables) {
    return failure(
      `${name} may not create tables`,
      `have an administrator run: alter database <name> owner to ${name}; create schema if not exists public; grant create on schema public to ${name}`,
    )
  }
  if (!bypasses) return ok(`${name} migrates and serves, held by row-level security`)
  if (service?.bypasses) {
    return failure(
      `${serviceRole}, under which it serves, passes by row-level security: nothing keeps tenants apart but our own care`,
      `have an administrator run: alter role ${serviceRole} nosuperuser nobypassrls`,
    )
  }
  if (!isSuperuser && !service?.isMember && !(mayCreateRoles && !service)) {
    return failure(`${name} passes by row-level security and cannot serve under another role`, serviceRoleRemedy)
  }
  return ok(`${name} migrates; ${serviceRole}, held by row-level security, serves`)
}

const extensions = ['pg_trgm', 'btree_gin', 'pgcrypto']

const checkExtensions = async (query: Query) => {
  const lacking = (await facts.extensions(query, extensions)).filter(({ isInstalled }) => !isInstalled)
  if (lacking.length === 0) return ok(`${extensions.join(', ')} are installed`)
  const names = lacking.map(({ name }) => name).join(', ')
  if (lacking.some(({ isAvailable }) => !isAvailable)) {
    return failure(`${names} are not on the server`, 'install the contrib package of its PostgreSQL')
  }
  const statements = lacking.map(({ name }) => `create extension ${name}`).join('; ')
  if (lacking.every(({ mayCreate }) => mayCreate)) return ok(`${names} are there for the migration to install`)
  return failure(`${names} may not be installed by this role`, `have an administrator run: ${statements}`)
}

const checkSchema = async (query: Query) => {
  const state = await schemaState(query)
  const { standing, version, known, missing } = state
  const refusal = refusalOf(state)
  if (refusal) return failure(refusal.reason, refusal.remedy)
  if (standing === 'current') return ok(`version ${version}, up to date`)
  if (standing === 'ahead') {
    return ok(`version ${version}, of a newer Masthead that admits this one, which knows ${known}`)
  }
  return warning(
    `version ${version}: ${missing.length} migrations are missing`,
    'run masthead upgrade check; the next start applies them, or masthead migrate',
  )
}

const checkRowSecurity = async (query: Query) => {
  const { tables, open } = await facts.openTables(query)
  if (open.length === 0) return ok(`${tables} tables are kept apart by tenant`)
  const statements = open.map((name) => `alter table ${name} enable row level security, force row level security`)
  return failure(`${open.join(', ')} are open to every tenant`, `have the owner run: ${statements.join('; ')}`)
}

const checkDurability = async (query: Query) => {
  const off = await facts.unsafeSettings(query)
  if (off.length === 0) return ok('what was answered outlives a crash')
  const resets = off.map((name) => `alter system set ${name} = on`).join('; ')
  return failure(
    `${off.join(' and ')} off: a crash loses writes that were answered${off.includes('fsync') ? ', or the whole database' : ''}`,
    `have an administrator run: ${resets}; select pg_reload_conf() (and look for the same setting on the database and the role)`,
  )
}

const [noticeable, tooMuch] = [1_000, 30_000]

const checkClock = async (query: Query) => {
  const before = Date.now()
  const theirs = await facts.time(query)
  const after = Date.now()
  const apart = Math.max(0, before - theirs, theirs - after)
  const found = `this machine and the database are ${apart < 100 ? 'less than 0.1' : (apart / 1_000).toFixed(1)} s apart`
  const todo = 'let NTP keep both clocks (systemd-timesyncd, chrony): tokens and sign-ins expire by them'
  if (apart >= tooMuch) return failure(found, todo)
  return apart >= noticeable ? warning(found, todo) : ok(found)
}

const checkConnections = async (query: Query, { workers }: Config) => {
  const [most, limit] = [mostConnections(workers), await connectionLimit(query)]
  const found = `${limit} are allowed, a server uses up to ${most}`
  if (limit >= most) return ok(found)
  return warning(found, 'raise max_connections of the server, or the limits of the role and the database')
}

const largeLogBytes = 4_000_000_000

const checkWriteAheadLog = async (query: Query) => {
  const { bytes, allowedBytes, slots } = await facts.writeAheadLog(query)
  const found = `the write-ahead log (WAL) of PostgreSQL takes ${Math.ceil(bytes / 1_000_000).toLocaleString('en-US')} MB`
  if (slots.length > 0) {
    const drops = slots.map((name) => `select pg_drop_replication_slot('${name}')`).join('; ')
    return warning(`${found}, and grows for replication slots that nobody uses: ${slots.join(', ')}`, drops)
  }
  // PostgreSQL exceeds what it is allowed for a while when much is written.
  if (bytes < Math.max(largeLogBytes, 2 * allowedBytes)) return ok(found)
  return warning(
    `${found}, more than twice what max_wal_size and wal_keep_size allow`,
    'look in postgres.log why PostgreSQL does not remove it, as for an archive_command that fails',
  )
}

const secretLost = 'set the MASTHEAD_SECRET, or put back the file `secret`, that this database was used with'

const checkSecret = async (query: Query, { secret, dataDirectory, databaseUrl }: Config) => {
  if (secret !== null) return ok('MASTHEAD_SECRET is set')
  const stored = await findSecret(dataDirectory)
  if (!stored) {
    const { count } = await facts.keys(query)
    return count > 0
      ? failure('there is none, but keys that were encrypted with one', secretLost)
      : ok('none yet: the first start makes one')
  }
  if (stored.isOpenToOthers) return failure(`${stored.file} can be read by others`, `chmod 600 ${stored.file}`)
  if (databaseUrl === null) return ok(`kept in ${stored.file}`)
  return warning(
    `kept in ${stored.file}: another node would make another, and could not open what this one encrypts`,
    'with several nodes, set MASTHEAD_SECRET on each of them to what this file holds',
  )
}

const checkKeys = async (query: Query, config: Config) => {
  if (config.outsideIssuer) return ok('not used: tokens come from AUTH_ISSUER')
  const { count, newest } = await facts.keys(query)
  if (count === 0) return ok('none yet: the first start makes one')
  const installation = await findInstallationSecret(config)
  if (installation === null) return failure('they cannot be opened: there is no secret', secretLost)
  try {
    await loadSigningKeys(query, installation)
  } catch {
    return failure('they cannot be opened: they were encrypted with another secret', secretLost)
  }
  const days = newest ? Math.floor((Date.now() - newest.getTime()) / 86_400_000) : Number.POSITIVE_INFINITY
  if (days <= longestUseDays) return ok(`they can be opened; the one that signs is ${days} days old`)
  return warning('the one that signs is too old: no server has run for long', 'start one, or masthead keys rotate')
}

const longWaitMilliseconds = 3_600_000

const checkWebhooks = async (database: Database, config: Config) => {
  const installation = (await findInstallationSecret(config)) ?? ''
  const sealed = new Set<string>()
  const failed = new Set<string>()
  const waiting = new Set<string>()
  const disabled = new Set<string>()
  let count = 0
  for (const { id: tenantId, slug } of await listTenants(database.query)) {
    for (const endpoint of await facts.webhookEndpoints(database.forTenant(tenantId).read)) {
      const { kind, sealedSecret, isDisabled, oldestWaiting } = endpoint
      count++
      const remedy = remedyFor(kind, slug, endpoint.id)
      if (!openSigningSecret(installation, tenantId, sealedSecret)) sealed.add(slug)
      if (isDisabled) disabled.add(remedy)
      else if (endpoint.failed) failed.add(remedy)
      else if (oldestWaiting && Date.now() - oldestWaiting.getTime() > longWaitMilliseconds) waiting.add(remedy)
    }
  }
  if (sealed.size > 0) {
    const names = [...sealed].join(', ')
    return failure(`nothing can be delivered for ${names}: their secrets were encrypted with another`, secretLost)
  }
  if (failed.size > 0) return warning('deliveries have failed', [...failed].join('; '))
  if (waiting.size > 0)
    return warning('deliveries wait for more than an hour', `see what they answer: ${[...waiting].join('; ')}`)
  if (disabled.size > 0) return warning('endpoints are disabled', [...disabled].join('; '))
  return ok(count === 0 ? 'there are no endpoints' : `${count} endpoints, and nothing waits for long`)
}

const remedyFor = (kind: 'webhook' | 'legacy', slug: string, id: string): string =>
  kind === 'legacy'
    ? `masthead legacy status --tenant ${slug}; masthead legacy retry --tenant ${slug}`
    : `masthead webhook deliveries --tenant ${slug} ${id}`
