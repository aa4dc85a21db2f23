import { type Config, type DataDirOption, examineConfig } from '../config.ts'
import { findCluster } from '../data-folder.ts'
import { serviceRole } from '../database/connections/address.ts'
import { withClient } from '../database/connections/connection.ts'
import {
  findMismatch,
  findPooling,
  mismatchRemedy,
  type Pooling,
  poolerRemedy,
} from '../database/connections/pooler.ts'
import { remedyFor, usualRemedy } from '../database/connections/reachability.ts'
import { long, queryOn } from '../database/connections/session.ts'
import { openDatabase } from '../database/database.ts'
import { openEmbedded } from '../database/embedded/server.ts'
import { findSharding } from '../database/shards/sharding.ts'
import { messageOf } from '../error-message.ts'
import { configurationChecks, mistakeChecks, unknownVariables } from './configuration.ts'
import { databaseChecks } from './database.ts'
import { type Finding, failure, findings, ok, type Verdict } from './finding.ts'
import { machineChecks } from './machine.ts'
import { mailChecks } from './mail.ts'
import * as facts from './queries.ts'
import { redisChecks } from './redis.ts'

/** Examines everything that Masthead needs, and changes nothing. */
export const examine = async (option: DataDirOption): Promise<Finding[]> => {
  const { config, mistakes, known, unknown } = examineConfig(option)
  const found = await findings({
    ...mistakeChecks(mistakes),
    ...unknownVariables(unknown, known),
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
  const { databaseUrl, directDatabaseUrl } = config
  if (databaseUrl !== null) {
    const pooled = directDatabaseUrl === null ? null : await examinePooler(databaseUrl, directDatabaseUrl)
    if (pooled !== null && pooled.status === 'failure') return pooled
    const found = await examineServer(config, directDatabaseUrl ?? databaseUrl, onFound)
    return found.status === 'ok' && pooled !== null ? pooled : found
  }
  const found = await findCluster(config.dataDirectory)
  if (found === 'none') return ok('none yet: the first start makes one')
  if (found !== 'there') return failure(found.found, found.todo)
  await using server = await openEmbedded(config.dataDirectory)
  return await examineServer(config, server.connectionString, onFound)
}

const noAnswer = (error: unknown): Verdict =>
  failure(`it does not answer: ${messageOf(error)}`, remedyFor(error) ?? usualRemedy)

/** DATABASE_URL, where DATABASE_DIRECT_URL is set as well. */
const examinePooler = async (databaseUrl: string, directDatabaseUrl: string): Promise<Verdict> => {
  try {
    const pooling = await findPooling(databaseUrl)
    const mismatch = await findMismatch(databaseUrl, directDatabaseUrl)
    if (mismatch !== null) return failure(mismatch, mismatchRemedy)
    if (pooling === 'none') return ok('that of DATABASE_URL answers, through no pooler')
    return ok(`that of DATABASE_URL answers, through a pooler in ${pooling} mode`)
  } catch (error) {
    return noAnswer(error)
  }
}

const examineServer = async (config: Config, connectionString: string, onFound: (findings: Finding[]) => void) => {
  let pooling: Pooling
  try {
    pooling = await findPooling(connectionString)
  } catch (error) {
    return noAnswer(error)
  }
  if (pooling === 'transaction') return failure('a pooler in transaction mode stands before the server', poolerRemedy)
  await withClient(connectionString, async (client) => {
    const query = queryOn(client, long)
    const { bypasses, service } = await facts.role(query, serviceRole)
    const sharding = await findSharding(query)
    const database = openDatabase(
      { connectionString, role: bypasses && service ? serviceRole : null, isSharded: sharding === 'done' },
      { connections: { reading: 1, searching: 1, writing: 1 } },
    )
    try {
      onFound(await findings(databaseChecks(config, query, database, sharding)))
    } finally {
      await database.close()
    }
  })
  if (config.databaseUrl === null) return ok('the embedded one answers')
  return ok(`that of DATABASE_URL answers${pooling === 'session' ? ', through a pooler in session mode' : ''}`)
}
