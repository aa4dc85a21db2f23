import { Command } from 'commander'
import { attach, detach, retry, status } from '../webhooks/legacy/administration.ts'
import { readSigningSecret } from '../webhooks/secret.ts'
import { action } from './action.ts'
import { readPiped } from './options.ts'
import { showLines, showTable, strong } from './output.ts'
import { withTenant } from './with-database.ts'
import { withSecret } from './with-secret.ts'

type TenantOption = { tenant: string }

export const legacy = (): Command => {
  const command = new Command('legacy').description(
    'manage the legacy system that the writes of a tenant are delivered to',
  )

  action(
    command
      .command('attach')
      .description('deliver writes from now on; again: change the address or the secret, and keep waiting deliveries')
      .requiredOption('--tenant <slug>', 'the tenant')
      .requiredOption('--url <url>', 'where deliveries are posted to')
      .requiredOption('--secret-stdin', 'read the signing secret (whsec_…) from standard input'),
    async (options: TenantOption & { url: string }) => {
      const piped = await readPiped('pipe the secret in: printf %s "$SECRET" | masthead legacy attach …')
      const secret = readSigningSecret(piped)
      return withSecret(options.tenant, options.url, (tenant, installation, url) =>
        attach(tenant, { url, secret, installation }),
      )
    },
    ({ url }, { tenant }) => showLines(`Writes of ${strong(tenant)} are delivered to ${url}.`),
  )

  action(
    command
      .command('detach')
      .description('stop delivering writes')
      .requiredOption('--tenant <slug>', 'the tenant')
      .option('--discard', 'also when deliveries wait or have failed; they are deleted'),
    ({ tenant, discard = false }: TenantOption & { discard?: boolean }) =>
      withTenant(tenant, (database) => detach(database, discard)),
    ({ discarded }, { tenant }) => {
      showLines(`${strong(tenant)} has no legacy system any more.`)
      if (discarded > 0) showLines(`Deliveries that were discarded: ${discarded}.`)
    },
  )

  action(
    command
      .command('status')
      .description('show the attached system and the deliveries that wait')
      .requiredOption('--tenant <slug>', 'the tenant'),
    ({ tenant }: TenantOption) => withTenant(tenant, status),
    (shown) =>
      showTable(
        shown.attached ? [shown] : [],
        ['url', 'attachedAt', 'waiting', 'failed', 'oldestWaiting', 'lastError', 'lastErrorAt'],
        'No legacy system: masthead legacy attach',
      ),
  )

  action(
    command
      .command('retry')
      .description('try waiting and failed deliveries now, and for three more days')
      .requiredOption('--tenant <slug>', 'the tenant'),
    ({ tenant }: TenantOption) => withTenant(tenant, retry),
    ({ retried, hastened }) => showLines(`${retried} failed and ${hastened} waiting deliveries are tried now.`),
  )

  return command
}
