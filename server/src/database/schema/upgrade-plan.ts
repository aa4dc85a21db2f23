import type { Query } from '../connections/statement.ts'
import { oldestServer, statementsOf } from './migrate.ts'
import { type Migration, readMigration } from './migration-files.ts'
import { isOlder } from './program-version.ts'
import { describeNodes, findRunningNodes, type RunningNodes } from './running-nodes.ts'
import { newest, refusalOf, type SchemaState, schemaState } from './schema-state.ts'
import { conditionToRenew, renewalIndex } from './search-texts.ts'

/** What takes the longer the larger the table is: while an index is built writes wait, while a table is rewritten everybody does. */
type LongWork = { table: string; work: 'builds an index of' | 'rewrites' | 'changes rows of'; rows: number }

type PlannedMigration = Pick<Migration, 'name' | 'purpose' | 'admits'> & { longWork: LongWork[] }

/** What stands against the upgrade, and what to do about it. */
export type Obstacle = { found: string; todo: string }

/** What this program would do to a database, read from it without a change. */
export type UpgradePlan = {
  schema: SchemaState
  server: { version: string; databaseBytes: number }
  migrations: PlannedMigration[]
  /** How many search texts the start does again after the migrations, in batches, beside nodes that serve. */
  searchTexts: number
  /** `mayStay` is false for those that a migration would leave without what they need. */
  nodes: (RunningNodes & { mayStay: boolean })[]
  obstacles: Obstacle[]
}

export const planUpgrade = async (query: Query): Promise<UpgradePlan> => {
  const schema = await schemaState(query)
  const files = await Promise.all(schema.missing.map(readMigration))
  const server = await readServer(query)
  const migrations = await Array.fromAsync(files, async ({ name, purpose, admits, sql }) => ({
    name,
    purpose,
    admits,
    longWork: await findLongWork(query, sql),
  }))
  const admits = newest(files.flatMap((file) => file.admits ?? []))
  const nodes = (await findRunningNodes(query)).map((node) => ({
    ...node,
    mayStay: admits === null || !isOlder(node.version, admits),
  }))
  const obstacles = [...serverObstacles(server), ...schemaObstacles(schema), ...nodeObstacles(admits, nodes)]
  return { schema, server, migrations, searchTexts: await countSearchTexts(query, files), nodes, obstacles }
}

const readServer = async (query: Query): Promise<UpgradePlan['server']> => {
  const [found] = await query<UpgradePlan['server']>({
    text: `select current_setting('server_version') as version, pg_database_size(current_database()) as "databaseBytes"`,
  })
  return found ?? { version: '', databaseBytes: 0 }
}

const serverObstacles = ({ version }: UpgradePlan['server']): Obstacle[] =>
  Number.parseInt(version, 10) >= oldestServer
    ? []
    : [{ found: `the server is PostgreSQL ${version}`, todo: `upgrade it to ${oldestServer} or newer` }]

const schemaObstacles = (schema: SchemaState): Obstacle[] => {
  const refusal = refusalOf(schema)
  return refusal ? [{ found: refusal.reason, todo: refusal.remedy }] : []
}

const nodeObstacles = (admits: string | null, nodes: UpgradePlan['nodes']): Obstacle[] => {
  const older = nodes.filter(({ mayStay }) => !mayStay)
  if (older.length === 0) return []
  return [
    {
      found: `afterwards the database admits Masthead ${admits} and newer, and older nodes use it: ${describeNodes(older)}`,
      todo: `stop them, or bring them to ${admits} first`,
    },
  ]
}

const works: [LongWork['work'], RegExp][] = [
  ['builds an index of', /^create (?:unique )?index (?!concurrently).*?\bon (\w+)/is],
  [
    'rewrites',
    /^alter table (\w+)\b.*\b(?:generated always as|set data type|alter column \w+ type|alter \w+ type)\b/is,
  ],
  ['changes rows of', /^(?:update|delete from) (\w+)/i],
]

const findLongWork = async (query: Query, sql: string): Promise<LongWork[]> => {
  const found = statementsOf(sql).flatMap((text) => {
    const statement = text.replaceAll(/--.*$/gm, '').trim()
    return works.flatMap(([work, pattern]) => {
      const table = pattern.exec(statement)?.[1]
      return table === undefined ? [] : [{ work, table }]
    })
  })
  const distinct = [...new Map(found.map((one) => [`${one.work} ${one.table}`, one])).values()]
  const counted = await Array.fromAsync(distinct, async (one) => ({
    ...one,
    rows: await estimateRows(query, one.table),
  }))
  return counted.filter(({ rows }) => rows > 0)
}

/** As PostgreSQL estimates; a table that is not there yet has none. */
const estimateRows = async (query: Query, table: string): Promise<number> => {
  const [found] = await query<{ rows: number }>({
    text: `select greatest(reltuples, pg_stat_get_live_tuples(oid), 0)::float8 as rows from pg_class where oid = to_regclass($1)`,
    values: [table],
  })
  return Math.round(found?.rows ?? 0)
}

/** An index lists those that are to be done again. A migration that makes it anew has all of them looked at. */
const countSearchTexts = async (query: Query, files: readonly Migration[]): Promise<number> => {
  if (files.some(({ sql }) => sql.includes(renewalIndex))) return estimateRows(query, 'search_texts')
  const condition = await conditionToRenew(query)
  if (condition === null) return 0
  const text = `select count(*)::float8 as count from search_texts where ${condition}`
  return (await query<{ count: number }>({ text }))[0]?.count ?? 0
}
