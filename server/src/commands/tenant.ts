import { Command } from 'commander'
import { operator } from '../audit/author.ts'
import { programName } from '../config.ts'
import { createTenant, findTenant, listTenants, setTimeZone } from '../identity/people/tenants.ts'
import { tenantLabels } from '../metrics/tenant-label.ts'
import { action } from './action.ts'
import { faint, showLines, showTable, strong } from './output.ts'
import { inTransaction, withDatabase } from './with-database.ts'

export const tenant = (): Command => {
  const command = new Command('tenant').description('manage the publishers that this installation serves')

  action(
    command
      .command('create <slug>')
      .description('add a tenant')
      .requiredOption('--name <name>', 'its name')
      .option('--default-assignee <userId>', 'legacy user who gets tasks that name nobody'),
    (slug: string, options: { name: string; defaultAssignee?: string }) =>
      inTransaction((query) => createTenant(query, { slug, ...options })),
    ({ slug }) =>
      showLines(
        `Tenant ${strong(slug)} created.`,
        faint(`Next, its first admin: ${programName()} user invite --tenant ${slug} --email <address> --role admin`),
      ),
  )

  action(
    command
      .command('set <slug>')
      .description('change a tenant')
      .requiredOption('--time-zone <zone>', 'where "today" is, for what is overdue: a name such as Europe/Berlin'),
    (slug: string, { timeZone }: { timeZone: string }) =>
      inTransaction(async (query) => setTimeZone(query, operator, (await findTenant(query, slug)).id, timeZone)),
    ({ slug, timeZone }) => showLines(`For tenant ${strong(slug)} it is now the day of ${strong(timeZone)}.`),
  )

  action(
    command.command('list').description('show the tenants'),
    () =>
      withDatabase(async ({ query, cursorKey }) => {
        const measuredAs = tenantLabels(await cursorKey())
        return (await listTenants(query)).map((tenant) => ({ ...tenant, measuredAs: measuredAs(tenant.id) }))
      }),
    (tenants) =>
      showTable(
        tenants,
        ['slug', 'name', 'defaultAssignee', 'timeZone', 'createdAt', 'measuredAs'],
        'No tenant yet: masthead tenant create',
      ),
  )

  return command
}
