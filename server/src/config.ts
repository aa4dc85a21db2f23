import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import type { RateLimits } from './http/rate-limit.ts'
import { type LogLevel, logLevels } from './log-level.ts'
import type { Sampling } from './traces/tracing.ts'

/**
 * The only reader of the environment. Each comment below is the documentation of its variable.
 */
export type Config = {
  /** `PORT`: the port to listen on. Default 8080. */
  port: number
  /** `HOST`: the address to listen on. Default `localhost`, so that only this machine can connect. */
  host: string
  /** `WORKERS`: how many threads serve: a number, or `auto` for one per core. Default 1. */
  workers: number
  /** `BASE_URL`: the address under which callers reach the service, without a trailing slash. Default `http://localhost:PORT`. */
  baseUrl: string | null
  /** `DATABASE_URL`: a PostgreSQL 15 or newer to use instead of the embedded one, as `postgres://user:password@host/database`. */
  databaseUrl: string | null
  /** `MASTHEAD_DATA_DIR`: where the embedded PostgreSQL keeps its data. Default `.masthead` in the current folder. */
  dataDirectory: string
  /** `TRUST_PROXY`: addresses or networks of reverse proxies, separated by commas, whose `X-Forwarded-For` names the caller. Default: none is believed. */
  trustedProxies: string[]
  /** `LOG_LEVEL`: `debug`, `info` (a line for each request), `warn`, `error` or `silent`. Default `info`, on a terminal `warn`. */
  logLevel: LogLevel
  /** `METRICS_PORT`: where measures are served at `/metrics` for Prometheus. Default: nowhere. `METRICS_HOST`: the address to listen on. Default `localhost`. */
  metrics: { host: string; port: number } | null
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: where traces are sent by OTLP over HTTP; `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`: which. Default: nowhere, and all. */
  sampling: Sampling | null
  /** `RATE_LIMIT`: `off` for trials. Requests a minute: of a token `RATE_LIMIT_TOKEN`, default 1200; of a tenant `RATE_LIMIT_TENANT`, 6000; of an address to the authorization server `RATE_LIMIT_ADDRESS`, 1200; passwords tried from an address `RATE_LIMIT_SIGN_IN`, 120; tokens given to an application `RATE_LIMIT_APPLICATION`, 6000. `RATE_LIMIT_AT_ONCE`: requests of a token at once, default 50. */
  rateLimits: RateLimits | null
  /** `REDIS_URL`: a Redis in which all nodes count requests together, as `redis://host:6379` or `rediss://user:password@host:6379/1`. Default: each node counts its own. */
  redisUrl: string | null
  /** `MASTHEAD_SECRET`: 32 or more random characters that encrypt signing keys and the secrets of legacy systems; the same on every node. Default: made once and kept in the data folder. */
  secret: string | null
  /** `LEGACY_ALLOW_PRIVATE`: `true` lets legacy systems have private and loopback addresses, and plain `http`. Default `false`. */
  legacyAllowPrivate: boolean
  /** `AUTH_URL`: the address of the authorization server when it is not `BASE_URL`. */
  authUrl: string | null
  /** `AUTH_ISSUER`: an identity provider outside whose access tokens are accepted; the embedded authorization server is off then. */
  outsideIssuer: OutsideIssuerConfig | null
}

export type OutsideIssuerConfig = {
  issuer: string
  /** `AUTH_AUDIENCE`: what `aud` of its access tokens must hold, or `none` for an issuer that sets none. Default: the address of the API. */
  audience: string | null
  /** `AUTH_MATCH_USERS_BY`: `subject` (`masthead user create --subject`) or `email`, which the issuer must have verified. Default `subject`. */
  matchUsersBy: 'subject' | 'email'
  /** `AUTH_CLIENT_CLAIM`, `AUTH_SCOPE_CLAIM`, `AUTH_TENANT_CLAIM`, `AUTH_EMAIL_CLAIM`, `AUTH_EMAIL_VERIFIED_CLAIM`: names of claims. Default `client_id`, `scope`, `tenant`, `email`, `email_verified`. */
  claims: { client: string; scope: string; tenant: string; email: string; emailVerified: string }
}

export const readConfig = (environment: NodeJS.ProcessEnv = process.env): Config => ({
  port: readPort(environment.PORT || '8080', 'PORT'),
  host: environment.HOST || 'localhost',
  workers: readWorkers(environment.WORKERS || '1'),
  baseUrl: environment.BASE_URL ? readOrigin(environment.BASE_URL, 'BASE_URL') : null,
  databaseUrl: environment.DATABASE_URL ? readDatabaseUrl(environment.DATABASE_URL) : null,
  dataDirectory: environment.MASTHEAD_DATA_DIR || '.masthead',
  trustedProxies: readProxies(environment.TRUST_PROXY ?? ''),
  logLevel: readLogLevel(environment.LOG_LEVEL || (process.stderr.isTTY ? 'warn' : 'info')),
  metrics: environment.METRICS_PORT
    ? { host: environment.METRICS_HOST || 'localhost', port: readPort(environment.METRICS_PORT, 'METRICS_PORT') }
    : null,
  sampling: readSampling(environment),
  rateLimits: readRateLimits(environment),
  redisUrl: environment.REDIS_URL ? readRedisUrl(environment.REDIS_URL) : null,
  secret: environment.MASTHEAD_SECRET ? readSecret(environment.MASTHEAD_SECRET) : null,
  legacyAllowPrivate: readFlag(environment.LEGACY_ALLOW_PRIVATE || 'false', 'LEGACY_ALLOW_PRIVATE'),
  authUrl: environment.AUTH_URL ? readOrigin(environment.AUTH_URL, 'AUTH_URL') : null,
  outsideIssuer: environment.AUTH_ISSUER ? readOutsideIssuer(environment.AUTH_ISSUER, environment) : null,
})

