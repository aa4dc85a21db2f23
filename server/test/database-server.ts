import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openEmbedded } from '../src/database/embedded/server.ts'
import { migrate } from '../src/database/migrate.ts'
import { offerBrowser } from './browser-server.ts'

/**
 * One PostgreSQL and one browser for the whole run. Each test file clones the migrated template (see service.ts) and opens
 * contexts of its own in the browser (see browser.ts).
 */
let stop: () => Promise<void> = async () => {}

export const templateName = 'template_masthead'

export const globalSetup = async (): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'masthead-test-'))
  const [server, browser] = await Promise.all([openEmbedded(directory), offerBrowser()])
  stop = async () => {
    await Promise.all([server.close(), browser.close()])
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await makeTemplate(server.connectionString)
  } catch (error) {
    await stop()
    throw error
  }
  process.env.TEST_DATABASE_SERVER = server.connectionString
  process.env.TEST_BROWSER = browser.address
  // For the processes of the test files, as the program does for itself.
  process.env.NODE_COMPILE_CACHE = fileURLToPath(new URL('../.compiled', import.meta.url))
}

const makeTemplate = async (connectionString: string): Promise<void> => {
  const administrator = new pg.Client(connectionString)
  await administrator.connect()
  // What a test writes needs to outlive no crash of the machine. The crashes of the tests are of other clusters.
  for (const setting of ['fsync', 'full_page_writes']) await administrator.query(`alter system set ${setting} = off`)
  await administrator.query('select pg_reload_conf()')
  await administrator.query(`create database ${templateName}`)
  await administrator.end()
  await migrate(templateUrl(connectionString))
}

export const templateUrl = (server = process.env.TEST_DATABASE_SERVER ?? ''): string => {
  const url = new URL(server)
  url.pathname = `/${templateName}`
  return url.href
}

export const globalTeardown = (): Promise<void> => stop()
