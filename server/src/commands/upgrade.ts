import { statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Command } from 'commander'
import { Client } from 'pg'
import { type Config, type DataDirOption, programName, readConfigWith } from '../config.ts'
import { findCluster } from '../data-folder.ts'
import { withClient } from '../database/connections/connection.ts'
import { remedyFor, usualRemedy } from '../database/connections/reachability.ts'
import { unpreparedOn } from '../database/connections/session.ts'
import { openEmbedded } from '../database/embedded/server.ts'
import { describeNodes } from '../database/schema/running-nodes.ts'
import { type Obstacle, planUpgrade, type UpgradePlan } from '../database/schema/upgrade-plan.ts'
import { messageOf } from '../error-message.ts'
import { printable } from '../foreign-text.ts'
import { findSecret } from '../identity/tokens/installation-secret.ts'
import { Refusal } from '../refusal.ts'
import { version } from '../version.ts'
import { action } from './action.ts'
import { dataDirectoryOption } from './data-directory-option.ts'
import { count, faint, shellWord, showLines, strong } from './output.ts'
import { megabytes } from './progress.ts'

/** What an upgrade to this program would do; without a plan where there is no database yet, or where it cannot be reached. */
type Check = { program: string; plan: UpgradePlan | null; backup: Backup | null; obstacles: Obstacle[]; ready: boolean }

type Backup = {
  /** Commands and what to keep beside, in their order. */
  steps: string[]
  /** On the disk that the first step writes to; null where only somebody else knows. */
  freeBytes: number | null
}

export const upgrade = (): Command => {
  const command = new Command('upgrade').description('what an upgrade to this program means')
  action(
    command
      .command('check')
      .description('tell what this program would migrate, and what to back up before; changes nothing')
      .addOption(dataDirectoryOption()),
    async (option: DataDirOption) => {
      const check = await examine(readConfigWith(option))
      if (!check.ready) process.exitCode = 1
      return check
    },
    showCheck,
  )
  return command
}

const examine = async (config: Config): Promise<Check> => {
  const plan = await readPlan(config).catch((error: unknown): Obstacle => {
    if (config.databaseUrl !== null)
      return {
        found: `the database of ${config.directDatabaseUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL'} cannot be used: ${messageOf(error)}`,
        todo: remedyFor(error) ?? usualRemedy,
      }
    const steps = error instanceof Refusal ? error.steps : []
    return { found: messageOf(error), todo: steps.join('\n') || `run \`${programName()} doctor\`` }
  })
  if (plan === null) return { program: version, plan, backup: null, obstacles: [], ready: true }
  if ('found' in plan) return { program: version, plan: null, backup: null, obstacles: [plan], ready: false }
  const backup = plan.migrations.length > 0 ? await planBackup(config) : null
  const obstacles = [...plan.obstacles, ...diskObstacles(plan, backup)]
  return { program: version, plan, backup, obstacles, ready: obstacles.length === 0 }
}

const readPlan = async (config: Config): Promise<UpgradePlan | Obstacle | null> => {
  if (config.databaseUrl !== null) return planAt(config.directDatabaseUrl ?? config.databaseUrl)
  // To open an embedded database would make one.
  const found = await findCluster(config.dataDirectory)
  if (found === 'none') return null
  if (found !== 'there') return { found: found.found, todo: found.todo }
  await using server = await openEmbedded(config.dataDirectory)
  return await planAt(server.connectionString)
}

const planAt = (connectionString: string): Promise<UpgradePlan> =>
  withClient(
    connectionString,
    async (client) => {
      // Of the transaction and not of the session, which a pooler would give to others. It ends with the connection.
      await client.query('begin read only')
      return planUpgrade(unpreparedOn(client))
    },
    { application_name: 'upgrade check' },
  )

