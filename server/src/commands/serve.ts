import { createServer } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { threadId } from 'node:worker_threads'
import { basePath } from '@masthead/contract'
import { Command } from 'commander'
import type { Delegation } from '../app.ts'
import { type Config, readConfig, readPort } from '../config.ts'
import { newCounterMemory } from '../counters/memory-counters.ts'
import { connectionLimit, mostConnections } from '../database/connection-limit.ts'
import { connectionsOfEach, type Database } from '../database/database.ts'
import { RevisionPoller } from '../database/revision-poller.ts'
import { type Log, openLog } from '../log/log.ts'
import type { MetricsServer } from '../metrics/metrics-server.ts'
import type { ThreadAnswers } from '../metrics/process-metrics.ts'
import type { InhabitedDemo } from '../transfer/demo/demo.ts'
import type { Served } from '../workers/served-app.ts'
import { dataDirectoryOption } from './options.ts'
import { faint, say, showJson, showLines, strong } from './output.ts'
import { onceItAnswers } from './outside-server.ts'
import { stopSignal, unlessStopped, whenAborted } from './stop-signal.ts'
import { type OpenedDatabase, openConfigured } from './with-database.ts'
import { installationSecret, startWorker } from './work.ts'

type ServeOptions = { port?: string; host?: string; dataDir?: string; demo?: true; work: boolean; json?: true }

export const serve = (): Command =>
  new Command('serve')
    .description('serve the API, the console and the documentation')
    .option('--port <port>', 'the port to listen on (default: PORT, else 8080)')
    .option('--host <host>', 'the address to listen on (default: HOST, else localhost)')
    .addOption(dataDirectoryOption())
    .option('--demo', 'make a tenant with demo data, once, and a token for it')
    .option('--no-work', 'leave deliveries to legacy systems and housekeeping to `masthead work`')
    .option('--json', 'print the addresses as one JSON document once it serves')
    .action((options: ServeOptions) => run(options))

const run = async (options: ServeOptions): Promise<void> => {
  const config = configure(readConfig(), options)
  // From the very start, so that a stop while PostgreSQL starts or the demo is made leaves no PostgreSQL behind.
  const stopping = stopSignal()
  const opened = await openConfigured(config, stopping, () => preload(config)).catch((error) =>
    unlessStopped(stopping, error),
  )
  if (!opened || stopping.aborted) return opened?.close()
  let serving: Serving | undefined
  try {
    const demo = options.demo ? await onceItAnswers(() => makeDemo(opened.database, config), stopping) : null
    const log = openLog({ level: config.logLevel })
    const port = await portOf(config).catch((error) => refuseToListen(error, config))
    const baseUrl = config.baseUrl ?? `http://localhost:${port}`
    const delegation = await delegationOf(config, baseUrl)
    const { host, trustedProxies, rateLimits, redisUrl, workers, sampling } = config
    const counting = { memory: newCounterMemory(workers), redisUrl }
    const measured = config.metrics !== null
    const limits = { trustedProxies, rateLimits, counting }
    const mail = config.mail && { ...config.mail, from: config.mail.from ?? `masthead@${new URL(baseUrl).hostname}` }
    const served: Served = { host, port, baseUrl, delegation, ...limits, mail, measured, sampling }
    const poller = new RevisionPoller(opened.database)
    const started = await onceItAnswers(() => start(config, served, { opened, log, stopping }), stopping).catch(
      (error) => refuseToListen(error, served),
    )
    serving = started
    const metrics = config.metrics && (await startMetrics(config.metrics, opened.database, started, log))
    const worker = options.work ? await startWorker(config, opened, (message) => log.warn(message)) : null
    whenAborted(stopping, async () => {
      await Promise.all([started.stop(), worker?.stop()])
      await poller.stop()
      await metrics?.close()
      await opened.close()
      // Who takes no traces must not keep the process.
      if (sampling) process.exit()
    })
    if (stopping.aborted) return
    const announced = {
      ...{ url: baseUrl, api: baseUrl + basePath, docs: `${baseUrl}/docs` },
      ...(metrics && { metrics: metrics.url }),
    }
    if (options.json) showJson({ ...announced, ...demo, ...(demo && { curl: curlLine(announced, demo) }) })
    else greet(announced, demo)
  } catch (error) {
    await serving?.stop()
    await opened.close()
    unlessStopped(stopping, error)
  }
}

/** While PostgreSQL starts. What fails here does so again where it is needed, and is told there. */
const preload = ({ workers }: Config): void => {
  const loading = workers === 1 ? import('../workers/served-app.ts') : import('../workers/worker-threads.ts')
  loading.catch(() => {})
}

const makeDemo = async (database: Database, { dataDirectory }: Config): Promise<InhabitedDemo> => {
  const { prepareDemo } = await import('../transfer/demo/demo.ts')
  return prepareDemo(database, dataDirectory, say)
}

const configure = (config: Config, { port, host, dataDir }: ServeOptions): Config => ({
  ...config,
  ...(port !== undefined && { port: readPort(port, '--port') }),
  ...(host !== undefined && { host }),
  ...(dataDir !== undefined && { dataDirectory: dataDir }),
})

