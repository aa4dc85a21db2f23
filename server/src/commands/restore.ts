import { Command } from 'commander'
import type { Config } from '../config.ts'
import { restore } from '../database/backup/restore.ts'
import { Refusal } from '../refusal.ts'
import { embeddedConfig } from './backup.ts'
import { dataDirectoryOption } from './options.ts'
import { messageOf, showJson, showLines, showTable, strong } from './output.ts'
import { megabytes, startProgress } from './progress.ts'
import { stopSignal } from './stop-signal.ts'

type RestoreOptions = { dataDir?: string; json?: true }

export const restoring = (): Command =>
  new Command('restore')
    .description('put a backup of an embedded database into an empty data directory')
    .argument('<file>', 'what `masthead backup` made')
    .addOption(dataDirectoryOption())
    .option('--json', 'answer one JSON document')
    .action(async (file: string, options: RestoreOptions) => {
      const config = embeddedConfig(options)
      const restored = await run(file, config)
      if (options.json) return showJson(restored)
      const { dataDirectory, startedAt, hasSecret, tenants, records } = restored
      showTable([{ tenants, ...records }], ['tenants', ...Object.keys(records)], '')
      showLines('', `The backup of ${startedAt} is in ${strong(dataDirectory)}.`)
      if (!hasSecret)
        showLines('It holds no secret: serve it with the MASTHEAD_SECRET of the server that it was made from.')
    })

const run = async (file: string, { dataDirectory }: Config) => {
  const signal = stopSignal()
  const progress = startProgress()
  const onProgress = (done: number, of: number) =>
    progress.show({ what: 'restore', done, of, rows: megabytes(done), unit: 'MB' })
  try {
    return await restore({ file, dataDirectory, signal, onProgress })
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Error(`the restore failed, and nothing was restored: ${messageOf(error)}`, { cause: error })
  } finally {
    progress.end()
  }
}
