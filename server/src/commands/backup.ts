import { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import { backUp } from '../database/backup/backup.ts'
import { Refusal } from '../refusal.ts'
import { dataDirectoryOption } from './options.ts'
import { faint, messageOf, say, showJson, showLines, strong } from './output.ts'
import { megabytes, startProgress } from './progress.ts'
import { stopSignal } from './stop-signal.ts'

type BackupOptions = { dataDir?: string; json?: true }

export const backup = (): Command =>
  new Command('backup')
    .description('copy the embedded database, while it serves, into one file')
    .argument('<file>', 'where to, as in masthead.tar.zst')
    .addOption(dataDirectoryOption())
    .option('--json', 'answer one JSON document')
    .action(async (file: string, options: BackupOptions) => {
      const config = embeddedConfig(options)
      const made = await run(file, config)
      if (options.json) return showJson(made)
      showLines(`${strong(file)} holds the database as it is now: ${megabytes(made.bytes)} MB.`)
      if (made.hasSecret) showLines(faint('Keep it as safe as the data: it holds the secret of the installation too.'))
      else showLines('It holds no secret: if the server is given a MASTHEAD_SECRET, keep that too.')
    })

/** For what only an embedded database has. */
export const embeddedConfig = ({ dataDir }: { dataDir?: string }): Config => {
  const config = readConfig()
  if (config.databaseUrl === null) return { ...config, dataDirectory: dataDir ?? config.dataDirectory }
  throw new Refusal(
    'DATABASE_URL names a server of your own: back it up and restore it by its own means; docs/operating.md says how',
  )
}

const run = async (file: string, { dataDirectory }: Config) => {
  const signal = stopSignal()
  const progress = startProgress()
  const onProgress = (done: number, of: number) =>
    progress.show({ what: 'backup', done, of, rows: megabytes(done), unit: 'MB' })
  try {
    return await backUp({ dataDirectory, file, signal, say, onProgress })
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Error(`the backup failed: ${messageOf(error)}`, { cause: error })
  } finally {
    progress.end()
  }
}
