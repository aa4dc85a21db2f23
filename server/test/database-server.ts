import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { serviceRole } from '../src/database/connections/address.ts'
import { openDatabase } from '../src/database/database.ts'
import { openEmbedded } from '../src/database/embedded/server.ts'
import { migrate } from '../src/database/schema/migrate.ts'
import { ensureSigningKey } from '../src/identity/tokens/signing-keys.ts'
import { offerBrowser } from './browsers/browser-server.ts'
import {
  cloneCitusDatabase,
  createCitusDatabase,
  inDatabase,
  makeTemplate,
  shard,
  startCitus,
} from './scale/citus-servers.ts'

/**
 * One PostgreSQL and one browser for the whole run. Each test file clones the migrated template (see service.ts) and opens
 * contexts of its own in the browser (see browser.ts).
 */
let stop: () => Promise<void> = async () => {}

/** The migrated database; and the same with a key that signs tokens, as making one takes a quarter of a second. */
export const templates = { bare: 'template_masthead', withKey: 'template_masthead_with_key' }

/** What the keys of a service are encrypted with, unless a test says otherwise. */
export const secret = 'a secret for tests that is long enough'

export const globalSetup = async (): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'masthead-test-'))
  const { TEST_CITUS: citus } = process.env
  const [server, browser] = await Promise.all([citus ? openCitus(citus) : openEmbedded(directory), offerBrowser()])
  stop = async () => {
    await Promise.all([server.close(), browser.close()])
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await makeTemplates(server.connectionString)
  } catch (error) {
    await stop()
    throw error
  }
  process.env.TEST_DATABASE_SERVER = server.connectionString
  process.env.TEST_BROWSER = browser.address
  // For the processes of the test files, as the program does for itself.
  process.env.NODE_COMPILE_CACHE = fileURLToPath(new URL('../.compiled', import.meta.url))
}

/** All tests go through a sharded database where TEST_CITUS names the programs of a PostgreSQL that has Citus. */
const openCitus = async (programsFolder: string) => {
  const { connectionStrings, programs } = await startCitus(programsFolder)
  const [connectionString = ''] = connectionStrings
  process.env.TEST_CITUS_SERVERS = connectionStrings.join(' ')
  return { connectionString, close: async () => programs.end() }
}

const makeShardedTemplates = async (servers: readonly string[]): Promise<void> => {
  const connectionString = await createCitusDatabase(servers, templates.bare)
  await shard(connectionString)
  await makeTemplate(servers, templates.bare)
  await cloneCitusDatabase(servers, templates.withKey, templates.bare)
  const [server = ''] = servers
  const database = openDatabase({
    connectionString: inDatabase(server, templates.withKey),
    role: serviceRole,
    isSharded: true,
  })
  await ensureSigningKey(database, secret)
  await database.close()
  await makeTemplate(servers, templates.withKey)
}

const makeTemplates = async (connectionString: string): Promise<void> => {
  const { TEST_CITUS_SERVERS: servers } = process.env
  if (servers) return makeShardedTemplates(servers.split(' '))
  const administrator = new pg.Client(connectionString)
  await administrator.connect()
  const addressOf = (name: string) => Object.assign(new URL(connectionString), { pathname: `/${name}` }).href
  // Hundreds of databases would be vacuumed in turn, and none lives long enough to need it.
  await administrator.query('alter system set autovacuum = off')
  await administrator.query('select pg_reload_conf()')
  await administrator.query(`create database ${templates.bare}`)
  await migrate(addressOf(templates.bare))
  await administrator.query(`create database ${templates.withKey} template ${templates.bare}`)
  await administrator.end()
  const database = openDatabase({ connectionString: addressOf(templates.withKey), role: serviceRole })
  await ensureSigningKey(database, secret)
  await database.close()
}

export const templateUrl = (server = process.env.TEST_DATABASE_SERVER ?? ''): string =>
  Object.assign(new URL(server), { pathname: `/${templates.bare}` }).href

export const globalTeardown = (): Promise<void> => stop()
