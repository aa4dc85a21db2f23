import { text } from 'node:stream/consumers'
import { Command } from 'commander'
import { readConfig } from '../config.ts'
import type { TenantDatabase } from '../database/database.ts'
import { readLegacyUrl } from '../deliveries/addresses.ts'
import { attach, detach, retry, status } from '../deliveries/administration.ts'
import { readSigningSecret } from '../deliveries/secret.ts'
import { loadSigningKeys } from '../identity/signing-keys.ts'
import { findTenant } from '../identity/tenants.ts'
import { Refusal } from '../refusal.ts'
import { showJson, showLines, showTable, strong } from './output.ts'
import { withDatabase } from './with-database.ts'
import { installationSecret } from './work.ts'

type TenantOption = { tenant: string; json?: true }

export const legacy = (): Command => {
  const command = new Command('legacy').description('the system of a tenant that writes are also handed to')

  command
    .command('attach')
    .description('hand writes over from now on; again: to another address or with another secret, and what waits stays')
    .requiredOption('--tenant <slug>', 'the tenant')
    .requiredOption('--url <url>', 'where deliveries are posted to')
    .requiredOption('--secret-stdin', 'read the signing secret (whsec_…) from standard input')
    .option('--json', 'answer one JSON document')
    .action(async (options: TenantOption & { url: string }) => {
      const config = readConfig()
      const secret = readSigningSecret(await readSecret())
      const url = await readLegacyUrl(options.url, config.legacyAllowPrivate)
      const installation = await installationSecret(config)
      const attached = await withDatabase(async (database) => {
        const { id } = await findTenant(database.query, options.tenant)
        // Refuses another MASTHEAD_SECRET than that of the servers, which could not open what is sealed with it.
        await loadSigningKeys(database.query, installation)
        return attach(database.forTenant(id), { url, secret, installation })
      })
      if (options.json) showJson(attached)
      else showLines(`Writes of ${strong(options.tenant)} are handed to ${attached.url}.`)
    })

  command
    .command('detach')
    .description('hand nothing over any more')
    .requiredOption('--tenant <slug>', 'the tenant')
    .option('--discard', 'also when deliveries wait or have failed; they are deleted')
    .option('--json', 'answer one JSON document')
    .action(async (options: TenantOption & { discard?: true }) => {
      const detached = await inTenant(options, (tenant) => detach(tenant, options.discard ?? false))
      if (options.json) showJson(detached)
      else showLines(`${strong(options.tenant)} has no legacy system any more.`, ...discardedLine(detached.discarded))
    })

  command
    .command('status')
    .description('show what is attached and what waits')
    .requiredOption('--tenant <slug>', 'the tenant')
    .option('--json', 'answer one JSON document')
    .action(async (options: TenantOption) => {
      const shown = await inTenant(options, status)
      const columns = ['url', 'attachedAt', 'waiting', 'failed', 'oldestWaiting', 'lastError', 'lastErrorAt']
      if (options.json) showJson(shown)
      else showTable(shown.attached ? [shown] : [], columns, 'No legacy system: masthead legacy attach')
    })

  command
    .command('retry')
    .description('try at once, and for three more days, what waits or has failed')
    .requiredOption('--tenant <slug>', 'the tenant')
    .option('--json', 'answer one JSON document')
    .action(async (options: TenantOption) => {
      const { retried, hastened } = await inTenant(options, retry)
      if (options.json) showJson({ retried, hastened })
      else showLines(`${retried} that had failed and ${hastened} that waited are tried now.`)
    })

  return command
}

const inTenant = <T>({ tenant }: TenantOption, work: (tenant: TenantDatabase) => Promise<T>): Promise<T> =>
  withDatabase(async (database) => work(database.forTenant((await findTenant(database.query, tenant)).id)))

const discardedLine = (count: number): string[] => (count === 0 ? [] : [`Deliveries that were discarded: ${count}.`])

const readSecret = async (): Promise<string> => {
  if (process.stdin.isTTY) throw new Refusal('pipe the secret in: printf %s "$SECRET" | masthead legacy attach …')
  return text(process.stdin)
}
