import { resolve } from 'node:path'
import pg from 'pg'
import { type Config, programName, readConfig } from '../config.ts'
import { findCluster } from '../data-folder.ts'
import { serverOf } from '../database/connections/address.ts'
import { withClient } from '../database/connections/connection.ts'
import { remedyFor, usualRemedy } from '../database/connections/reachability.ts'
import { unpreparedOn } from '../database/connections/session.ts'
import { findRunning } from '../database/embedded/server.ts'
import { type SchemaState, schemaState } from '../database/schema/schema-state.ts'
import { messageOf } from '../error-message.ts'
import { version } from '../version.ts'
import * as facts from './queries.ts'

/** What state an installation is in, as far as it can be told at once, without starting or creating anything. */
export type State = {
  version: string
  service: { url: string; state: 'ready' | 'not ready' | 'away' }
  database: {
    kind: 'embedded' | 'server'
    /** The folder, or host and name: never the user and the password. */
    place: string
    state: 'running' | 'stopped' | 'none' | 'away'
    trouble: string | null
  }
  /** Null where the database was not asked. */
  schema: SchemaState | null
  tenants: { count: number; first: string | null } | null
}

const timeoutMilliseconds = 2_000

export const findState = async (): Promise<State> => {
  const config = readConfig()
  const [service, rest] = await Promise.all([findService(config), findDatabase(config)])
  return { version, service, ...rest }
}

/** The port of this machine is asked, because BASE_URL may be that of a proxy. */
const findService = async ({ host, port }: Config): Promise<State['service']> => {
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host
  const url = `http://${name.includes(':') ? `[${name}]` : name}:${port}`
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(timeoutMilliseconds) })
    await response.body?.cancel()
    return { url, state: response.ok ? 'ready' : 'not ready' }
  } catch {
    return { url, state: 'away' }
  }
}

type DatabaseState = Pick<State, 'database' | 'schema' | 'tenants'>

const findDatabase = async ({ databaseUrl, directDatabaseUrl, dataDirectory }: Config): Promise<DatabaseState> => {
  if (databaseUrl !== null) {
    const place = `${serverOf(databaseUrl)}/${new pg.Client(databaseUrl).database ?? ''}`
    return ask({ kind: 'server', place }, directDatabaseUrl ?? databaseUrl)
  }
  const at = { kind: 'embedded', place: resolve(dataDirectory) } as const
  const without = (state: 'stopped' | 'none' | 'away', trouble: string | null = null): DatabaseState => ({
    database: { ...at, state, trouble },
    schema: null,
    tenants: null,
  })
  const found = await findCluster(dataDirectory)
  if (found === 'none') return without('none')
  if (found !== 'there') return without(found.isMissing ? 'none' : 'away', `${found.found}: ${found.todo}`)
  try {
    const running = await findRunning(dataDirectory)
    return running === null ? without('stopped') : ask(at, running)
  } catch (error) {
    return without('away', `${messageOf(error)}: run \`${programName()} doctor\``)
  }
}

const ask = async (at: Pick<State['database'], 'kind' | 'place'>, connectionString: string): Promise<DatabaseState> => {
  const timeouts = { connectionTimeoutMillis: timeoutMilliseconds, query_timeout: timeoutMilliseconds }
  const look = async (client: pg.Client): Promise<DatabaseState> => {
    const query = unpreparedOn(client)
    const schema = await schemaState(query)
    const tenants = schema.version > 0 ? await facts.tenants(query) : { count: 0, first: null }
    return { database: { ...at, state: 'running', trouble: null }, schema, tenants }
  }
  return withClient(connectionString, look, timeouts).catch((error) => {
    const trouble = `it does not answer: ${messageOf(error)}; ${remedyFor(error) ?? usualRemedy}`
    return { database: { ...at, state: 'away', trouble }, schema: null, tenants: null }
  })
}
