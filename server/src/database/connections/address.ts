import pg from 'pg'

/** How a process reaches a database. */
export type DatabaseAddress = {
  connectionString: string
  role: string | null
  /** Where `connectionString` leads to a pooler that gives each transaction another session: the server itself. */
  directConnectionString?: string
  /** Standbys that may answer reads. */
  replicaConnectionStrings?: string[]
  /** The tables of tenants are distributed over several servers. */
  isSharded?: boolean
}

/** For what needs a session of its own. */
export const withoutPooler = (address: DatabaseAddress): DatabaseAddress => {
  const { directConnectionString, ...others } = address
  return directConnectionString === undefined ? address : { ...others, connectionString: directConnectionString }
}

/** The role that serves when the role in the connection string could pass by row-level security. */
export const serviceRole = 'masthead_service'

/** Which server an address leads to, without the password. */
export const serverOf = (connectionString: string): string => {
  const url = URL.parse(connectionString)
  if (url?.host && !url.searchParams.has('host') && !url.searchParams.has('port')) return decodeURIComponent(url.host)
  // It may lead to a folder of sockets.
  const { host, port } = new pg.Client(connectionString)
  return `${host}:${port}`
}
