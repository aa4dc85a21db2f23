import { Command } from 'commander'
import { type DataDirOption, readConfigWith } from '../config.ts'
import { backUp } from '../database/backup/backup.ts'
import { Refusal } from '../refusal.ts'
import { action } from './action.ts'
import { dataDirectoryOption } from './data-directory-option.ts'
import { faint, say, showLines, strong } from './output.ts'
import { megabytes, withProgress } from './progress.ts'

export const backup = (): Command =>
  action(
    new Command('backup')
      .description('copy the embedded database, while it serves, into one file')
      .argument('<file>', 'the file to write, as in masthead.tar.zst')
      .addOption(dataDirectoryOption()),
    (file: string, options: DataDirOption) => {
      const dataDirectory = embeddedDataDirectory(options)
      return withProgress(
        (progress, signal) => backUp({ dataDirectory, file, signal, say, onProgress: progress.showBytes('backup') }),
        { failure: 'the backup failed' },
      )
    },
    ({ bytes, hasSecret }, file) => {
      showLines(`${strong(file)} holds the database as it is now: ${megabytes(bytes)} MB.`)
      if (hasSecret) showLines(faint('Keep it as safe as the data: it contains the secret of the installation.'))
      else showLines('It does not contain the MASTHEAD_SECRET of the server: keep that too.')
    },
  )

export const embeddedDataDirectory = (option: DataDirOption): string => {
  const { databaseUrl, dataDirectory } = readConfigWith(option)
  if (databaseUrl === null) return dataDirectory
  throw new Refusal(
    'DATABASE_URL names a server of your own: back it up and restore it by its own means; see docs/operating.md',
  )
}
