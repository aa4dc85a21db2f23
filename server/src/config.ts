import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import type { RateLimits } from './http/api/rate-limit.ts'
import { type LogLevel, logLevels } from './log/level.ts'
import type { Sampling } from './traces/tracing.ts'

/**
 * The only reader of the environment. Each comment below is the documentation of its variables, a line for each, under the
 * heading above it: docs/reference/configuration.md is made of them.
 */
export type Config = {
  // Where it serves

  /** `PORT`: the port to listen on. Default: `8080`. */
  port: number
  /** `HOST`: the address to listen on. Default: `localhost`, so that only this machine can connect. */
  host: string
  /** `BASE_URL`: the address under which callers reach the service, which links, problems and tokens name, like `https://api.example.com`. Default: `http://localhost:PORT`. */
  baseUrl: string | null
  /** `WORKERS`: how many threads serve, a number, or `auto` for one per core: see docs/operating.md#workers. Default: `1`. */
  workers: number
  /** `TRUST_PROXY`: addresses or networks of your reverse proxies, separated by commas, as in `10.0.0.1,10.1.0.0/16`: their `X-Forwarded-For` names the caller. Set it behind a proxy, or all callers share the limits of one address. Default: none is believed. */
  trustedProxies: string[]

  // Where the data is

  /** `DATABASE_URL`: a PostgreSQL 15 or newer, as `postgres://user:password@host/database`: see docs/operating.md#the-database. Default: the embedded one. */
  databaseUrl: string | null
  /** `MASTHEAD_DATA_DIR`: where the embedded PostgreSQL keeps its data. Default: `.masthead` in the current folder. */
  dataDirectory: string
  /** `MASTHEAD_SECRET`: 32 or more random characters that encrypt the signing keys and the secrets of legacy systems; the same on every node. Default: made once and kept in the data folder, mode 0600. */
  secret: string | null
  /** `REDIS_URL`: a Redis in which all nodes count requests together, as `redis://host:6379` or `rediss://user:password@host:6379/1`: see docs/operating.md#limits. Default: each node counts its own. */
  redisUrl: string | null

  // Limits

  /**
   * `RATE_LIMIT`: `off` lifts all limits, for trials: see docs/operating.md#limits. Default: `on`.
   * `RATE_LIMIT_TOKEN`: calls a minute of a token, or of all tokens under one consent. Default: `1200`.
   * `RATE_LIMIT_AT_ONCE`: calls of a token that are under way. Default: `50`.
   * `RATE_LIMIT_TENANT`: calls a minute of all tokens of a tenant. Default: `6000`.
   * `RATE_LIMIT_ADDRESS`: requests a minute of one address to the sign-in pages and the OAuth endpoints. Default: `1200`.
   * `RATE_LIMIT_SIGN_IN`: passwords a minute tried from one address, right or wrong, and as many authorizations begun there. Default: `120`.
   * `RATE_LIMIT_APPLICATION`: tokens a minute given to one application for one user. Default: `300`.
   * `RATE_LIMIT_UNKNOWN_TOKENS`: unknown access tokens a minute of one address, after which it is refused tokens that were not in use before. Default: `60`.
   */
  rateLimits: RateLimits | null

  // What it tells

  /** `LOG_LEVEL`: `debug`, `info` (a line for each request), `warn`, `error` or `silent`: see docs/operating.md#log. Default: `info`, on a terminal `warn`. */
  logLevel: LogLevel
  /**
   * `METRICS_PORT`: the port at which metrics are served at `/metrics` for Prometheus: see docs/operating.md#metrics. Default: they are not.
   * `METRICS_HOST`: the address to listen on for that. Default: `localhost`.
   */
  metrics: { host: string; port: number } | null
  /**
   * `OTEL_EXPORTER_OTLP_ENDPOINT`: the collector to which traces are sent by OTLP over HTTP, like `http://localhost:4318`: see docs/operating.md#traces. Default: nothing is traced.
   * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`: the same as the whole address, to which `/v1/traces` is not added. Default: nothing is traced.
   * `OTEL_TRACES_SAMPLER`: which requests are traced: `parentbased_traceidratio` a share of them, `traceidratio` the same whatever callers want, and the others of OpenTelemetry. Default: `parentbased_always_on`.
   * `OTEL_TRACES_SAMPLER_ARG`: the share; `0.05` is one request in twenty. Default: `1`.
   * `OTEL_SDK_DISABLED`: `true` switches traces off. Default: `false`.
   */
  sampling: Sampling | null

  // Legacy systems

  /** `LEGACY_ALLOW_PRIVATE`: `true` lets legacy systems have private and loopback addresses, and plain `http`: see docs/operating.md#legacy-systems. Default: `false`. */
  legacyAllowPrivate: boolean

  // Mail

  /**
   * `SMTP_URL`: the mail server for invitations, as `smtps://user:password@mail.example.com` or `smtp://mail.example.com:587?requireTLS=true`: see docs/operating.md#people. Default: nothing is mailed, and the admin who invites passes the link on.
   * `MAIL_FROM`: the sender of these mails, like `Masthead <masthead@example.com>`. Default: the user `masthead` at the host of `BASE_URL`.
   */
  mail: { smtpUrl: string; from: string | null } | null

  // Who signs users in

  /** `AUTH_URL`: the address of the embedded authorization server. Default: `BASE_URL`. */
  authUrl: string | null
  /** `AUTH_ISSUER`: an identity provider outside, to the letter, whose access tokens are accepted; the embedded authorization server is off then: see docs/operating.md#an-identity-provider-of-your-own. Default: none. */
  outsideIssuer: OutsideIssuerConfig | null
}

