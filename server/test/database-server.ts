import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { openEmbedded } from '../src/database/embedded.ts'
import { migrate } from '../src/database/migrate.ts'

/** One PostgreSQL for the whole run; each test file clones the migrated template: see service.ts. */
let stop: () => Promise<void> = async () => {}

export const templateName = 'template_masthead'

export const globalSetup = async (): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'masthead-test-'))
  const server = await openEmbedded(directory)
  stop = async () => {
    await server.close()
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await makeTemplate(server.connectionString)
  } catch (error) {
    await stop()
    throw error
  }
  process.env.TEST_DATABASE_SERVER = server.connectionString
  // For the processes of the test files, as the program does for itself.
  process.env.NODE_COMPILE_CACHE = fileURLToPath(new URL('../.compiled', import.meta.url))
}

const makeTemplate = async (connectionString: string): Promise<void> => {
  const administrator = new pg.Client(connectionString)
  await administrator.connect()
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
