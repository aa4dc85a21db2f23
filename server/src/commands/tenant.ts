import { Command } from 'commander'
import { createTenant, listTenants } from '../identity/tenants.ts'
import { tenantLabels } from '../metrics/tenant-label.ts'
import { showJson, showLines, showTable, strong } from './output.ts'
import { withDatabase } from './with-database.ts'

export const tenant = (): Command => {
  const command = new Command('tenant').description('the publishers that this installation serves')

  command
    .command('create <slug>')
    .description('add a tenant')
    .requiredOption('--name <name>', 'its name')
    .option('--default-assignee <userId>', 'legacy user who gets tasks that name nobody')
    .option('--json', 'answer one JSON document')
    .action(async (slug: string, options: { name: string; defaultAssignee?: string; json?: true }) => {
      const created = await withDatabase((database) =>
        database.transaction((query) => createTenant(query, { slug, ...options })),
      )
      if (options.json) showJson(created)
      else showLines(`Tenant ${strong(created.slug)} created.`)
    })

  command
    .command('list')
    .description('show the tenants')
    .option('--json', 'answer one JSON document')
    .action(async (options: { json?: true }) => {
      const tenants = await withDatabase(async ({ query, cursorKey }) => {
        const measuredAs = tenantLabels(await cursorKey())
        return (await listTenants(query)).map((tenant) => ({ ...tenant, measuredAs: measuredAs(tenant.id) }))
      })
      if (options.json) showJson(tenants)
      else
        showTable(
          tenants,
          ['slug', 'name', 'defaultAssignee', 'createdAt', 'measuredAs'],
          'No tenant yet: masthead tenant create',
        )
    })

  return command
}
