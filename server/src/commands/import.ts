import {
  dateOrders,
  decimalSigns,
  epochUnits,
  importEncodings,
  importEscapes,
  type ResourceName,
  resourceNames,
} from '@masthead/contract'
import { Argument, Command, Option } from 'commander'
import { programName } from '../config.ts'
import { shown } from '../foreign-text.ts'
import { Refusal } from '../refusal.ts'
import type { ImportSummary } from '../transfer/import/import.ts'
import type { FileSummary } from '../transfer/import/journal.ts'
import { listPastImports } from '../transfer/import/past-imports.ts'
import { readMappings } from '../transfer/reading/mapping.ts'
import type { ReadingOptions } from '../transfer/reading/sources.ts'
import { type ImportEvent, runApart } from '../transfer/runs/run-process.ts'
import { action } from './action.ts'
import { count, faint, say, showLines, showTable, strong } from './output.ts'
import { resumable, withProgress } from './progress.ts'
import { withTenant } from './with-database.ts'

/** Commander gives columns as one text, and both spreadsheet flags as one. */
type ReadingFlags = Omit<ReadingOptions, 'columns' | 'isForSpreadsheet' | 'member'> & {
  columns?: string
  spreadsheet?: boolean
}

type SuggestOptions = Pick<ReadingOptions, 'resource' | 'encoding' | 'escapes' | 'sheet'> & { to?: string }

type ImportOptions = ReadingFlags & {
  tenant?: string
  map?: string
  dryRun?: boolean
  strict?: boolean
  prune?: boolean
  force?: boolean
  json?: true
}

/** Tells scripts that the import is done but rows were refused. */
const exitCodeOfRefusedRows = 2
const mostShown = 20

const escapesOption = () =>
  new Option('--escapes <how>', 'what protects special characters in text with separators; noticed').choices(
    importEscapes,
  )

