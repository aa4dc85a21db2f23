import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import type { RateLimits } from './http/api/callers/rate-limit.ts'
import { type LogLevel, logLevels } from './log/level.ts'
import { isService, readServiceSettings } from './systemd/service-settings.ts'
import { stateFolder } from './systemd/unit.ts'
import type { Sampling } from './traces/tracing.ts'

/**
 * Only this module reads the environment. The comments document the variables, one line for each, under the headings
 * above them: docs/reference/configuration.md is generated from them.
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
  /** `TRUST_PROXY`: addresses or networks of your reverse proxies, separated by commas, as in `10.0.0.1,10.1.0.0/16`: their `X-Forwarded-For` names the caller. Set it behind a proxy, or all callers share the limits of one address. Default: none is trusted. */
  trustedProxies: string[]

  // Where the data is

  /** `DATABASE_URL`: a PostgreSQL 15 or newer, as `postgres://user:password@host/database`: see docs/operating.md#the-database. Default: the embedded one. */
  databaseUrl: string | null
  /** `DATABASE_DIRECT_URL`: the same database without the pooler, where `DATABASE_URL` leads to one in transaction mode, such as pgbouncer: see docs/operating.md#poolers. Default: there is none. */
  directDatabaseUrl: string | null
  /** `DATABASE_REPLICA_URLS`: standbys of `DATABASE_URL` that may answer reads, separated by commas: see docs/operating.md#replicas. Default: none. */
  replicaDatabaseUrls: string[]
  /** `MASTHEAD_DATA_DIR`: where the embedded PostgreSQL stores its data. Default: `.masthead` in the current folder. */
  dataDirectory: string
  /** `MASTHEAD_SECRET`: 32 or more random characters that encrypt the signing keys and the secrets of webhooks and legacy systems; the same on every node. Default: generated once and stored in the data folder, mode 0600. */
  secret: string | null
  /** `REDIS_URL`: a Redis in which all nodes count requests together, as `redis://host:6379` or `rediss://user:password@host:6379/1`: see docs/operating.md#limits. Default: each node counts its own. */
  redisUrl: string | null
  /** `CACHE_MAX_AGE_MS`: how old cached responses and permissions may be, in milliseconds: see docs/operating.md#caches. Default: `0`, so that every request asks the database what has changed. */
  cacheMilliseconds: number

  // Limits

  /**
   * `RATE_LIMIT`: `off` lifts all limits, for trials: see docs/operating.md#limits. Default: `on`.
   * `RATE_LIMIT_TOKEN`: calls a minute of a token, or of all tokens under one consent. Default: `1200`.
   * `RATE_LIMIT_AT_ONCE`: calls of a token in flight. Default: `50`.
   * `RATE_LIMIT_TENANT`: calls a minute of all tokens of a tenant. Default: `6000`.
   * `RATE_LIMIT_ADDRESS`: requests a minute of one address to the sign-in pages and the OAuth endpoints. Default: `1200`.
   * `RATE_LIMIT_SIGN_IN`: passwords a minute tried from one address, right or wrong, and as many authorizations begun there. Default: `120`.
   * `RATE_LIMIT_APPLICATION`: tokens a minute given to one application for one user. Default: `300`.
   * `RATE_LIMIT_UNKNOWN_TOKENS`: unknown access tokens a minute of one address, after which it is refused tokens that were not in use before. Default: `60`.
   */
  rateLimits: RateLimits | null

  // Log, metrics and traces

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

  // Webhooks and legacy systems

  /**
   * `ALLOW_PRIVATE_ADDRESSES`: `true` lets webhooks and legacy systems have private and loopback addresses, and plain `http`: see docs/operating.md#webhooks. Default: `false`.
   * `LEGACY_ALLOW_PRIVATE`: the former name of `ALLOW_PRIVATE_ADDRESSES`, which goes on working. Default: `false`.
   */
  allowPrivateAddresses: boolean

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

/** True for `npx`, `npm start` and the other commands of npm. */
export const isRunByNpm = (): boolean => process.env.npm_command !== undefined

/** sudo drops most variables of the environment. */
export const isRunBySudo = (): boolean => process.env.SUDO_USER !== undefined

/** systemd names each run of a unit. */
export const isRunBySystemd = (): boolean => process.env.INVOCATION_ID !== undefined

/** The address under which callers reach the service. */
export const baseUrlOf = ({ baseUrl, port }: Pick<Config, 'baseUrl' | 'port'>): string =>
  baseUrl ?? `http://localhost:${port}`

/** What an operator types to run this program, with variables of the environment as `NAME=value`: sudo keeps those that are given to it. */
export const programName = (isManaged = isService(), variables: readonly string[] = []): string => {
  if (isRunByNpm()) return [...variables, 'npx masthead'].join(' ')
  const sudo = isManaged || isRunBySudo() ? ['sudo'] : []
  return [...sudo, ...variables, 'masthead'].join(' ')
}

