import { Command } from 'commander'
import { type Config, type DataDirOption, readConfigWith, readPort } from '../config.ts'
import { openEmbedded } from '../database/embedded/server.ts'
import { lazily } from '../lazily.ts'
import { dataDirectoryOption } from './data-directory-option.ts'
import { say } from './output.ts'
import { platformNotice } from './platform-notice.ts'
import type { ServingOptions } from './serving.ts'
import { stopSignal, unlessStopped } from './stop-signal.ts'

type ServeOptions = DataDirOption & ServingOptions & { port?: string; host?: string }

export const serve = (): Command =>
  new Command('serve')
    .description('serve the API, the console and the documentation')
    .option('--port <port>', 'the port to listen on (default: PORT, else 8080)')
    .option('--host <host>', 'the address to listen on (default: HOST, else localhost)')
    .addOption(dataDirectoryOption())
    .option('--demo', 'create a tenant with demo data, once, and a token for it')
    .option('--no-work', 'leave webhooks, deliveries to legacy systems and housekeeping to `masthead work`')
    .option('--json', 'print the addresses as one JSON document once it serves')
    .action(run)

const run = async (options: ServeOptions): Promise<void> => {
  const config = configure(readConfigWith(options), options)
  const notice = platformNotice()
  if (notice) say(notice)
  // A stop while PostgreSQL starts or the demo is created must leave no PostgreSQL behind.
  const stopping = stopSignal()
  const load = lazily(() => loadServing(config))
  // What cannot be loaded is reported below.
  const meanwhile = () => void load().catch(() => {})
  const embedded =
    config.databaseUrl === null
      ? await openEmbedded(config.dataDirectory, say, meanwhile).catch((error) => unlessStopped(stopping, error))
      : null
  if (stopping.aborted) return embedded?.close()
  const { startServing } = await load().catch(async (error) => {
    await embedded?.close()
    throw error
  })
  await startServing(embedded, config, options, stopping)
}

const configure = (config: Config, { port, host }: ServeOptions): Config => ({
  ...config,
  ...(port !== undefined && { port: readPort(port, '--port') }),
  ...(host !== undefined && { host }),
})

/** Most modules are loaded while PostgreSQL starts, which needs few of them. */
const loadServing = async ({ workers }: Config) => {
  const [serving] = await Promise.all([
    import('./serving.ts'),
    workers === 1 ? import('../workers/served-app.ts') : import('../workers/worker-threads.ts'),
  ])
  return serving
}
