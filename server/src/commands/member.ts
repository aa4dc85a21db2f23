import { type Role, roles } from '@masthead/contract'
import { Command } from 'commander'
import { operator } from '../audit/author.ts'
import { removeMember, setRole } from '../identity/members.ts'
import { findTenant } from '../identity/tenants.ts'
import { choice } from './options.ts'
import { showJson, showLines, strong } from './output.ts'
import { withDatabase } from './with-database.ts'

type MemberOptions = { tenant: string; email: string; json?: true }

export const member = (): Command => {
  const command = new Command('member').description('what a user may do in a tenant')

  command
    .command('role')
    .description('change the role of a member; takes effect within a second')
    .requiredOption('--tenant <slug>', 'the tenant')
    .requiredOption('--email <email>', 'e-mail address of the member')
    .addOption(choice('--role <role>', 'what the member may do', roles).makeOptionMandatory())
    .option('--json', 'answer one JSON document')
    .action(async (options: MemberOptions & { role: Role }) => {
      const changed = await withDatabase((database) =>
        database.transaction(async (query) =>
          setRole(query, operator, (await findTenant(query, options.tenant)).id, options.email, options.role),
        ),
      )
      if (options.json) showJson(changed)
      else showLines(`${strong(changed.email)} is now ${changed.role} of ${options.tenant}.`)
    })

  command
    .command('remove')
    .description('end a membership, and every personal access token of it')
    .requiredOption('--tenant <slug>', 'the tenant')
    .requiredOption('--email <email>', 'e-mail address of the member')
    .option('--json', 'answer one JSON document')
    .action(async (options: MemberOptions) => {
      const removed = await withDatabase((database) =>
        database.transaction(async (query) =>
          removeMember(query, operator, (await findTenant(query, options.tenant)).id, options.email),
        ),
      )
      if (options.json) showJson(removed)
      else showLines(`${strong(removed.email)} is no longer a member of ${options.tenant}.`)
    })

  return command
}