/** The program of a service uses the settings of the service, unless its environment or `--data-dir` names another database. */
const ownEnvironment = ({ dataDir }: DataDirOption = {}): NodeJS.ProcessEnv => {
  const { DATABASE_URL, MASTHEAD_DATA_DIR } = process.env
  if (!DATABASE_URL && !MASTHEAD_DATA_DIR && resolve(dataDir ?? stateFolder) === stateFolder && isService()) {
    // Threads, child processes and OpenTelemetry read the environment, too.
    for (const [name, value] of Object.entries(readServiceSettings())) process.env[name] ??= value
  }
  return dataDir === undefined ? process.env : { ...process.env, MASTHEAD_DATA_DIR: dataDir }
}

export type DataDirOption = { dataDir?: string }

/** The configuration of a command with `--data-dir`, which counts more than MASTHEAD_DATA_DIR. */
export const readConfigWith = (option: DataDirOption): Config => readConfig(ownEnvironment(option))

export const defaultPort = 8_080

type Read<T> = (text: string, name: string) => T

export const readConfig = (environment: NodeJS.ProcessEnv = ownEnvironment()): Config => {
  const optional = <T>(name: string, read: Read<T>): T | null => {
    const text = environment[name]
    return text ? read(text, name) : null
  }
  const text = (name: string): string | null => environment[name] || null
  return {
    port: optional('PORT', readPort) ?? defaultPort,
    host: text('HOST') ?? 'localhost',
    workers: optional('WORKERS', readWorkers) ?? 1,
    baseUrl: optional('BASE_URL', readOrigin),
    databaseUrl: optional('DATABASE_URL', readDatabaseUrl),
    directDatabaseUrl: optional('DATABASE_DIRECT_URL', readDatabaseUrl),
    replicaDatabaseUrls: optional('DATABASE_REPLICA_URLS', readDatabaseUrls) ?? [],
    dataDirectory: text('MASTHEAD_DATA_DIR') ?? '.masthead',
    trustedProxies: optional('TRUST_PROXY', readProxies) ?? [],
    logLevel: optional('LOG_LEVEL', oneOf(logLevels)) ?? (process.stderr.isTTY ? 'warn' : 'info'),
    metrics: optional('METRICS_PORT', (port, name) => ({
      host: text('METRICS_HOST') ?? 'localhost',
      port: readPort(port, name),
    })),
    sampling: readSampling(environment),
    rateLimits: readRateLimits(environment),
    redisUrl: optional('REDIS_URL', readRedisUrl),
    cacheMilliseconds: optional('CACHE_MAX_AGE_MS', readMilliseconds) ?? 0,
    secret: optional('MASTHEAD_SECRET', readSecret),
    allowPrivateAddresses:
      (optional('ALLOW_PRIVATE_ADDRESSES', oneOf(['true', 'false'])) ??
        optional('LEGACY_ALLOW_PRIVATE', oneOf(['true', 'false']))) === 'true',
    mail: optional('SMTP_URL', (url, name) => ({ smtpUrl: readSmtpUrl(url, name), from: text('MAIL_FROM') })),
    authUrl: optional('AUTH_URL', readOrigin),
    outsideIssuer: optional('AUTH_ISSUER', (issuer, name) => {
      // An issuer is compared exactly, including a slash at its end.
      readAddress(issuer, name)
      return {
        issuer,
        audience: text('AUTH_AUDIENCE'),
        matchUsersBy: optional('AUTH_MATCH_USERS_BY', oneOf(['subject', 'email'])) ?? 'subject',
        claims: {
          client: text('AUTH_CLIENT_CLAIM') ?? 'client_id',
          scope: text('AUTH_SCOPE_CLAIM') ?? 'scope',
          tenant: text('AUTH_TENANT_CLAIM') ?? 'tenant',
          email: text('AUTH_EMAIL_CLAIM') ?? 'email',
          emailVerified: text('AUTH_EMAIL_VERIFIED_CLAIM') ?? 'email_verified',
        },
        consoleClientId: text('CONSOLE_CLIENT_ID'),
      }
    }),
  }
}

/**
 * Returns the message for every invalid variable, which each message begins with, the configuration without these, the names of all
 * variables that were looked for, and those that begin as ours do and are none of them.
 */
export const examineConfig = (
  option: DataDirOption,
): { config: Config; mistakes: Record<string, string>; known: string[]; unknown: string[] } => {
  const environment = ownEnvironment(option)
  const mistakes: Record<string, string> = {}
  const known = new Set<string>()
  const rest = { ...environment }
  const noting = new Proxy(rest, {
    get: (variables, name: string) => {
      known.add(name)
      return variables[name]
    },
  })
  for (;;) {
    try {
      const config = readConfig(noting)
      const unknown = Object.keys(environment).filter((name) => /^MASTHEAD_/i.test(name) && !known.has(name))
      return { config, mistakes, known: [...known], unknown }
    } catch (error) {
      const { message } = error as Error // the readers below throw no others
      const [name = ''] = /^[A-Z_]+/.exec(message) ?? []
      if (rest[name] === undefined) throw error
      mistakes[name] = message
      delete rest[name]
    }
  }
}

const oneOf =
  <T extends string>(values: readonly T[]): Read<T> =>
  (text, name) => {
    const value = values.find((one) => one === text)
    if (value) return value
    const choice = values.length === 2 ? values.join(' or ') : `one of ${values.join(', ')}`
    throw new Error(`${name} must be ${choice}, not "${text}"`)
  }

