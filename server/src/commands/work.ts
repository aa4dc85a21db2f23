import { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import { installationSecret } from '../identity/tokens/installation-secret.ts'
import { startHousekeeping } from '../jobs/housekeeping.ts'
import { openLog } from '../log/log.ts'
import { faint, showJson, showLines, strong } from './output.ts'
import { stopSignal, unlessStopped, whenAborted } from './stop-signal.ts'
import { type OpenedDatabase, openConfigured } from './with-database.ts'

export const work = (): Command =>
  new Command('work')
    .description(
      'send webhooks and deliveries to legacy systems and do housekeeping, beside servers that run with --no-work',
    )
    .option('--json', 'print one JSON document once it runs')
    .action(run)

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
    else showLines(`${strong('Masthead')} sends deliveries.`, faint('Press Ctrl-C to stop.'))
  } catch (error) {
    await opened.close()
    throw error
  }
}

export const startWorker = async (
  config: Config,
  { connection }: OpenedDatabase,
  onError: (message: string) => void,
): Promise<{ stop: () => Promise<unknown> }> => {
  const secret = () => installationSecret(config)
  // Only `serve` and `work` need it, and only once they run.
  const { DeliveryWorker } = await import('../webhooks/delivery-worker.ts')
  const deliveries = new DeliveryWorker({ connection, secret, allowPrivate: config.allowPrivateAddresses, onError })
  const housekeeping = startHousekeeping({ connection, onError })
  return { stop: () => Promise.all([deliveries.stop(), housekeeping.stop()]) }
}