/**
 * Every mistake at once, by its variable, which each message begins with, and the configuration as if those were not set.
 */
export const examineConfig = (
  environment: NodeJS.ProcessEnv = process.env,
): { config: Config; mistakes: Record<string, string> } => {
  const mistakes: Record<string, string> = {}
  for (const rest = { ...environment }; ; ) {
    try {
      return { config: readConfig(rest), mistakes }
    } catch (error) {
      const { message } = error as Error // the readers below throw no others
      const [name = ''] = /^[A-Z_]+/.exec(message) ?? []
      if (rest[name] === undefined) throw error
      mistakes[name] = message
      delete rest[name]
    }
  }
}

const readWorkers = (text: string): number => {
  if (text === 'auto') return availableParallelism()
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text)
  throw new Error(`WORKERS must be a number from 1 to 999 or auto, not "${text}"`)
}

const readLogLevel = (text: string): LogLevel => {
  const level = logLevels.find((one) => one === text)
  if (level) return level
  throw new Error(`LOG_LEVEL must be one of ${logLevels.join(', ')}, not "${text}"`)
}

/** Names and meanings are those of OpenTelemetry; its other variables are read by its own program. */
const readSampling = (environment: NodeJS.ProcessEnv): Sampling | null => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = environment
  if (!(all || traces) || environment.OTEL_SDK_DISABLED === 'true') return null
  if (all) readAddress(all, 'OTEL_EXPORTER_OTLP_ENDPOINT')
  if (traces) readAddress(traces, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  const sampler = environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on'
  const [, asCaller, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(sampler) ?? []
  const share = { always_on: 1, always_off: 0, traceidratio: Number(environment.OTEL_TRACES_SAMPLER_ARG || '1') }[
    kind ?? ''
  ]
  if (share === undefined) throw new Error(`OTEL_TRACES_SAMPLER must be one of OpenTelemetry's, not "${sampler}"`)
  if (!(share >= 0 && share <= 1)) throw new Error('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1')
  return { share, asCaller: asCaller !== undefined }
}

const readRateLimits = (environment: NodeJS.ProcessEnv): RateLimits | null => {
  const { RATE_LIMIT: limit = '' } = environment
  if (limit === 'off') return null
  if (limit !== '' && limit !== 'on') throw new Error(`RATE_LIMIT must be on or off, not "${limit}"`)
  const read = (name: string, usual: number): number => {
    const text = environment[name] || String(usual)
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
    throw new Error(`${name} must be a whole number from 1 on, not "${text}"; RATE_LIMIT=off lifts all limits`)
  }
  return {
    token: read('RATE_LIMIT_TOKEN', 1_200),
    tenant: read('RATE_LIMIT_TENANT', 6_000),
    atOnce: read('RATE_LIMIT_AT_ONCE', 50),
    address: read('RATE_LIMIT_ADDRESS', 1_200),
    signIn: read('RATE_LIMIT_SIGN_IN', 120),
    application: read('RATE_LIMIT_APPLICATION', 6_000),
  }
}

const readProxies = (text: string): string[] => {
  const networks = text
    .split(',')
    .map((network) => network.trim())
    .filter(Boolean)
  for (const network of networks) {
    const [address = '', prefix = '0', ...more] = network.split('/')
    const longestPrefix = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > longestPrefix || more.length > 0) {
      throw new Error(`TRUST_PROXY must hold addresses or networks like 10.0.0.1 or 10.0.0.0/8, not "${network}"`)
    }
  }
  return networks
}

const readOutsideIssuer = (issuer: string, environment: NodeJS.ProcessEnv): OutsideIssuerConfig => {
  // An issuer is compared to the letter, a slash at its end included.
  readAddress(issuer, 'AUTH_ISSUER')
  const matchUsersBy = environment.AUTH_MATCH_USERS_BY || 'subject'
  if (matchUsersBy !== 'subject' && matchUsersBy !== 'email') {
    throw new Error(`AUTH_MATCH_USERS_BY must be subject or email, not "${matchUsersBy}"`)
  }
  return {
    issuer,
    audience: environment.AUTH_AUDIENCE || null,
    matchUsersBy,
    claims: {
      client: environment.AUTH_CLIENT_CLAIM || 'client_id',
      scope: environment.AUTH_SCOPE_CLAIM || 'scope',
      tenant: environment.AUTH_TENANT_CLAIM || 'tenant',
      email: environment.AUTH_EMAIL_CLAIM || 'email',
      emailVerified: environment.AUTH_EMAIL_VERIFIED_CLAIM || 'email_verified',
    },
  }
}

const readFlag = (text: string, name: string): boolean => {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new Error(`${name} must be true or false, not "${text}"`)
}

const readSecret = (text: string): string => {
  if (text.length >= 32) return text
  throw new Error('MASTHEAD_SECRET must have at least 32 characters: `openssl rand -base64 32` makes one')
}

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

const readRedisUrl = (text: string): string => {
  if (/^rediss?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  // It is not repeated here, because it may hold a password.
  throw new Error('REDIS_URL must be an address like redis://host:6379 or rediss://user:password@host:6379')
}

const readAddress = (text: string, name: string): string => {
  const url = URL.parse(text)
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && !url.search && !url.hash)
    return text.replace(/\/+$/, '')
  throw new Error(`${name} must be an address like https://api.example.com, not "${text}"`)
}

/** The paths below it are fixed, so it cannot have one of its own. */
const readOrigin = (text: string, name: string): string => {
  const address = readAddress(text, name)
  if (new URL(address).pathname === '/') return address
  throw new Error(`${name} must be an address without a path, like https://api.example.com, not "${text}"`)
}