export const importing = (): Command => {
  const command = action(
    new Command('import')
      .description(
        'import records from CSV, Excel (.xlsx), NDJSON or JSON files, or a .zip of them; existing records are changed or left alone',
      )
      .enablePositionalOptions()
      .argument('<paths...>', 'files, or a folder of files named after what they hold, like contacts.csv')
      .option('--tenant <slug>', 'the tenant')
      .option('--map <file>', 'names the fields of columns, and more; `masthead import suggest` writes one to edit')
      .addOption(
        new Option('--resource <name>', 'what the files hold; noticed by name or columns').choices(resourceNames),
      )
      .addOption(new Option('--encoding <name>', 'how their text is encoded; noticed').choices(importEncodings))
      .addOption(escapesOption())
      .option('--sheet <name>', 'the sheet of a workbook; the first one otherwise')
      .option('--columns <names>', 'the names of the columns, separated by commas, for files whose first line is a row')
      .addOption(new Option('--dates <order>', 'what comes first in dates such as 01/02/2026').choices(dateOrders))
      .addOption(
        new Option('--decimal <sign>', 'what precedes decimals in numbers such as 1.234').choices(decimalSigns),
      )
      .option('--time-zone <name>', 'where clocks showed times without a zone, like Europe/Berlin')
      .addOption(new Option('--epoch <unit>', 'what instants count that are numbers since 1970').choices(epochUnits))
      .option('--spreadsheet', 'texts have the marks of an export with --spreadsheet; noticed')
      .option('--no-spreadsheet', 'texts have no such marks')
      .option('--ignore-unknown', 'leave out columns that match no field')
      .option('--dry-run', 'only show what would happen')
      .option('--strict', 'import nothing when a row is refused')
      .option('--prune', 'mark contacts and subscriptions that are missing from their files as deleted')
      .option('--force', 'let --prune mark more than 10 %')
      .addHelpText('after', '\nExits with 2 when rows were refused; they are in <file>.rejected.csv, to be corrected.'),
    run,
    show,
    ({ id, files, groups, pruned }, _paths, { prune }) => ({
      id,
      files,
      refusals: groups,
      ...(prune && { pruned: pruned.map(({ resource, missing }) => ({ resource, deleted: missing })) }),
    }),
  )

  action(
    command
      .command('suggest <file>')
      .description('write a map for a file, to be edited and given to --map')
      .option('--to <map>', 'where to write it; <file>.map.json otherwise')
      .addOption(
        new Option('--resource <name>', 'what the file holds; noticed by name or columns').choices(resourceNames),
      )
      .addOption(new Option('--encoding <name>', 'how its text is encoded; noticed').choices(importEncodings))
      .addOption(escapesOption())
      .option('--sheet <name>', 'the sheet of a workbook; the first one otherwise'),
    async (file: string, { to = `${file}.map.json`, ...reading }: SuggestOptions) => {
      // An import reads files in another process, and should not wait until this one has loaded the readers, too.
      const { suggestMap } = await import('../transfer/import/suggested-map.ts')
      return suggestMap(file, to, reading)
    },
    ({ path, unknown }) => {
      showLines(`The map is in ${strong(path)}.`)
      if (unknown.length > 0)
        showLines(
          `Name the fields of ${unknown.map((heading) => strong(heading)).join(', ')}; null leaves a column out.`,
        )
    },
  )

  action(
    command
      .command('template')
      .description('write a CSV file with the columns of a resource, to be filled in')
      .addArgument(new Argument('<resource>', 'what it is for').choices(resourceNames))
      .option('--to <file>', 'where to write it; <resource>.csv otherwise'),
    async (resource: ResourceName, { to }: { to?: string }) => {
      const { writeImportTemplate } = await import('../transfer/import/template.ts')
      return writeImportTemplate(resource, to)
    },
    ({ path, needed }) =>
      showLines(
        `${strong(path)} has a column for each field. A row needs ${needed.join(', ')}; other columns can be removed.`,
        faint(`Next, once it is filled in: ${programName()} import ${path} --tenant <slug>`),
      ),
  )

  action(
    command
      .command('list')
      .description('show the imports of a tenant, the newest first')
      .requiredOption('--tenant <slug>', 'the tenant'),
    ({ tenant }: { tenant: string }) => withTenant(tenant, listPastImports),
    (imports) =>
      showTable(
        imports.map(({ files, ...past }) => ({ ...past, files: files.length, ...(past.endedAt && sumOf(files)) })),
        ['id', 'startedAt', 'state', 'files', 'created', 'changed', 'refused'],
        'No import yet: masthead import <folder> --tenant <slug>',
      ),
  )

  action(
    command
      .command('undo <id>')
      .description('undo an import, except for records that were changed since; possible for 30 days')
      .requiredOption('--tenant <slug>', 'the tenant'),
    (id: string, { tenant }: { tenant: string }) =>
      withProgress(async (progress, signal) => {
        const { undoImport } = await import('../transfer/import/undo.ts')
        const onProgress = (rows: number) => progress.show({ what: 'undo', done: rows, of: null, rows })
        return withTenant(tenant, (database) => undoImport(database, id, { signal, onProgress }))
      }, resumable),
    ({ removed, restored, keptCount, kept }) => {
      showLines(`${count(removed, 'record')} removed, ${count(restored, 'record')} restored to former values.`)
      if (keptCount === 0) return
      showLines('', `${count(keptCount, 'record')} kept:`)
      showTable(kept.slice(0, mostShown), ['resource', 'name', 'id', 'reason'])
      if (keptCount > mostShown) showLines(faint(`… and ${keptCount - mostShown} more`))
    },
  )

  return command
}

const groupColumns = ['rows', 'column', 'reason', 'lines']

