import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { demoSlug, fillDemo } from '../transfer/demo/demo.ts'
import { action } from './action.ts'
import { readNumber } from './options.ts'
import { showLines, showTable, strong } from './output.ts'
import { resumable, withProgress } from './progress.ts'
import { withDatabase } from './with-database.ts'

export const demo = (): Command =>
  action(
    new Command('demo')
      .description('create a tenant with realistic demo data of any size, and a token for it')
      .option('--tenant <slug>', 'the tenant, created when it is missing', demoSlug)
      .option('--accounts <number>', 'how many accounts; 100000 make about a million records', '500')
      .option('--seed <number>', 'the seed of the generated data', '1'),
    (options: { tenant: string; accounts: string; seed: string }) => {
      const accounts = readNumber(options.accounts, '--accounts', 1_000_000)
      const seed = readNumber(options.seed, '--seed')
      return withProgress(
        (progress, signal) =>
          withDatabase((database) =>
            fillDemo(database, readConfig().dataDirectory, {
              slug: options.tenant,
              accounts,
              seed,
              signal,
              onProgress: (what, done, of) => progress.show({ what, done, of, rows: done }),
            }),
          ),
        resumable,
      )
    },
    ({ tenant, token, resources }) => {
      showTable(resources, ['resource', 'created', 'changed', 'unchanged'])
      showLines('', `Tenant ${strong(tenant)}, token:`, strong(token))
    },
  )
