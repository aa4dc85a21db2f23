import type { Query } from '../connections/statement.ts'

/** Nodes and commands of one version at one address, by their sessions: every process names its own after its version. */
export type RunningNodes = {
  version: string
  /** Null where they come over a socket of this machine. */
  address: string | null
  sessions: number
}

export const findRunningNodes = (query: Query): Promise<RunningNodes[]> =>
  query<RunningNodes>({
    text: `select substring(application_name from '^masthead ([^ ,]+)') as version, host(client_addr) as address, count(*)::integer as sessions
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name ~ '^masthead [0-9]'
      group by 1, 2 order by 1, 2`,
  })

export const describeNodes = (nodes: readonly RunningNodes[]): string =>
  nodes
    .map(({ version, address, sessions }) => {
      const place = address === null ? 'this machine' : address
      return `${version} on ${place} (${sessions} ${sessions === 1 ? 'session' : 'sessions'})`
    })
    .join(', ')