const readingOf = ({ columns, spreadsheet, ...flags }: ImportOptions): ReadingOptions => {
  const { resource, encoding, escapes, sheet, dates, decimal, timeZone, epoch, ignoreUnknown } = flags
  return {
    resource,
    encoding,
    escapes,
    sheet,
    dates,
    decimal,
    timeZone,
    epoch,
    ignoreUnknown,
    columns: columns?.split(',').map((name) => name.trim()),
    isForSpreadsheet: spreadsheet,
  }
}

const run = async (paths: string[], options: ImportOptions): Promise<ImportSummary> => {
  const { tenant, map, dryRun = false, strict = false, prune = false, force = false } = options
  if (tenant === undefined) throw new Refusal('say whose records they are: --tenant <slug>')
  const mappings = map === undefined ? {} : await readMappings(map)
  const importOptions = { mappings, reading: readingOf(options), dryRun, strict, prune, force }
  const summary = await withProgress(
    (progress, cancelled) =>
      withTenant(tenant, ({ connection, tenantId, closing: signal }) =>
        runApart(
          { connection, tenantId, paths, options: importOptions },
          {
            signal,
            cancelled,
            onProgress: ({ step, what, done, of, rows }) =>
              progress.show({ what: step === 'reading' ? what : step, done, of: of || null, rows }),
            onEvent: (event) => {
              progress.end()
              for (const line of linesOf(event, options)) say(line)
            },
          },
        ),
      ),
    resumable,
  )
  if (sumOf(summary.files).refused > 0) process.exitCode = exitCodeOfRefusedRows
  return summary
}

/** A file that is left out is told of always, because nothing else shows it. */
const linesOf = (event: ImportEvent, { json }: ImportOptions): string[] => {
  if ('leftOut' in event)
    return [`${event.leftOut} is left out: it is not named after what it holds, like contacts.csv.`]
  if (json) return []
  if ('understood' in event) return event.understood
  if ('missing' in event) {
    const { resource, missing, live } = event.missing
    return [`${missing} of ${live} ${resource} are missing from the file.`]
  }
  const { field, value, count: rows } = event.unknownStatus
  const times = `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`
  return [`${field}: ${shown(value)} is no known status, ${times}; it goes in as it is.`]
}

const show = (summary: ImportSummary, _paths: string[], { dryRun, tenant }: ImportOptions): void => {
  const { id, files, groups, rejected, pruned } = summary
  const { refused } = sumOf(files)
  showTable(files, ['file', 'resource', 'created', 'changed', 'unchanged', 'refused'])
  if (refused > 0) {
    showLines('', `${count(refused, 'row')} refused:`)
    const rows = groups.map(({ lines, count: rows, file, column, reason, example }) => ({
      file,
      column,
      rows,
      reason: rows === 1 ? example : reason,
      lines: lines.join(', ') + (rows > lines.length ? ', …' : ''),
    }))
    showTable(rows, files.length > 1 ? ['file', ...groupColumns] : groupColumns)
    const grouped = groups.reduce((sum, group) => sum + group.count, 0)
    if (refused > grouped) showLines(faint(`… and ${refused - grouped} more`))
  }
  showLines('')
  for (const path of rejected) showLines(`To be corrected and imported again: ${strong(path)}`)
  if (!dryRun && id === null) {
    showLines(`Nothing was written: --strict, and ${count(refused, 'row')} refused.`)
    return
  }
  for (const { resource, missing } of pruned)
    if (missing > 0) showLines(`${missing} ${resource} ${dryRun ? 'would be ' : ''}marked as deleted.`)
  if (dryRun) showLines('Nothing was written: this was a dry run.')
  else showLines(faint(`To undo it: masthead import undo ${id} --tenant ${tenant}`))
}

const sumOf = (files: readonly FileSummary[]): { created: number; changed: number; refused: number } => ({
  created: files.reduce((sum, { created }) => sum + created, 0),
  changed: files.reduce((sum, { changed }) => sum + changed, 0),
  refused: files.reduce((sum, { refused }) => sum + refused, 0),
})