const planBackup = async ({ databaseUrl, dataDirectory, secret }: Config): Promise<Backup> => {
  const stored = await findSecret(dataDirectory)
  if (databaseUrl === null) {
    const data = resolve(dataDirectory)
    const file = join(dirname(data), `masthead-before-${version}.tar.zst`)
    const { bavail, bsize } = await statfs(dirname(data))
    const keep = secret === null ? [] : [keepSecret]
    return {
      steps: [`${programName()} backup ${shellWord(file)} --data-dir ${shellWord(data)}`, ...keep],
      freeBytes: bavail * bsize,
    }
  }
  const keep = stored && secret === null ? `keep a copy of ${stored.file}` : keepSecret
  // An address can name the server in several ways, all of which the driver reads.
  const { host, port, database = '<database>' } = new Client(databaseUrl)
  const server = `--host ${shellWord(host)} --port ${port}`
  const steps = [
    `pg_dump ${server} --username postgres --format custom --file masthead-before-${version}.dump ${shellWord(database)}`,
    `pg_dumpall ${server} --username postgres --roles-only --file roles-before-${version}.sql`,
    keep,
  ]
  return { steps, freeBytes: null }
}

const keepSecret = 'keep a copy of MASTHEAD_SECRET'

/** A backup is compressed, but not always by much. */
const diskObstacles = ({ server }: UpgradePlan, backup: Backup | null): Obstacle[] => {
  const freeBytes = backup?.freeBytes ?? null
  if (freeBytes === null || freeBytes > server.databaseBytes) return []
  const found = `the database has ${megabytes(server.databaseBytes)} MB, and ${megabytes(freeBytes)} MB are free for a backup beside it`
  return [{ found, todo: 'make room, or back up to another disk' }]
}

const showCheck = ({ plan, backup, obstacles, ready }: Check): void => {
  if (plan) showPlan(plan)
  if (backup) {
    showLines('', 'Before the upgrade, back up:', ...backup.steps.map((step) => `  ${strong(step)}`))
    if (backup.freeBytes !== null && plan)
      showLines(
        faint(
          `  The database has ${megabytes(plan.server.databaseBytes)} MB; ${megabytes(backup.freeBytes)} MB are free.`,
        ),
      )
  }
  for (const { found, todo } of obstacles) {
    const steps = todo.split('\n').map((line) => `  ${printable(line)}`)
    showLines(...(plan ? [''] : []), `${strong('Blocked:')} ${printable(found)}`, ...steps)
  }
  if (!plan && ready) showLines('There is no database yet: the first start makes it.')
  else if (ready) showLines('', plan?.migrations.length ? conclusion : 'Ready.')
}

const conclusion = 'Ready: `masthead migrate` migrates it, or the next start.'

const showPlan = ({ schema, server, migrations, searchTexts, nodes }: UpgradePlan): void => {
  showLines(
    `Masthead ${version}, schema version ${schema.known}; the database has ${schema.version}, on PostgreSQL ${server.version}.`,
  )
  if (schema.standing === 'ahead') showLines('A newer Masthead has migrated it, and it admits this one.')
  if (schema.standing === 'current') showLines('Nothing is to be migrated.')
  if (migrations.length > 0) showLines('', `${count(migrations.length, 'migration')}:`)
  for (const { name, purpose, admits, longWork } of migrations) {
    showLines(`  ${strong(name)}  ${purpose}`)
    for (const { work, table, rows } of longWork)
      showLines(`    ${work} ${table}: about ${rows.toLocaleString('en-US')} rows`)
    if (admits !== null) showLines(`    afterwards the database admits Masthead ${admits} and newer`)
  }
  if (searchTexts > 0)
    showLines('', `The start rebuilds ${searchTexts.toLocaleString('en-US')} search texts before it serves.`)
  if (nodes.length > 0) showLines('', `Nodes that use it now: ${describeNodes(nodes)}.`)
  if (nodes.length > 0 && migrations.length > 0 && nodes.every(({ mayStay }) => mayStay))
    showLines('They go on serving during the upgrade and beside this version.')
}
