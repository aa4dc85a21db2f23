import { Command } from 'commander'
import { showJson, showLines } from './output.ts'
import { withDatabase } from './with-database.ts'

export const migrate = (): Command =>
  new Command('migrate')
    .description('bring the database up to the schema of this program; `serve` does it as well')
    .option('--json', 'answer one JSON document')
    .action(async (options: { json?: true }) => {
      const { applied, version } = await withDatabase(async (_database, migrated) => migrated)
      if (options.json) showJson({ applied, version })
      else
        showLines(applied.length > 0 ? `Applied ${applied.join(', ')}.` : `Nothing to do: schema version ${version}.`)
    })
