import { Command } from 'commander'
import { exportAudit } from '../audit/export.ts'
import { installation, isInChain, type Verdict, verifyChain } from '../audit/queries.ts'
import type { Database } from '../database/database.ts'
import { findTenant, listTenants } from '../identity/people/tenants.ts'
import { Refusal } from '../refusal.ts'
import { action } from './action.ts'
import { faint, showLines, showTable, strong } from './output.ts'
import { withProgress } from './progress.ts'
import { withDatabase } from './with-database.ts'

type LogOptions = { tenant?: string; installation?: true }
type VerifyOptions = LogOptions & { expect?: string }

export const audit = (): Command => {
  const command = new Command('audit').description('verify and export the audit log')

  action(
    withLogOptions(command.command('verify'))
      .description('check that the log is complete and unchanged: all logs, or that of a tenant')
      .option('--expect <hash>', 'the last hash of an earlier check, which must still be in the chain')
      .addHelpText(
        'after',
        '\nExits with 1 when a chain is broken. Store the last hash elsewhere: without it a truncated log goes unnoticed.',
      ),
    async (options: VerifyOptions) => {
      const checks = await withDatabase((database) => verify(database, options))
      if (checks.some(({ broken }) => broken)) process.exitCode = 1
      return checks
    },
    (checks) => {
      const rows = checks.map(({ last, broken, ...check }) => ({
        ...check,
        sequence: last?.sequence,
        hash: last?.hash,
        state: broken ? 'broken' : 'whole',
      }))
      showTable(rows, ['log', 'entries', 'waiting', 'sequence', 'hash', 'state'])
      for (const { log, broken } of checks) {
        if (broken) showLines(`The log of ${strong(log)} is broken at ${placeOf(broken)}: ${broken.reason}.`)
      }
    },
  )

  action(
    withLogOptions(command.command('export'))
      .description('write the log of a tenant, or of the installation, to a file of JSON lines')
      .requiredOption('--to <file>', 'the file to write; an existing file is not replaced'),
    async (options: LogOptions & { to: string }) => {
      if (options.tenant === undefined && !options.installation) {
        throw new Refusal('say whose log: --tenant <slug>, or --installation for what belongs to no tenant')
      }
      const { to } = options
      const entries = await withProgress((progress, signal) =>
        withDatabase(async (database) => {
          const [log] = await logsOf(database, options)
          const onEntries = (rows: number) => progress.show({ what: 'audit', done: rows, of: null, rows })
          return log ? exportAudit(database.forTenant(log.id), to, { signal, onEntries }) : 0
        }),
      )
      return { entries, to }
    },
    ({ entries, to }) =>
      showLines(`${entries} entries are in ${strong(to)}.`, faint('The file contains personal data.')),
  )

  return command
}

const withLogOptions = (command: Command): Command =>
  command
    .option('--tenant <slug>', 'the tenant')
    .option('--installation', 'what belongs to no tenant: applications, keys, sign-ins of unknown people')

const logsOf = async ({ query }: Database, options: LogOptions): Promise<{ id: string; log: string }[]> => {
  const { tenant } = options
  if (tenant !== undefined) return [{ id: (await findTenant(query, tenant)).id, log: tenant }]
  const own = { id: installation, log: '(installation)' }
  return options.installation ? [own] : [own, ...(await listTenants(query)).map(({ id, slug }) => ({ id, log: slug }))]
}

const verify = async (database: Database, options: VerifyOptions) => {
  const { expect } = options
  if (expect !== undefined) {
    if (options.tenant === undefined && !options.installation) {
      throw new Refusal('--expect is the hash of one log: say which by --tenant or --installation')
    }
    if (!/^[0-9a-f]{64}$/i.test(expect)) throw new Refusal('--expect must be a hash of 64 hexadecimal digits')
  }
  return Array.fromAsync(await logsOf(database, options), async ({ id, log }) => {
    const verdict = await database.forTenant(id).inBulk(async (_client, query): Promise<Verdict> => {
      const found = await verifyChain(query)
      if (found.broken || expect === undefined || (await isInChain(query, expect))) return found
      const reason = 'the expected hash is not in the chain: its end was cut off, or it was made anew'
      return { ...found, broken: { number: null, sequence: null, at: null, reason } }
    })
    return { log, ...verdict }
  })
}

const placeOf = ({ number, sequence, at }: NonNullable<Verdict['broken']>): string => {
  if (number === null) return 'its end'
  const place = sequence === null ? '' : `, place ${sequence} of the chain`
  return `entry ${number}${place}${at ? `, of ${at.toISOString()}` : ''}`
}