const delegationOf = async (config: Config, baseUrl: string): Promise<Delegation> => {
  const { outsideIssuer: outside, authUrl } = config
  if (!outside) return { issuer: authUrl ?? baseUrl, secret: await installationSecret(config) }
  return { ...outside, audience: outside.audience === 'none' ? null : (outside.audience ?? baseUrl + basePath) }
}

/**
 * V8 lets the space for new objects grow to two times 64 MiB while a thread is busy, nearly all of it garbage that no cache
 * of the processor holds. It stays as large as the start has made it.
 */
const keepYoungGenerationSmall = (): void => setFlagsFromString('--semi-space-growth-factor=1')

type Serving = { measure: () => Promise<ThreadAnswers>; stop: () => Promise<void> }

/** In this thread when there is one worker; otherwise this one serves nothing and looks after the others. */
const start = async (
  { workers, logLevel }: Config,
  served: Served,
  { opened, log, stopping }: { opened: OpenedDatabase; log: Log; stopping: AbortSignal },
): Promise<Serving> => {
  if (workers === 1) {
    const { serveApp } = await import('../workers/served-app.ts')
    keepYoungGenerationSmall()
    const app = await serveApp(served, { database: opened.database, log, reusePort: false })
    const measure = async () => ({
      answers: [{ thread: threadId, worker: 'main', measured: await app.measure() }],
      failures: 0,
    })
    return { measure, stop: app.close }
  }
  const { WorkerThreads } = await import('../workers/worker-threads.ts')
  const { connection, database } = opened
  const connections = connectionsOfEach(workers)
  const revisions = database.revisions.memory
  await warnOfTooFewConnections(workers, database, log)
  return WorkerThreads.start(workers, { served, connection, connections, revisions, logLevel }, log, stopping)
}

const startMetrics = async (
  where: { host: string; port: number },
  database: Database,
  serving: Serving,
  log: Log,
): Promise<MetricsServer> => {
  const [{ NodeMeasures }, { serveMetrics }] = await Promise.all([
    import('../metrics/process-metrics.ts'),
    import('../metrics/metrics-server.ts'),
  ])
  const measures = new NodeMeasures(database, () => serving.measure())
  const onError = (err: Error) => log.error({ err }, 'the measures could not be told')
  return serveMetrics(where, () => measures.text(), onError).catch((error: NodeJS.ErrnoException) => {
    const { host, port } = where
    throw new Error(
      `cannot serve measures on ${host}, port ${port}: ${error.message}; choose others by METRICS_HOST and METRICS_PORT`,
      { cause: error },
    )
  })
}

const warnOfTooFewConnections = async (workers: number, { query }: Database, log: Log) => {
  const [most, limit] = [mostConnections(workers), await connectionLimit(query)]
  if (most > limit)
    log.warn(
      `WORKERS=${workers} may open ${most} connections, and the database takes ${limit}: raise its max_connections`,
    )
}

/**
 * Links in answers name the port, so it must be known before the service listens. Workers share theirs with whoever
 * listens as they do, another service of the same user too, so it must be free when they come.
 */
const portOf = async ({ port, host, workers }: Config): Promise<number> =>
  port === 0 || workers > 1 ? freePort(host, port) : port

const freePort = (host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(port, host, () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

const refuseToListen = (error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): never => {
  if (error.syscall !== 'listen') throw error
  throw new Error(reasonNotToListen(error, host, port), { cause: error })
}

const reasonNotToListen = ({ code, message }: NodeJS.ErrnoException, host: string, port: number): string => {
  if (code === 'EADDRINUSE') return `port ${port} is in use; choose another with --port`
  if (code === 'ENOTSUP') return 'workers cannot share a port on this system; set WORKERS=1'
  return `cannot listen on ${host}, port ${port}: ${message}; choose others with --host and --port`
}

type Addresses = { url: string; api: string; docs: string; metrics?: string }

const curlLine = ({ api }: Addresses, { token }: InhabitedDemo): string =>
  `curl -H "Authorization: Bearer ${token}" "${api}/contacts?pageSize=3"`

const greet = (addresses: Addresses, demo: InhabitedDemo | null): void => {
  showLines('', `${strong('Masthead')} is serving`, `  Console    ${addresses.url}`)
  if (demo) showLines(`  Sign in    ${demo.email}, password ${demo.password}`)
  showLines(`  API        ${addresses.api}`, `  Docs       ${addresses.docs}`)
  if (addresses.metrics) showLines(`  Measures   ${addresses.metrics}`)
  if (demo) {
    showLines(
      `  Tenant     ${demo.tenant}`,
      `  Token      ${demo.token}`,
      '',
      'Try it:',
      `  ${strong(curlLine(addresses, demo))}`,
    )
  } else {
    showLines('', faint('To begin: masthead tenant create <slug> --name <name>, then masthead token create --help'))
  }
  showLines('', faint('Ctrl-C stops it; the data stays.'))
}
