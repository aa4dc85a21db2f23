/**
 * The only reader of the environment. Each comment below is the documentation of its variable.
 */
export type Config = {
  /** `PORT`: the port to listen on. Default 8080. */
  port: number
  /** `HOST`: the address to listen on. Default `localhost`, so that only this machine can connect. */
  host: string
  /** `BASE_URL`: the address under which callers reach the service, without a trailing slash. Default `http://localhost:PORT`. */
  baseUrl: string | null
  /** `DATABASE_URL`: a PostgreSQL 15 or newer to use instead of the embedded one, as `postgres://user:password@host/database`. */
  databaseUrl: string | null
  /** `MASTHEAD_DATA_DIR`: where the embedded PostgreSQL keeps its data. Default `.masthead` in the current folder. */
  dataDirectory: string
}

export const readConfig = (environment: NodeJS.ProcessEnv = process.env): Config => ({
  port: readPort(environment.PORT || '8080', 'PORT'),
  host: environment.HOST || 'localhost',
  baseUrl: environment.BASE_URL ? readBaseUrl(environment.BASE_URL) : null,
  databaseUrl: environment.DATABASE_URL ? readDatabaseUrl(environment.DATABASE_URL) : null,
  dataDirectory: environment.MASTHEAD_DATA_DIR || '.masthead',
})

export const readPort = (text: string, name: string): number => {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new Error(`${name} must be a port number from 0 to 65535, not "${text}"`)
}

const readDatabaseUrl = (text: string): string => {
  if (/^postgres(ql)?:\/\//.test(text)) return text
  // It is not repeated here, because it holds a password.
  throw new Error('DATABASE_URL must be an address like postgres://user:password@host/database')
}

const readBaseUrl = (text: string): string => {
  const url = URL.parse(text)
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && !url.search && !url.hash)
    return text.replace(/\/+$/, '')
  throw new Error(`BASE_URL must be an address like https://api.example.com, not "${text}"`)
}
