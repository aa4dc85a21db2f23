import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { serviceRole } from '../src/database/connections/connection.ts'
import { openDatabase } from '../src/database/database.ts'
import { openEmbedded } from '../src/database/embedded/server.ts'
import { migrate } from '../src/database/schema/migrate.ts'
import { ensureSigningKey } from '../src/identity/signing-keys.ts'
import { offerBrowser } from './browsers/browser-server.ts'

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
  const [server, browser] = await Promise.all([openEmbedded(directory), offerBrowser()])
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

const makeTemplates = async (connectionString: string): Promise<void> => {
  const administrator = new pg.Client(connectionString)
  await administrator.connect()
  const addressOf = (name: string) => Object.assign(new URL(connectionString), { pathname: `/${name}` }).href
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
