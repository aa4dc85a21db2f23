import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { say } from '../../src/commands/output.ts'
import { openEmbedded } from '../../src/database/embedded/server.ts'
import { knownMigrations } from '../../src/database/schema/migration-files.ts'
import { version } from '../../src/version.ts'
import { freePorts } from '../failover/programs.ts'
import { startServing } from '../processes/masthead-process.ts'
import { recordCommands, recordRequests } from './recorded-responses.ts'
import { dumpTables, hashOf, writeRelease } from './release.ts'
import { environmentOf, fillDatabase, letLast } from './released-records.ts'

/** `npm run release:dump` makes the dump of this version that later ones are tried on. It is committed with the release. */
const folder = await mkdtemp(join(tmpdir(), 'masthead-dump-'))
const server = await openEmbedded(join(folder, 'data'))
try {
  const environment = environmentOf(server.connectionString)
  const [port = 0] = await freePorts(1)
  const credentials = await fillDatabase(environment, port)
  const owner = new pg.Client(server.connectionString)
  await owner.connect()
  await letLast(owner)
  const dumped = await dumpTables(owner)
  await owner.end()
  const empty = Object.entries(dumped.tables).flatMap(([name, { rows }]) => (rows.length === 0 ? [name] : []))
  if (empty.length > 0) throw new Error(`nothing fills ${empty.join(', ')}: see released-records.ts`)
  const commands = await recordCommands(environment)
  const serving = await startServing(['--port', String(port), '--no-work'], environment)
  const requests = await recordRequests(`http://127.0.0.1:${port}`, credentials)
  await serving.stop()
  const names = await knownMigrations()
  const hashes = await Promise.all(names.map(async (name) => [name, await hashOf(name)]))
  await mkdir(new URL('./releases/', import.meta.url), { recursive: true })
  const file = await writeRelease({
    version,
    credentials,
    migrations: Object.fromEntries(hashes),
    ...dumped,
    responses: { commands, requests },
  })
  say(`${file.pathname} has ${Object.keys(dumped.tables).length} tables and ${Object.keys(requests).length} responses.`)
} finally {
  await server.close()
  await rm(folder, { recursive: true, force: true })
}
process.exit()
