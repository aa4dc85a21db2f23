import { text } from 'node:stream/consumers'
import { type Role, roles } from '@masthead/contract'
import { Command } from 'commander'
import { operator } from '../audit/author.ts'
import type { Query } from '../database/connection.ts'
import { addMember, createMember, findMemberById, isMember, listMembers, type Member } from '../identity/members.ts'
import { findTenant, findTenantById } from '../identity/tenants.ts'
import {
  findAccounts,
  findProvenUser,
  hashPasswordOf,
  lockAddress,
  proveAddress,
  setPassword,
  setSubject,
  type User,
} from '../identity/users.ts'
import { Refusal } from '../refusal.ts'
import { choice } from './options.ts'
import { showJson, showLines, showTable, strong } from './output.ts'
import { withDatabase } from './with-database.ts'

type CreateOptions = {
  tenant: string
  email: string
  name?: string
  role: Role
  legacyUserId?: string
  subject?: string
  passwordStdin?: true
  proven?: true
  existing?: true
  json?: true
}

export const user = (): Command => {
  const command = new Command('user').description('the people who may sign in')

  command
    .command('create')
    .description('add a user to a tenant; without --proven or --existing the account belongs to this tenant alone')
    .requiredOption('--tenant <slug>', 'the tenant')
    .requiredOption('--email <email>', 'e-mail address, with which the user signs in')
    .option('--name <name>', 'full name')
    .addOption(choice('--role <role>', 'what the user may do', roles).makeOptionMandatory())
    .option('--legacy-user-id <userId>', 'identifier of the user in the legacy system')
    .option('--subject <subject>', 'name of the user at the outside issuer of AUTH_ISSUER')
    .option('--password-stdin', 'read the password from standard input')
    .option('--proven', 'you have verified that the address belongs to this person: one account for all tenants')
    .option('--existing', 'add the proven account that the address has; name and password stay')
    .option('--json', 'answer one JSON document')
    .action(async (options: CreateOptions) => {
      const account = await accountOf(options)
      const { member, tookOver } = await withDatabase(async (database) => {
        if (!account) return database.transaction((query) => addExisting(query, options))
        const { name, password } = account
        const passwordHash = await hashPasswordOf(database.query, options.email, password)
        return database.transaction((query) => create(query, options, { name, passwordHash }))
      })
      if (options.json) showJson(member)
      else
        showLines(
          `${strong(member.email)} is now ${member.role} of ${options.tenant}.`,
          ...(account ? [] : ['This is the account that the address had before: its name and password stay.']),
          ...tookOverLines(tookOver),
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
          ['email', 'name', 'role', 'isProven', 'legacyUserId', 'createdAt'],
          'No member yet: masthead user create',
        )
    })

  command
    .command('set-password')
    .description('give a user a new password; all sessions, consents and personal access tokens of the account end')
    .requiredOption('--email <email>', 'e-mail address of the user')
    .option('--tenant <slug>', 'a tenant of the account, where the address has several accounts')
    .requiredOption('--password-stdin', 'read the password from standard input')
    .option(
      '--proven',
      'you have verified that the address belongs to this person: the account is for all tenants from now on',
    )
    .option('--json', 'answer one JSON document')
    .action(async (options: AccountOptions & { proven?: true }) => {
      const { email } = options
      const password = await readPassword()
      const tookOver = await withDatabase(async (database) => {
        const passwordHash = await hashPasswordOf(database.query, email, password)
        return database.transaction(async (query) => {
          await lockAddress(query, email)
          const account = await findAccount(query, options)
          await setPassword(query, operator, account, passwordHash)
          return options.proven ? slugsOf(query, await proveAddress(query, account)) : []
        })
      })
      if (options.json) showJson({ email })
      else
        showLines(
          `${strong(email)} has a new password. All sessions, consents and personal access tokens of the account have ended.`,
          ...tookOverLines(tookOver),
        )
    })

  command
    .command('set-subject')
    .description('say under which name the outside issuer of AUTH_ISSUER knows a user')
    .requiredOption('--email <email>', 'e-mail address of the user')
    .option('--tenant <slug>', 'a tenant of the account, where the address has several accounts')
    .requiredOption('--subject <subject>', 'name of the user there')
    .option('--json', 'answer one JSON document')
    .action(async (options: AccountOptions & { subject: string }) => {
      const { email, subject } = options
      await withDatabase((database) =>
        database.transaction(async (query) => setSubject(query, await findAccount(query, options), subject)),
      )
      if (options.json) showJson({ email, subject })
      else showLines(`${strong(email)} is ${subject} at the outside issuer.`)
    })

  return command
}