export type OutsideIssuerConfig = {
  issuer: string
  /** `AUTH_AUDIENCE`: what `aud` of its access tokens must hold, or `none` for an issuer that sets none, such as Cognito. Default: the address of the API. */
  audience: string | null
  /** `AUTH_MATCH_USERS_BY`: `subject`, as users were given one by `masthead user`, or `email`, which the issuer must have verified. Default: `subject`. */
  matchUsersBy: 'subject' | 'email'
  /**
   * `AUTH_CLIENT_CLAIM`: the claim that names the application. Default: `client_id`.
   * `AUTH_SCOPE_CLAIM`: the claim with the scopes. Default: `scope`.
   * `AUTH_TENANT_CLAIM`: the claim with the slug or id of the tenant; it may be absent when the user has one membership. Default: `tenant`.
   * `AUTH_EMAIL_CLAIM`: the claim with the e-mail address. Default: `email`.
   * `AUTH_EMAIL_VERIFIED_CLAIM`: the claim that says whether it was verified. Default: `email_verified`.
   */
  claims: { client: string; scope: string; tenant: string; email: string; emailVerified: string }
  /** `CONSOLE_CLIENT_ID`: the `client_id` under which the issuer knows the console, a public application with PKCE that sends people back to `BASE_URL/signed-in`. Default: none, and the console is off. */
  consoleClientId: string | null
}

/** Whether `npx`, `npm start` or another of its commands runs this one. */
export const isRunByNpm = (): boolean => process.env.npm_command !== undefined

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
  mail: environment.SMTP_URL
    ? { smtpUrl: readSmtpUrl(environment.SMTP_URL), from: environment.MAIL_FROM || null }
    : null,
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
    application: read('RATE_LIMIT_APPLICATION', 300),
    unknownTokens: read('RATE_LIMIT_UNKNOWN_TOKENS', 60),
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
    consoleClientId: environment.CONSOLE_CLIENT_ID || null,
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

const readSmtpUrl = (text: string): string => {
  const url = URL.parse(text)
  if (url && /^smtps?:$/.test(url.protocol) && url.hostname !== '') return text
  // It is not repeated here, because it may hold a password.
  throw new Error('SMTP_URL must be an address like smtps://user:password@mail.example.com')
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
