import { text } from 'node:stream/consumers'
import { type Role, roles } from '@masthead/contract'
import { Command } from 'commander'
import { operator } from '../audit/author.ts'
import { findTenant } from '../identity/tenants.ts'
import { createMember, findUserByEmail, listMembers, setPassword, setSubject } from '../identity/users.ts'
import { Refusal } from '../refusal.ts'
import { choice } from './options.ts'
import { showJson, showLines, showTable, strong } from './output.ts'
import { withDatabase } from './with-database.ts'

type CreateOptions = {
  tenant: string
  email: string
  name: string
  role: Role
  legacyUserId?: string
  subject?: string
  json?: true
}

export const user = (): Command => {
  const command = new Command('user').description('the people who may sign in')

  command
    .command('create')
    .description('add a user to a tenant; someone known from another tenant keeps name and password')
    .requiredOption('--tenant <slug>', 'the tenant')
    .requiredOption('--email <email>', 'e-mail address, with which the user signs in')
    .requiredOption('--name <name>', 'full name')
    .addOption(choice('--role <role>', 'what the user may do', roles).makeOptionMandatory())
    .option('--legacy-user-id <userId>', 'identifier of the user in the legacy system')
    .option('--subject <subject>', 'name of the user at the outside issuer of AUTH_ISSUER')
    .requiredOption('--password-stdin', 'read the password from standard input')
    .option('--json', 'answer one JSON document')
    .action(async (options: CreateOptions) => {
      const password = await readPassword()
      const member = await withDatabase((database) =>
        database.transaction(async (query) => {
          const { id: tenantId } = await findTenant(query, options.tenant)
          const isKnown = (await findUserByEmail(query, options.email)) !== null
          return { ...(await createMember(query, operator, { ...options, tenantId, password })), isKnown }
        }),
      )
      if (options.json) showJson(member)
      else
        showLines(
          `${strong(member.email)} is now ${member.role} of ${options.tenant}.`,
          ...(member.isKnown ? [known] : []),
        )
    })

  command
    .command('list')
    .description('show the members of a tenant')
    .requiredOption('--tenant <slug>', 'the tenant')
    .option('--json', 'answer one JSON document')
    .action(async (options: { tenant: string; json?: true }) => {
      const members = await withDatabase(async ({ query }) =>
        listMembers(query, (await findTenant(query, options.tenant)).id),
      )
      if (options.json) showJson(members)
      else
        showTable(
          members,
          ['email', 'name', 'role', 'legacyUserId', 'createdAt'],
          'No member yet: masthead user create',
        )
    })

  command
    .command('set-password')
    .description('give a user a new password')
    .requiredOption('--email <email>', 'e-mail address of the user')
    .requiredOption('--password-stdin', 'read the password from standard input')
    .option('--json', 'answer one JSON document')
    .action(async (options: { email: string; json?: true }) => {
      const password = await readPassword()
      await withDatabase((database) => database.transaction((query) => setPassword(query, options.email, password)))
      if (options.json) showJson({ email: options.email })
      else showLines(`${strong(options.email)} has a new password.`)
    })

  command
    .command('set-subject')
    .description('say under which name the outside issuer of AUTH_ISSUER knows a user')
    .requiredOption('--email <email>', 'e-mail address of the user')
    .requiredOption('--subject <subject>', 'name of the user there')
    .option('--json', 'answer one JSON document')
    .action(async (options: { email: string; subject: string; json?: true }) => {
      const { email, subject } = options
      await withDatabase((database) => database.transaction((query) => setSubject(query, email, subject)))
      if (options.json) showJson({ email, subject })
      else showLines(`${strong(email)} is ${subject} at the outside issuer.`)
    })

  return command
}

const known =
  'The address was known already, by an invitation or in another tenant: its name and password stay, and the given ones were not used.'

const readPassword = async (): Promise<string> => {
  if (process.stdin.isTTY) throw new Refusal('pipe the password in: printf %s "$PASSWORD" | masthead user …')
  // Only the line end that `echo` adds is not part of it.
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}