type Account = { name: string; password: string }

/** Name and password of a new account; null when one that exists is added. */
const accountOf = async ({
  existing,
  proven,
  name,
  passwordStdin,
  subject,
}: CreateOptions): Promise<Account | null> => {
  if (existing) {
    if (proven || name !== undefined || passwordStdin || subject !== undefined)
      throw new Refusal(
        '--existing adds an account as it is: leave --name, --subject, --password-stdin and --proven out',
      )
    return null
  }
  if (name === undefined) throw new Refusal('give the full name with --name')
  if (!passwordStdin) throw new Refusal('pipe the password in, with --password-stdin')
  return { name, password: await readPassword() }
}

type Created = { member: Member; tookOver: string[] }

const create = async (
  query: Query,
  options: CreateOptions,
  account: { name: string; passwordHash: string },
): Promise<Created> => {
  const { tenant, email, role, legacyUserId, subject, proven } = options
  const { id: tenantId } = await findTenant(query, tenant)
  await lockAddress(query, email)
  if (await isMember(query, tenantId, email))
    throw new Refusal(
      `${email} is already a member of this tenant; \`masthead user set-password --proven\` proves the address`,
    )
  if (await findProvenUser(query, email))
    throw new Refusal(`${email} has a proven account already: \`--existing\` adds it to the tenant as it is`)
  const others = proven ? await findAccounts(query, email) : []
  const given = { ...account, tenantId, email, role, legacyUserId: legacyUserId ?? null, subject: subject ?? null }
  const member = await createMember(query, operator, { ...given, isProven: proven ?? false })
  return {
    member,
    tookOver: await slugsOf(
      query,
      others.flatMap(({ tenantId }) => tenantId ?? []),
    ),
  }
}

const addExisting = async (query: Query, options: CreateOptions): Promise<Created> => {
  const { tenant, email, role, legacyUserId } = options
  const { id: tenantId } = await findTenant(query, tenant)
  const account = await findProvenUser(query, email)
  if (!account) throw new Refusal(`${email} has no proven account: leave --existing out to make one`)
  const given = { tenantId, role, legacyUserId: legacyUserId ?? null }
  return { member: await addMember(query, operator, account, given), tookOver: [] }
}

type AccountOptions = { email: string; tenant?: string; json?: true }

/** The one account of the address, or the one that is a member of the tenant. */
const findAccount = async (query: Query, { email, tenant }: AccountOptions): Promise<User> => {
  const accounts = await findAccounts(query, email)
  if (tenant !== undefined) {
    const { id: tenantId } = await findTenant(query, tenant)
    for (const account of accounts) if (await findMemberById(query, tenantId, account.id)) return account
    throw new Refusal(`${email} is not a member of ${tenant}; \`masthead user list\` shows who is`)
  }
  const [account, ...others] = accounts
  if (!account) throw new Refusal(`there is no user ${email}`)
  if (others.length > 0)
    throw new Refusal(`${email} has ${accounts.length} accounts: name a tenant of one with --tenant`)
  return account
}

const slugsOf = (query: Query, tenantIds: readonly string[]): Promise<string[]> =>
  Promise.all(tenantIds.map(async (id) => (await findTenantById(query, id)).slug))

const tookOverLines = (slugs: readonly string[]): string[] =>
  slugs.length === 0
    ? []
    : [
        `It took over the membership of ${slugs.join(', ')}: the unproven account there, its password, sessions and tokens no longer work.`,
      ]

const readPassword = async (): Promise<string> => {
  if (process.stdin.isTTY) throw new Refusal('pipe the password in: printf %s "$PASSWORD" | masthead user …')
  // Only the line end that `echo` adds is not part of it.
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}
