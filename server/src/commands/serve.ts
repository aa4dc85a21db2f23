import { createServer } from 'node:net'
import { basePath } from '@masthead/contract'
import { Command } from 'commander'
import type { Delegation } from '../app.ts'
import { type Config, readConfig, readPort } from '../config.ts'
import type { Demo } from '../transfer/demo/demo.ts'
import { faint, say, showJson, showLines, strong } from './output.ts'
import { stopSignal, whenAborted } from './stop-signal.ts'
import { openConfigured } from './with-database.ts'
import { installationSecret, startWorker } from './work.ts'

type ServeOptions = { port?: string; host?: string; dataDir?: string; demo?: true; work: boolean; json?: true }

export const serve = (): Command =>
  new Command('serve')
    .description('serve the API and its reference')
    .option('--port <port>', 'the port to listen on (default: PORT, else 8080)')
    .option('--host <host>', 'the address to listen on (default: HOST, else localhost)')
    .option(
      '--data-dir <folder>',
      'where the embedded PostgreSQL keeps its data (default: MASTHEAD_DATA_DIR, else .masthead)',
    )
    .option('--demo', 'make a tenant with demo data, once, and a token for it')
    .option('--no-work', 'leave deliveries to legacy systems and housekeeping to `masthead work`')
    .option('--json', 'print the addresses as one JSON document once it serves')
    .action((options: ServeOptions) => run(options))

const run = async (options: ServeOptions): Promise<void> => {
  const config = configure(readConfig(), options)
  const { host } = config
  // From the very start, so that a stop while PostgreSQL starts or the demo is made leaves no PostgreSQL behind.
  const stopping = stopSignal()
  const opened = await openConfigured(config)
  if (stopping.aborted) return opened.close()
  try {
    // Loaded here, so that the other commands start in half the time.
    const [{ buildApp }, { prepareDemo }] = await Promise.all([import('../app.ts'), import('../transfer/demo/demo.ts')])
    const demo = options.demo ? await prepareDemo(opened.database, config.dataDirectory, say) : null
    const port = config.port === 0 ? await freePort(host).catch((error) => refuseToListen(error, host, 0)) : config.port
    const baseUrl = config.baseUrl ?? `http://localhost:${port}`
    const delegation = await delegationOf(config, baseUrl)
    const { trustedProxies, rateLimits } = config
    const app = await buildApp({ database: opened.database, baseUrl, delegation, trustedProxies, rateLimits })
    await app.listen({ port, host }).catch((error) => refuseToListen(error, host, port))
    const worker = options.work ? await startWorker(config, opened, (message) => app.log.warn(message)) : null
    whenAborted(stopping, async () => {
      await Promise.all([app.close(), worker?.stop()])
      await opened.close()
    })
    if (stopping.aborted) return
    const announced = { url: baseUrl, api: baseUrl + basePath, docs: `${baseUrl}/docs` }
    if (options.json) showJson({ ...announced, ...demo, ...(demo && { curl: curlLine(announced, demo) }) })
    else greet(announced, demo)
  } catch (error) {
    await opened.close()
    throw error
  }
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

/** Links in answers name the port, so it must be known before the service listens. */
const freePort = (host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, host, () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

const refuseToListen = (error: NodeJS.ErrnoException, host: string, port: number): never => {
  throw new Error(
    error.code === 'EADDRINUSE'
      ? `port ${port} is in use; choose another with --port`
      : `cannot listen on ${host}, port ${port}: ${error.message}; choose others with --host and --port`,
    { cause: error },
  )
}

type Addresses = { url: string; api: string; docs: string }

const curlLine = ({ api }: Addresses, { token }: Demo): string =>
  `curl -H "Authorization: Bearer ${token}" "${api}/contacts?pageSize=3"`

const greet = (addresses: Addresses, demo: Demo | null): void => {
  showLines('', `${strong('Masthead')} is serving`, `  API        ${addresses.api}`, `  Reference  ${addresses.docs}`)
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
