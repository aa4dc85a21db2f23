import { Command } from 'commander'
import { findTenant } from '../identity/tenants.ts'
import { Refusal } from '../refusal.ts'
import { exportRecords } from '../transfer/export/export.ts'
import type { FileFormat } from '../transfer/files/file-names.ts'
import { choice } from './options.ts'
import { messageOf, showJson, showLines, showTable, strong } from './output.ts'
import { startProgress } from './progress.ts'
import { stopSignal } from './stop-signal.ts'
import { withDatabase } from './with-database.ts'

type ExportOptions = {
  tenant: string
  to: string
  format: FileFormat
  gzip?: true
  spreadsheet?: true
  force?: true
  json?: true
}

export const exporting = (): Command =>
  new Command('export')
    .description('write all records of a tenant to files, one for each resource')
    .requiredOption('--tenant <slug>', 'the tenant')
    .requiredOption('--to <folder>', 'where the files go; made when it is missing')
    .addOption(choice('--format <format>', 'what the files are', ['csv', 'ndjson']).default('csv'))
    .option('--gzip', 'compress them')
    .option('--spreadsheet', 'keep spreadsheets from taking texts of a CSV file for formulas')
    .option('--force', 'replace the files of an earlier export')
    .option('--json', 'answer one JSON document')
    .action(async (options: ExportOptions) => {
      const files = await run(options)
      const { tenant, to } = options
      if (options.json) return showJson({ tenant, to, files })
      showTable(files, ['resource', 'rows', 'file'], '')
      showLines('', `All records of ${strong(tenant)} are in ${to}.`)
    })

const run = async ({ tenant, to, format, gzip, spreadsheet, force }: ExportOptions) => {
  if (spreadsheet && format !== 'csv') throw new Refusal('--spreadsheet is for CSV files; leave it out, or --format')
  const signal = stopSignal()
  const progress = startProgress()
  try {
    return await withDatabase(async (database) => {
      const { id } = await findTenant(database.query, tenant)
      return exportRecords(database.forTenant(id), {
        ...{
          folder: to,
          format,
          signal,
          gzip: gzip ?? false,
          spreadsheet: spreadsheet ?? false,
          replace: force ?? false,
        },
        onProgress: (what, lines, of) => {
          // A record may have lines of its own.
          const rows = Math.min(lines, of)
          progress.show({ what, done: rows, of, rows })
        },
      })
    })
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Error(`the export failed: ${messageOf(error)}`, { cause: error })
  } finally {
    progress.end()
  }
}
