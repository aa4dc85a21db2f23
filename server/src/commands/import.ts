import { Command } from 'commander'
import type { TenantDatabase } from '../database/database.ts'
import { findTenant } from '../identity/tenants.ts'
import { Refusal } from '../refusal.ts'
import { type ImportOptions, type ImportSummary, importFiles, type Refused } from '../transfer/import/import.ts'
import type { FileSummary } from '../transfer/import/journal.ts'
import { readMappings } from '../transfer/import/mapping.ts'
import { listPastImports } from '../transfer/import/past-imports.ts'
import type { Missing } from '../transfer/import/prune.ts'
import { undoImport } from '../transfer/import/undo.ts'
import { faint, say, showJson, showLines, showTable, strong } from './output.ts'
import { startProgress } from './progress.ts'
import { stopSignal } from './stop-signal.ts'
import { withDatabase } from './with-database.ts'

type Given = { tenant?: string; map?: string; dryRun?: true; strict?: true; prune?: true; force?: true; json?: true }

/** Told to scripts when the import is done but rows were refused. */
const exitCodeOfRefusedRows = 2

export const importing = (): Command => {
  const command = new Command('import')
    .description('bring records in from CSV or NDJSON files; what is there already is changed or left alone')
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
    .option('--strict', 'bring in nothing when a row is refused')
    .option('--prune', 'mark contacts and subscriptions that are missing from their files as deleted')
    .option('--force', 'let --prune mark more than 10 %')
    .option('--json', 'answer one JSON document')
    .addHelpText('after', '\nEnds with 2 when rows were refused; they lie in <file>.rejected.csv, ready to be mended.')
    .action(async (paths: string[], given: Given) => {
      const summary = await run(paths, given)
      const refused = summary.files.reduce((sum, file) => sum + file.refused, 0)
      if (refused > 0) process.exitCode = exitCodeOfRefusedRows
      if (given.json) return showJson(forScripts(summary, given))
      showFiles(summary.files)
      showRefusals(summary.refusals, refused)
      showOutcome(summary, refused, given)
    })

  command
    .command('list')
    .description('show the imports of a tenant, the newest first')
    .requiredOption('--tenant <slug>', 'the tenant')
    .option('--json', 'answer one JSON document')
    .action(async ({ tenant, json }: { tenant: string; json?: true }) => {
      const imports = await ofTenant(tenant, listPastImports)
      if (json) return showJson(imports)
      const columns = ['id', 'startedAt', 'state', 'files', 'created', 'changed', 'refused']
      showTable(
        imports.map(({ files, ...past }) => ({ ...past, files: files.length, ...(past.endedAt && sumOf(files)) })),
        columns,
        'No import yet: masthead import <folder> --tenant <slug>',
      )
    })

  command
    .command('undo <id>')
    .description('take back an import, where nothing changed since; possible for 30 days')
    .requiredOption('--tenant <slug>', 'the tenant')
    .option('--json', 'answer one JSON document')
    .action(async (id: string, { tenant, json }: { tenant: string; json?: true }) => {
      const progress = startProgress()
      const signal = stopSignal()
      const onProgress = (rows: number) => progress.show({ what: 'undo', done: rows, of: null, rows })
      const undone = await ofTenant(tenant, (database) => undoImport(database, id, { signal, onProgress }))
        .catch((error) => {
          throw signal.aborted ? new Refusal('interrupted; the same command completes it', { cause: error }) : error
        })
        .finally(progress.end)
      if (json) return showJson(undone)
      const { removed, restored, keptCount, kept } = undone
      showLines(`${count(removed, 'record')} removed, ${count(restored, 'record')} restored to former values.`)
      if (keptCount === 0) return
      showLines('', `${count(keptCount, 'record')} kept:`)
      showTable(kept.slice(0, mostShown), ['resource', 'name', 'id', 'reason'], '')
      if (keptCount > mostShown) showLines(faint(`… and ${keptCount - mostShown} more`))
    })

  return command
}

const mostShown = 20

const ofTenant = <T>(slug: string, work: (tenant: TenantDatabase) => Promise<T>): Promise<T> =>
  withDatabase(async (database) => work(database.forTenant((await findTenant(database.query, slug)).id)))

const run = async (paths: string[], given: Given): Promise<ImportSummary> => {
  if (given.tenant === undefined) throw new Refusal('say whose records they are: --tenant <slug>')
  const mappings = given.map === undefined ? {} : await readMappings(given.map)
  const progress = startProgress()
  const options: ImportOptions = {
    ...{ mappings, signal: stopSignal() },
    ...{ dryRun: given.dryRun ?? false, strict: given.strict ?? false },
    ...{ prune: given.prune ?? false, force: given.force ?? false },
    onProgress: ({ step, what, done, of, rows }) =>
      progress.show({ what: step === 'reading' ? what : step, done, of: of || null, rows }),
    onLeftOut: (path) => say(`${path} is left out: it is not named after what it holds, like contacts.csv.`),
    onPrune: (missing) => {
      progress.end()
      if (!given.json) say(`${missingText(missing)}.`)
    },
  }
  try {
    return await ofTenant(given.tenant, (tenant) => importFiles(tenant, paths, options))
  } catch (error) {
    if (!options.signal?.aborted) throw error
    throw new Refusal('interrupted; the same command completes it', { cause: error })
  } finally {
    progress.end()
  }
}

const missingText = ({ resource, missing, live }: Missing): string =>
  `${missing} of ${live} ${resource} are missing from the file`

const forScripts = ({ id, files, pruned }: ImportSummary, { prune }: Given) => ({
  id,
  files,
  ...(prune && { pruned: pruned.map(({ resource, missing }) => ({ resource, deleted: missing })) }),
})

const showFiles = (files: readonly FileSummary[]): void =>
  showTable(files, ['file', 'resource', 'created', 'changed', 'unchanged', 'refused'], '')

const showRefusals = (refusals: readonly Refused[], refused: number): void => {
  if (refused === 0) return
  showLines('', `${count(refused, 'row')} refused:`)
  showTable(refusals, ['file', 'line', 'column', 'reason'], '')
  if (refused > refusals.length) showLines(faint(`… and ${refused - refusals.length} more`))
}

const showOutcome = ({ id, rejected, pruned }: ImportSummary, refused: number, given: Given): void => {
  const deleted = pruned.filter(({ missing }) => missing > 0)
  showLines('')
  for (const path of rejected) showLines(`To be mended and imported again: ${strong(path)}`)
  if (given.dryRun) {
    for (const { resource, missing } of deleted) showLines(`${missing} ${resource} would be marked as deleted.`)
    showLines('Nothing was written: this was a dry run.')
  } else if (id === null) {
    showLines(`Nothing was written: --strict, and ${count(refused, 'row')} refused.`)
  } else {
    for (const { resource, missing } of deleted) showLines(`${missing} ${resource} marked as deleted.`)
    showLines(faint(`To take it back: masthead import undo ${id} --tenant ${given.tenant}`))
  }
}

const sumOf = (files: readonly FileSummary[]): { created: number; changed: number; refused: number } => ({
  created: files.reduce((sum, { created }) => sum + created, 0),
  changed: files.reduce((sum, { changed }) => sum + changed, 0),
  refused: files.reduce((sum, { refused }) => sum + refused, 0),
})

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
