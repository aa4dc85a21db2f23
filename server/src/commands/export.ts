import { type ExportFormat, exportFormats } from '@masthead/contract'
import { Command, Option } from 'commander'
import { Refusal } from '../refusal.ts'
import { exportRecords } from '../transfer/export/export.ts'
import { action } from './action.ts'
import { showLines, showTable, strong } from './output.ts'
import { type Progress, withProgress } from './progress.ts'
import { withTenant } from './with-database.ts'

type ExportOptions = {
  tenant: string
  to: string
  format: ExportFormat
  gzip?: boolean
  spreadsheet?: boolean
  force?: boolean
}

export const exporting = (): Command =>
  action(
    new Command('export')
      .description('write all records of a tenant to files, one for each resource')
      .requiredOption('--tenant <slug>', 'the tenant')
      .requiredOption('--to <folder>', 'the folder to write to, created when it is missing')
      .addOption(new Option('--format <format>', 'the format of the files').choices(exportFormats).default('csv'))
      .option('--gzip', 'compress the files')
      .option('--spreadsheet', 'keep spreadsheets from treating texts of a CSV file as formulas')
      .option('--force', 'replace the files of an earlier export'),
    async ({ tenant, to, format, gzip = false, spreadsheet = false, force: replace = false }: ExportOptions) => {
      if (spreadsheet && format !== 'csv') {
        throw new Refusal('--spreadsheet is for CSV files; leave it out, or --format')
      }
      const write = (progress: Progress, signal: AbortSignal) => {
        const onProgress = (what: string, lines: number, of: number) => {
          // A record may take several lines.
          const rows = Math.min(lines, of)
          progress.show({ what, done: rows, of, rows })
        }
        return withTenant(tenant, (database) =>
          exportRecords(database, { folder: to, format, gzip, spreadsheet, replace, signal, onProgress }),
        )
      }
      return { tenant, to, files: await withProgress(write, { failure: 'the export failed' }) }
    },
    ({ tenant, to, files }) => {
      showTable(files, ['resource', 'rows', 'file'])
      showLines('', `All records of ${strong(tenant)} are in ${to}.`)
    },
  )