const readWorkers: Read<number> = (text, name) => {
  if (text === 'auto') return availableParallelism()
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text)
  throw new Error(`${name} must be a number from 1 to 999 or auto, not "${text}"`)
}

const readMilliseconds: Read<number> = (text, name) => {
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new Error(`${name} must be a number of milliseconds from 0 to 99999, not "${text}"`)
}

/** Names and meanings are those of OpenTelemetry, whose SDK reads the other variables. */
const readSampling = (environment: NodeJS.ProcessEnv): Sampling | null => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = environment
  if (!(all || traces) || environment.OTEL_SDK_DISABLED === 'true') return null
  if (all) readAddress(all, 'OTEL_EXPORTER_OTLP_ENDPOINT')
  if (traces) readAddress(traces, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  const sampler = environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on'
  const [, asCaller, kind = ''] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(sampler) ?? []
  const ratio = Number(environment.OTEL_TRACES_SAMPLER_ARG || '1')
  const share = { always_on: 1, always_off: 0, traceidratio: ratio }[kind]
  if (share === undefined) throw new Error(`OTEL_TRACES_SAMPLER must be one of OpenTelemetry's, not "${sampler}"`)
  if (!(share >= 0 && share <= 1)) throw new Error('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1')
  return { share, asCaller: asCaller !== undefined }
}

const readRateLimits = (environment: NodeJS.ProcessEnv): RateLimits | null => {
  if (oneOf(['on', 'off'])(environment.RATE_LIMIT || 'on', 'RATE_LIMIT') === 'off') return null
  const read = (name: string, usual: number): number => {
    const text = environment[name] || String(usual)
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
    throw new Error(`${name} must be a whole number from 1 on, not "${text}"; set RATE_LIMIT=off to lift all limits`)
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

const readProxies: Read<string[]> = (text, name) => {
  const networks = text.split(',').map((network) => network.trim())
  return networks.filter(Boolean).map((network) => {
    const [address = '', prefix = '0', ...more] = network.split('/')
    const longestPrefix = { 4: 32, 6: 128 }[isIP(address)] ?? -1
    if (/^\d{1,3}$/.test(prefix) && Number(prefix) <= longestPrefix && more.length === 0) return network
    throw new Error(`${name} must hold addresses or networks like 10.0.0.1 or 10.0.0.0/8, not "${network}"`)
  })
}

const readSecret: Read<string> = (text, name) => {
  if (text.length >= 32) return text
  throw new Error(`${name} must have at least 32 characters: \`openssl rand -base64 32\` makes one`)
}

export const readPort: Read<number> = (text, name) => {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new Error(`${name} must be a port number from 0 to 65535, not "${text}"`)
}

/** The message does not repeat the address, which may contain a password. */
const secretAddress =
  (isValid: (text: string) => boolean, example: string): Read<string> =>
  (text, name) => {
    if (isValid(text)) return text
    throw new Error(`${name} must be an address like ${example}`)
  }

const readPostgresAddress = secretAddress(
  (text) => /^postgres(ql)?:\/\//.test(text),
  'postgres://user:password@host/database',
)
/** A password with a `/`, `?` or `#` ends the part of the address that it stands in, and the rest is taken for something else. */
const readDatabaseUrl: Read<string> = (text, name) => {
  const address = readPostgresAddress(text, name)
  const [, authority = '', path = ''] = /^\w+:\/\/([^/?#]*)([^?]*)/.exec(address) ?? []
  const isCutOff = !authority.includes('@') && (/:.*\D/.test(authority.replace(/^\[.*\]/, '')) || path.includes('@'))
  if (!isCutOff && !/%(?![\da-f]{2})/i.test(authority)) return address
  throw new Error(`${name} holds a password or a user with a character that must be percent-encoded: write ${encoded}`)
}
const encoded = ['%', '/', '?', '#'].map((one) => `${encodeURIComponent(one)} for ${one}`).join(', ')
const readDatabaseUrls: Read<string[]> = (text, name) => text.split(',').map((url) => readDatabaseUrl(url.trim(), name))
const readRedisUrl = secretAddress(
  (text) => /^rediss?:$/.test(URL.parse(text)?.protocol ?? ''),
  'redis://host:6379 or rediss://user:password@host:6379',
)
const readSmtpUrl = secretAddress((text) => {
  const { protocol = '', hostname = '' } = URL.parse(text) ?? {}
  return /^smtps?:$/.test(protocol) && hostname !== ''
}, 'smtps://user:password@mail.example.com')

const readAddress: Read<string> = (text, name) => {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash) return text.replace(/\/+$/, '')
  throw new Error(`${name} must be an address like https://api.example.com, not "${text}"`)
}

/** The paths below the address are fixed, so it has none of its own. */
const readOrigin: Read<string> = (text, name) => {
  const address = readAddress(text, name)
  if (new URL(address).pathname === '/') return address
  throw new Error(`${name} must be an address without a path, like https://api.example.com, not "${text}"`)
}
