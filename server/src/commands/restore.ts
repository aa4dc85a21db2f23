import { Command } from 'commander'
import type { DataDirOption } from '../config.ts'
import { restore } from '../database/backup/restore.ts'
import { action } from './action.ts'
import { embeddedDataDirectory } from './backup.ts'
import { dataDirectoryOption } from './data-directory-option.ts'
import { showLines, showTable, strong } from './output.ts'
import { withProgress } from './progress.ts'

export const restoring = (): Command =>
  action(
    new Command('restore')
      .description('restore a backup of an embedded database into an empty data directory')
      .argument('<file>', 'a file that `masthead backup` wrote')
      .addOption(dataDirectoryOption()),
    (file: string, options: DataDirOption) => {
      const dataDirectory = embeddedDataDirectory(options)
      return withProgress(
        (progress, signal) => restore({ file, dataDirectory, signal, onProgress: progress.showBytes('restore') }),
        { failure: 'the restore failed, and nothing was restored' },
      )
    },
    ({ dataDirectory, startedAt, hasSecret, tenants, records }) => {
      showTable([{ tenants, ...records }], ['tenants', ...Object.keys(records)])
      showLines('', `The backup of ${startedAt} is in ${strong(dataDirectory)}.`)
      if (!hasSecret) showLines('It contains no secret: serve it with the MASTHEAD_SECRET of the original server.')
    },
  )
