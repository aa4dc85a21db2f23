import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { Refusal } from '../refusal.ts'
import { demoSlug, fillDemo } from '../transfer/demo/demo.ts'
import { showJson, showLines, showTable, strong } from './output.ts'
import { startProgress } from './progress.ts'
import { stopSignal } from './stop-signal.ts'
import { withDatabase } from './with-database.ts'

type Given = { tenant: string; accounts: string; seed: string; json?: true }

export const demo = (): Command =>
  new Command('demo')
    .description('make a tenant with a believable publisher of any size, and a token for it')
    .option('--tenant <slug>', 'the tenant, made when it is missing', demoSlug)
    .option('--accounts <number>', 'how many accounts; 100000 make about a million records', '500')
    .option('--seed <number>', 'another seed, another publisher', '1')
    .option('--json', 'answer one JSON document')
    .action(async (given: Given) => {
      const filled = await run(
        given.tenant,
        readNumber(given.accounts, '--accounts', 1_000_000),
        readNumber(given.seed, '--seed'),
      )
      if (given.json) return showJson(filled)
      const { tenant, token, resources } = filled
      showTable(resources, ['resource', 'created', 'changed', 'unchanged'], '')
      showLines('', `Tenant ${strong(tenant)}, token:`, strong(token))
    })

const run = async (slug: string, accounts: number, seed: number) => {
  const progress = startProgress()
  const signal = stopSignal()
  try {
    return await withDatabase((database) =>
      fillDemo(database, readConfig().dataDirectory, {
        ...{ slug, accounts, seed, signal },
        onProgress: (what, done, of) => progress.show({ what, done, of, rows: done }),
      }),
    )
  } catch (error) {
    if (!signal.aborted) throw error
    throw new Refusal('interrupted; the same command completes it', { cause: error })
  } finally {
    progress.end()
  }
}

const readNumber = (text: string, name: string, most = 2_147_483_647): number => {
  const number = Number(text)
  if (/^\d{1,10}$/.test(text) && number >= 1 && number <= most) return number
  throw new Refusal(`${name} must be a whole number from 1 to ${most}, not "${text}"`)
}
