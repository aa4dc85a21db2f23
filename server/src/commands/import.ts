import { Command } from 'commander'
import { Refusal } from '../refusal.ts'
import { type ImportSummary, importFiles } from '../transfer/import/import.ts'
import type { FileSummary } from '../transfer/import/journal.ts'
import { readMappings } from '../transfer/import/mapping.ts'
import { listPastImports } from '../transfer/import/past-imports.ts'
import { undoImport } from '../transfer/import/undo.ts'
import { action } from './action.ts'
import { count, faint, say, showLines, showTable, strong } from './output.ts'
import { resumable, withProgress } from './progress.ts'
import { withTenant } from './with-database.ts'

type ImportOptions = {
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

export const importing = (): Command => {
  const command = action(
    new Command('import')
      .description('import records from CSV or NDJSON files; existing records are changed or left alone')
      .enablePositionalOptions()
      .argument(
        '<paths...>',
        'files named after what they hold, like contacts.csv or invoices.ndjson.gz, or a folder of them',
      )
      .option('--tenant <slug>', 'the tenant')
      .option(
        '--map <file>',
        'renames columns and sets constants: {"contacts": {"rename": {"E-Mail": "email"}, "set": {}}}',
      )
      .option('--dry-run', 'only show what would happen')
      .option('--strict', 'import nothing when a row is refused')
      .option('--prune', 'mark contacts and subscriptions that are missing from their files as deleted')
      .option('--force', 'let --prune mark more than 10 %')
      .addHelpText('after', '\nExits with 2 when rows were refused; they are in <file>.rejected.csv, to be corrected.'),
    run,
    show,
    ({ id, files, pruned }, _paths, { prune }) => ({
      id,
      files,
      ...(prune && { pruned: pruned.map(({ resource, missing }) => ({ resource, deleted: missing })) }),
    }),
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
      withProgress((progress, signal) => {
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

const run = async (paths: string[], options: ImportOptions): Promise<ImportSummary> => {
  const { tenant, map, dryRun = false, strict = false, prune = false, force = false } = options
  if (tenant === undefined) throw new Refusal('say whose records they are: --tenant <slug>')
  const mappings = map === undefined ? {} : await readMappings(map)
  const summary = await withProgress(
    (progress, signal) =>
      withTenant(tenant, (database) =>
        importFiles(database, paths, {
          mappings,
          signal,
          dryRun,
          strict,
          prune,
          force,
          onProgress: ({ step, what, done, of, rows }) =>
            progress.show({ what: step === 'reading' ? what : step, done, of: of || null, rows }),
          onLeftOut: (path) => say(`${path} is left out: it is not named after what it holds, like contacts.csv.`),
          onPrune: ({ resource, missing, live }) => {
            progress.end()
            if (!options.json) say(`${missing} of ${live} ${resource} are missing from the file.`)
          },
        }),
      ),
    resumable,
  )
  if (sumOf(summary.files).refused > 0) process.exitCode = exitCodeOfRefusedRows
  return summary
}

const show = (summary: ImportSummary, _paths: string[], { dryRun, tenant }: ImportOptions): void => {
  const { id, files, refusals, rejected, pruned } = summary
  const { refused } = sumOf(files)
  showTable(files, ['file', 'resource', 'created', 'changed', 'unchanged', 'refused'])
  if (refused > 0) {
    showLines('', `${count(refused, 'row')} refused:`)
    showTable(refusals, ['file', 'line', 'column', 'reason'])
    if (refused > refusals.length) showLines(faint(`… and ${refused - refusals.length} more`))
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
