import { Command } from 'commander'
import { action } from './action.ts'
import { showLines } from './output.ts'
import { withDatabase } from './with-database.ts'

export const migrate = (): Command =>
  action(
    new Command('migrate').description('migrate the database to the schema of this program; `serve` does it as well'),
    async () => {
      const { applied, version } = await withDatabase(async (_database, migrated) => migrated)
      return { applied, version }
    },
    ({ applied, version }) =>
      showLines(applied.length > 0 ? `Applied ${applied.join(', ')}.` : `Nothing to do: schema version ${version}.`),
  )
