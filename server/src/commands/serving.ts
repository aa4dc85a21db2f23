import { resolve } from 'node:path'
import { threadId } from 'node:worker_threads'
import { basePath } from '@masthead/contract'
import type { Delegation } from '../app.ts'
import { baseUrlOf, type Config, defaultPort, isRunBySudo, isRunBySystemd, programName } from '../config.ts'
import { newCounterMemory } from '../counters/memory-counters.ts'
import { connectionLimit, mostConnections } from '../database/connections/connection-limit.ts'
import { connectionsOfEach, type Database } from '../database/database.ts'
import type { EmbeddedServer } from '../database/embedded/server.ts'
import { tenants } from '../doctor/queries.ts'
import { freePort } from '../free-port.ts'
import { findInstallationSecret, installationSecret } from '../identity/tokens/installation-secret.ts'
import { type Log, openLog } from '../log/log.ts'
import type { ThreadReports } from '../metrics/process-metrics.ts'
import { isService } from '../systemd/service-settings.ts'
import { stateFolder } from '../systemd/unit.ts'
import type { InhabitedDemo } from '../transfer/demo/demo.ts'
import { boundHeap, boundOldSpace } from '../workers/heap-bounds.ts'
import type { Served } from '../workers/served-app.ts'
import { curlLine, faint, say, shellWord, showJson, showLines, strong } from './output.ts'
import { unlessStopped, whenAborted } from './stop-signal.ts'
import { type OpenedDatabase, openOn, retryWhileUnavailable } from './with-database.ts'
import { startWorker } from './work.ts'

export type ServingOptions = { demo?: true; work: boolean; json?: true }

/** Returns once it serves. The embedded server is closed when it is asked to stop, and where it cannot serve. */
export const startServing = async (
  embedded: EmbeddedServer | null,
  config: Config,
  options: ServingOptions,
  stopping: AbortSignal,
): Promise<void> => {
  const opened = await openOn(embedded, config, stopping).catch((error) => unlessStopped(stopping, error))
  if (!opened || stopping.aborted) return opened?.close()
  const { database } = opened
  let serving: Serving | undefined
  try {
    const demo = options.demo ? await retryWhileUnavailable(() => createDemo(database, config), stopping) : null
    const log = openLog({ level: config.logLevel })
    const served = await servedOf(config)
    const { baseUrl } = served
    const started = await retryWhileUnavailable(() => start(config, served, opened, log, stopping), stopping).catch(
      (error) => refuseToListen(error, served),
    )
    serving = started
    const metrics = config.metrics && (await startMetrics(config.metrics, database, started, log))
    const worker = options.work ? await startWorker(config, opened, (message) => log.warn(message)) : null
    const liftBound = config.workers === 1 ? boundHeap() : boundOldSpace()
    whenAborted(stopping, async () => {
      // What Node writes to the compile cache at the end must be good for the next start.
      liftBound()
      await Promise.all([started.stop(), worker?.stop()])
      await metrics?.close()
      await opened.close()
      // A collector that does not accept traces must not keep the process alive.
      if (config.sampling) process.exit()
    })
    if (stopping.aborted) return
    const addresses = {
      url: baseUrl,
      api: baseUrl + basePath,
      docs: `${baseUrl}/docs`,
      ...(metrics && { metrics: metrics.url }),
    }
    if (options.json) showJson({ ...addresses, ...demo, ...(demo && { curl: curlLine(addresses.api, demo.token) }) })
    else greet(addresses, demo, (await isEmpty(database)) ? firstSteps({ ...config, port: served.port }) : [])
  } catch (error) {
    await serving?.stop()
    await opened.close()
    unlessStopped(stopping, error)
  }
}

const createDemo = async (database: Database, { dataDirectory }: Config): Promise<InhabitedDemo> => {
  const { prepareDemo } = await import('../transfer/demo/demo.ts')
  return prepareDemo(database, dataDirectory, say)
}

const servedOf = async (config: Config): Promise<Served> => {
  const { host, trustedProxies, rateLimits, redisUrl, cacheMilliseconds, workers, sampling } = config
  // Links in responses contain the port, so it must be known first. Workers would share a port that is taken with the
  // server that has it, another service of the same user too, so it must be free.
  const mustProbe = config.port === 0 || workers > 1
  const port = mustProbe
    ? await freePort(host, config.port).catch((error) => refuseToListen(error, config))
    : config.port
  const baseUrl = baseUrlOf({ ...config, port })
  return {
    host,
    port,
    baseUrl,
    delegation: await delegationOf(config, baseUrl),
    trustedProxies,
    rateLimits,
    cacheMilliseconds,
    counting: { memory: newCounterMemory(workers), redisUrl },
    mail: config.mail && { ...config.mail, from: config.mail.from ?? `masthead@${new URL(baseUrl).hostname}` },
    webhooks: { secret: await findInstallationSecret(config), allowPrivate: config.allowPrivateAddresses },
    hasMetrics: config.metrics !== null,
    sampling,
  }
}

const delegationOf = async (config: Config, baseUrl: string): Promise<Delegation> => {
  const { outsideIssuer: outside, authUrl } = config
  if (!outside) return { issuer: authUrl ?? baseUrl, secret: await installationSecret(config) }
  return { ...outside, audience: outside.audience === 'none' ? null : (outside.audience ?? baseUrl + basePath) }
}

type Serving = { collectMetrics: () => Promise<ThreadReports>; stop: () => Promise<void> }

