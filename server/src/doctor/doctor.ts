import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { type Config, examineConfig } from '../config.ts'
import { clientOptions, long, queryOn, serviceRole } from '../database/connections/connection.ts'
import { remedyFor } from '../database/connections/reachability.ts'
import { openDatabase } from '../database/database.ts'
import { openEmbedded } from '../database/embedded/server.ts'
import { messageOf } from '../error-message.ts'
import { configurationChecks, mistakeChecks } from './configuration.ts'
import { databaseChecks } from './database.ts'
import { type Finding, failure, findings, ok, type Verdict } from './finding.ts'
import { machineChecks } from './machine.ts'
import { mailChecks } from './mail.ts'
import * as facts from './queries.ts'
import { redisChecks } from './redis.ts'

/** Examines everything that Masthead needs, and changes nothing. */
export const examine = async (dataDir: string | undefined): Promise<Finding[]> => {
  const { config: given, mistakes } = examineConfig()
  const config = { ...given, dataDirectory: dataDir ?? given.dataDirectory }
  const found = await findings({
    ...mistakeChecks(mistakes),
    ...configurationChecks(config),
    ...machineChecks(config),
    ...redisChecks(config),
    ...mailChecks(config),
  })
  // Without DATABASE_URL this would examine another database.
  if (mistakes.DATABASE_URL !== undefined) return found
  const inside: Finding[] = []
  const reached = await findings({ database: () => reach(config, (more) => inside.push(...more)) })
  return [...found, ...reached, ...inside]
}

const reach = async (config: Config, onFound: (findings: Finding[]) => void): Promise<Verdict> => {
  if (config.databaseUrl !== null) return examineServer(config, config.databaseUrl, onFound)
  const folder = join(config.dataDirectory, 'postgres')
  if (!(await stat(folder).catch(() => null))) return ok('none yet: the first start makes one')
  await using server = await openEmbedded(config.dataDirectory)
  return await examineServer(config, server.connectionString, onFound)
}

const examineServer = async (config: Config, connectionString: string, onFound: (findings: Finding[]) => void) => {
  const client = new pg.Client({ ...clientOptions(connectionString), pipeline: false })
  // Without a listener a lost connection ends the process.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    const usual = 'see that the server runs, and that it can be reached from this machine'
    return failure(`it does not answer: ${messageOf(error)}`, remedyFor(error) ?? usual)
  }
  const query = queryOn(client, long)
  const { bypasses, service } = await facts.role(query, serviceRole)
  const database = openDatabase(connectionString, bypasses && service ? serviceRole : null, {
    connections: { reading: 1, searching: 1, writing: 1 },
  })
  try {
    onFound(await findings(databaseChecks(config, query, database)))
    return ok(config.databaseUrl === null ? 'the embedded one answers' : 'that of DATABASE_URL answers')
  } finally {
    await database.close()
    await client.end()
  }
}
