import { Command } from 'commander'
import { exportAudit } from '../audit/export.ts'
import { installation, isInChain, type Verdict, verifyChain } from '../audit/queries.ts'
import type { Database } from '../database/database.ts'
import { findTenant, listTenants } from '../identity/tenants.ts'
import { Refusal } from '../refusal.ts'
import { faint, showJson, showLines, showTable, strong } from './output.ts'
import { startProgress } from './progress.ts'
import { stopSignal } from './stop-signal.ts'
import { withDatabase } from './with-database.ts'

type Whose = { tenant?: string; installation?: true; json?: true }

export const audit = (): Command => {
  const command = new Command('audit').description('who did what, when and from where')

  whose(command.command('verify'))
    .description('show whether the log is whole: of all, or of a tenant')
    .option('--expect <hash>', 'the last hash of an earlier look, which must still be in the chain')
    .addHelpText(
      'after',
      '\nEnds with 1 when a chain is broken. Keep the last hash elsewhere: only so a cut end shows.',
    )
    .action(async (options: Whose & { expect?: string }) => {
      const looks = await withDatabase((database) => verify(database, options))
      if (looks.some(({ broken }) => broken)) process.exitCode = 1
      if (options.json) return showJson(looks)
      showTable(looks.map(summary), ['log', 'entries', 'waiting', 'sequence', 'hash', 'state'], '')
      for (const { log, broken } of looks) {
        if (broken) showLines(`The log of ${strong(log)} is broken at ${placeOf(broken)}: ${broken.reason}.`)
      }
    })

  whose(command.command('export'))
    .description('write the log of a tenant, or of the installation, to a file of JSON lines')
    .requiredOption('--to <file>', 'where it goes; what is there already is not replaced')
    .action(async (options: Whose & { to: string }) => {
      if (options.tenant === undefined && !options.installation) {
        throw new Refusal('say whose log: --tenant <slug>, or --installation for what belongs to no tenant')
      }
      const signal = stopSignal()
      const progress = startProgress()
      const onEntries = (rows: number) => progress.show({ what: 'audit', done: rows, of: null, rows })
      const entries = await withDatabase(async (database) => {
        const [log] = await logsOf(database, options)
        return log ? exportAudit(database.forTenant(log.id), options.to, { signal, onEntries }) : 0
      }).finally(progress.end)
      if (options.json) showJson({ entries, to: options.to })
      else
        showLines(`${entries} entries are in ${strong(options.to)}.`, faint('They name people: mind who reads them.'))
    })

  return command
}

const whose = (command: Command): Command =>
  command
    .option('--tenant <slug>', 'the tenant')
    .option('--installation', 'what belongs to no tenant: applications, keys, sign-ins of unknown people')
    .option('--json', 'answer one JSON document')

type Log = { id: string; log: string }
type Look = { log: string } & Verdict

const logsOf = async ({ query }: Database, { tenant, installation: ours }: Whose): Promise<Log[]> => {
  if (tenant !== undefined) return [{ id: (await findTenant(query, tenant)).id, log: tenant }]
  const own = { id: installation, log: '(installation)' }
  return ours ? [own] : [own, ...(await listTenants(query)).map(({ id, slug }) => ({ id, log: slug }))]
}

const verify = async (database: Database, options: Whose & { expect?: string }): Promise<Look[]> => {
  const { expect } = options
  if (expect !== undefined) {
    if (options.tenant === undefined && !options.installation) {
      throw new Refusal('--expect is the hash of one log: say which by --tenant or --installation')
    }
    if (!/^[0-9a-f]{64}$/i.test(expect)) throw new Refusal('--expect takes a hash: 64 hexadecimal digits')
  }
  const looks: Look[] = []
  for (const { id, log } of await logsOf(database, options)) {
    const verdict = await database.forTenant(id).inBulk(async (_client, query) => {
      const found = await verifyChain(query)
      if (found.broken || expect === undefined || (await isInChain(query, expect))) return found
      return { ...found, broken: { number: null, sequence: null, at: null, reason: cutOff } }
    })
    looks.push({ log, ...verdict })
  }
  return looks
}

const cutOff = 'the expected hash is not in the chain: its end was cut off, or it was made anew'

const summary = ({ log, entries, waiting, last, broken }: Look) => ({
  ...{ log, entries, waiting, sequence: last?.sequence, hash: last?.hash },
  state: broken ? 'broken' : 'whole',
})

const placeOf = ({ number, sequence, at }: NonNullable<Verdict['broken']>): string => {
  if (number === null) return 'its end'
  const place = sequence === null ? '' : `, place ${sequence} of the chain`
  return `entry ${number}${place}${at ? `, of ${at.toISOString()}` : ''}`
}
