import { type Role, roles } from '@masthead/contract'
import { Command, Option } from 'commander'
import { operator } from '../audit/author.ts'
import { removeMember, setRole } from '../identity/people/members.ts'
import { findTenant } from '../identity/people/tenants.ts'
import { action } from './action.ts'
import { showLines, strong } from './output.ts'
import { inTransaction } from './with-database.ts'

type MemberOptions = { tenant: string; email: string }

export const member = (): Command => {
  const command = new Command('member').description('manage what users may do in a tenant')

  action(
    command
      .command('role')
      .description('change the role of a member; takes effect at the next request')
      .requiredOption('--tenant <slug>', 'the tenant')
      .requiredOption('--email <email>', 'e-mail address of the member')
      .addOption(new Option('--role <role>', 'what the member may do').choices(roles).makeOptionMandatory()),
    ({ tenant, email, role }: MemberOptions & { role: Role }) =>
      inTransaction(async (query) => setRole(query, operator, (await findTenant(query, tenant)).id, email, role)),
    ({ email, role }, { tenant }) => showLines(`${strong(email)} is now ${role} of ${tenant}.`),
  )

  action(
    command
      .command('remove')
      .description('end a membership with its personal access tokens, and the account when it was the last one')
      .requiredOption('--tenant <slug>', 'the tenant')
      .requiredOption('--email <email>', 'e-mail address of the member'),
    ({ tenant, email }: MemberOptions) =>
      inTransaction(async (query) => removeMember(query, operator, (await findTenant(query, tenant)).id, email)),
    ({ email }, { tenant }) => showLines(`${strong(email)} is no longer a member of ${tenant}.`),
  )

  return command
}