/** Serves in this thread when there is one worker; otherwise this thread only supervises the others. */
const start = async (
  { workers, logLevel }: Config,
  served: Served,
  { connection, database }: OpenedDatabase,
  log: Log,
  stopping: AbortSignal,
): Promise<Serving> => {
  if (workers === 1) {
    const { serveApp } = await import('../workers/served-app.ts')
    const app = await serveApp(served, { database, log, reusePort: false })
    const collectMetrics = async () => ({
      reports: [{ thread: threadId, worker: 'main', snapshot: await app.collectMetrics() }],
      failures: 0,
    })
    return { collectMetrics, stop: app.close }
  }
  const { startWorkerThreads } = await import('../workers/worker-threads.ts')
  const connections = connectionsOfEach(workers)
  const [most, limit] = [mostConnections(workers), await connectionLimit(database.query)]
  if (most > limit)
    log.warn(
      `WORKERS=${workers} may open ${most} connections, and the database takes ${limit}: raise its max_connections`,
    )
  return startWorkerThreads(workers, { served, connection, connections, logLevel }, log, stopping)
}

const startMetrics = async (
  address: { host: string; port: number },
  database: Database,
  serving: Serving,
  log: Log,
) => {
  const [{ ProcessMetrics }, { serveMetrics }] = await Promise.all([
    import('../metrics/process-metrics.ts'),
    import('../metrics/metrics-server.ts'),
  ])
  const metrics = new ProcessMetrics(database, () => serving.collectMetrics())
  const onError = (err: Error) => log.error({ err }, 'metrics could not be collected')
  return serveMetrics(address, () => metrics.text(), onError).catch((error: NodeJS.ErrnoException) => {
    const { host, port } = address
    throw new Error(
      `cannot serve metrics on ${host}, port ${port}: ${error.message}; choose others by METRICS_HOST and METRICS_PORT`,
      { cause: error },
    )
  })
}

const refuseToListen = (error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): never => {
  if (error.syscall !== 'listen') throw error
  const message =
    {
      EADDRINUSE: `port ${port} is in use; choose another with --port`,
      ENOTSUP: 'workers cannot share a port on this system; set WORKERS=1',
    }[error.code ?? ''] ??
    `cannot listen on ${host}, port ${port}: ${error.message}; choose others with --host and --port`
  throw new Error(message, { cause: error })
}

type Addresses = { url: string; api: string; docs: string; metrics?: string }

/** Where it cannot be told, nobody needs to be told how to begin. */
const isEmpty = ({ query }: Database): Promise<boolean> =>
  tenants(query).then(
    ({ count }) => count === 0,
    () => false,
  )

/** The way to a first tenant, admin, import and call, as commands for another terminal. They hold no secret: this may go to a log. */
const firstSteps = ({ databaseUrl, dataDirectory, baseUrl, port, secret, outsideIssuer }: Config): string[] => {
  // Commands of root use the settings of the service, whose unit lets it write to one folder only.
  const isManaged = isService() && (databaseUrl === null ? resolve(dataDirectory) === stateFolder : isRunBySystemd())
  const variables = {
    ...(databaseUrl === null && { MASTHEAD_DATA_DIR: resolve(dataDirectory) }),
    ...(port !== defaultPort && { PORT: String(port) }),
    ...(baseUrl !== null && { BASE_URL: baseUrl }),
  }
  const assignments = isManaged ? [] : Object.entries(variables).map(([name, value]) => `${name}=${shellWord(value)}`)
  // What is exported does not pass sudo.
  const isExported = assignments.length > 0 && !isRunBySudo()
  const masthead = programName(isManaged, isExported ? [] : assignments)
  const kept = [...(databaseUrl === null ? [] : ['DATABASE_URL']), ...(secret === null ? [] : ['MASTHEAD_SECRET'])]
  const user = outsideIssuer
    ? `${masthead} user create --help`
    : `${masthead} user invite --tenant acme --email you@example.com --role admin`
  return [
    `No tenant yet. In another terminal${!isManaged && kept.length > 0 ? `, with the same ${kept.join(' and ')}` : ''}:`,
    ...(isExported ? [`  ${strong(`export ${assignments.join(' ')}`)}`] : []),
    `  ${strong(`${masthead} tenant create acme --name "Acme Press"`)}`,
    `  ${strong(user)}`,
    `  ${strong(`${masthead} import template accounts`)}`,
    `  ${strong(`${masthead} import accounts.csv --tenant acme`)}`,
    `  ${strong(`${masthead} token create --tenant acme --service trial --scopes accounts:read`)}`,
  ]
}

const greet = (addresses: Addresses, demo: InhabitedDemo | null, steps: readonly string[]): void => {
  showLines('', `${strong('Masthead')} is serving`, `  Console    ${addresses.url}`)
  if (demo) showLines(`  Sign in    ${demo.email}, password ${demo.password}`)
  showLines(`  API        ${addresses.api}`, `  Docs       ${addresses.docs}`)
  if (addresses.metrics) showLines(`  Metrics    ${addresses.metrics}`)
  if (demo) {
    const curl = strong(curlLine(addresses.api, demo.token))
    showLines(`  Tenant     ${demo.tenant}`, `  Token      ${demo.token}`, '', 'Try it:', `  ${curl}`)
  } else if (steps.length > 0) {
    showLines('', ...steps)
  }
  showLines('', faint('Press Ctrl-C to stop; the data stays.'))
}
