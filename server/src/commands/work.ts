import { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import { ensureSecret } from '../identity/installation-secret.ts'
import { Housekeeping } from '../jobs/housekeeping.ts'
import { openLog } from '../log.ts'
import { faint, showJson, showLines, strong } from './output.ts'
import { stopSignal, unlessStopped, whenAborted } from './stop-signal.ts'
import { type OpenedDatabase, openConfigured } from './with-database.ts'

export const work = (): Command =>
  new Command('work')
    .description('hand deliveries to legacy systems over and keep house, beside servers that run with --no-work')
    .option('--json', 'print one JSON document once it works')
    .action((options: { json?: true }) => run(options))

const run = async (options: { json?: true }): Promise<void> => {
  const config = readConfig()
  const stopping = stopSignal()
  const opened = await openConfigured(config, stopping).catch((error) => unlessStopped(stopping, error))
  if (!opened) return
  try {
    const log = openLog({ level: config.logLevel })
    const worker = await startWorker(config, opened, (message) => log.warn(message))
    whenAborted(stopping, async () => {
      await worker.stop()
      await opened.close()
    })
    if (stopping.aborted) return
    if (options.json) showJson({ working: true })
    else showLines(`${strong('Masthead')} hands deliveries over.`, faint('Ctrl-C stops it.'))
  } catch (error) {
    await opened.close()
    throw error
  }
}

export const startWorker = async (
  config: Config,
  { connection }: OpenedDatabase,
  onError: (message: string) => void,
): Promise<{ stop: () => Promise<void> }> => {
  const secret = () => installationSecret(config)
  // Loaded here, so that the other commands start in less time.
  const { DeliveryWorker } = await import('../deliveries/delivery-worker.ts')
  const deliveries = new DeliveryWorker({ ...connection, secret, allowPrivate: config.legacyAllowPrivate, onError })
  const housekeeping = Housekeeping.start({ ...connection, onError })
  return {
    stop: async () => {
      await Promise.all([deliveries.stop(), housekeeping.stop()])
    },
  }
}

export const installationSecret = async ({ secret, dataDirectory }: Config): Promise<string> =>
  secret ?? (await ensureSecret(dataDirectory))
