import { type Role, roles } from '@masthead/contract'
import { Command, Option } from 'commander'
import { operator } from '../audit/author.ts'
import { baseUrlOf, readConfig } from '../config.ts'
import type { Query } from '../database/connections/statement.ts'
import { createInvitation, newInvitationSecret } from '../identity/people/invitations.ts'
import {
  addMember,
  createMember,
  findMemberById,
  isMember,
  listMembers,
  type Member,
} from '../identity/people/members.ts'
import { findTenant, findTenantById } from '../identity/people/tenants.ts'
import {
  findAccounts,
  findProvenUser,
  hashPasswordOf,
  isEmail,
  lockAddress,
  proveAddress,
  setPassword,
  setSubject,
  type User,
} from '../identity/people/users.ts'
import { Refusal } from '../refusal.ts'
import { action } from './action.ts'
import { readPiped } from './options.ts'
import { showLines, showTable, strong } from './output.ts'
import { inTransaction, withDatabase } from './with-database.ts'

type CreateOptions = {
  tenant: string
  email: string
  name?: string
  role: Role
  legacyUserId?: string
  subject?: string
  passwordStdin?: true
  proven?: boolean
  existing?: true
}

type AccountOptions = { email: string; tenant?: string }

export const user = (): Command => {
  const command = new Command('user').description('manage the people who may sign in')

  action(
    command
      .command('create')
      .description('add a user to a tenant; without --proven or --existing the account belongs to this tenant alone')
      .requiredOption('--tenant <slug>', 'the tenant')
      .requiredOption('--email <email>', 'e-mail address, with which the user signs in')
      .option('--name <name>', 'full name')
      .addOption(new Option('--role <role>', 'what the user may do').choices(roles).makeOptionMandatory())
      .option('--legacy-user-id <userId>', 'identifier of the user in the legacy system')
      .option('--subject <subject>', 'subject of the user at the outside issuer of AUTH_ISSUER')
      .option('--password-stdin', 'read the password from standard input')
      .option('--proven', 'you have verified that the address belongs to this person: one account for all tenants')
      .option('--existing', 'add the proven account that the address has; name and password stay'),
    (options: CreateOptions) => (options.existing ? addExisting(options) : create(options)),
    ({ member, tookOver }, { tenant, existing }) => {
      showLines(`${strong(member.email)} is now ${member.role} of ${tenant}.`)
      if (existing) showLines('This is the account that the address had before: its name and password stay.')
      showTookOver(tookOver)
    },
    ({ member }) => member,
  )

  action(
    command
      .command('invite')
      .description('make a link by which a person joins a tenant and chooses a password; it works once, for 7 days')
      .requiredOption('--tenant <slug>', 'the tenant')
      .requiredOption('--email <email>', 'e-mail address, with which the user signs in')
      .addOption(new Option('--role <role>', 'what the user may do').choices(roles).makeOptionMandatory()),
    invite,
    ({ url, email, role, expiresAt }, { tenant }) =>
      showLines(
        strong(url),
        `Open it, or send it to ${email}: the first person who opens it can become ${role} of ${tenant}.`,
        `It is shown only now, works once, and ends ${expiresAt.toISOString()}.`,
      ),
  )

  action(
    command.command('list').description('show the members of a tenant').requiredOption('--tenant <slug>', 'the tenant'),
    ({ tenant }: { tenant: string }) =>
      withDatabase(async ({ query }) => listMembers(query, (await findTenant(query, tenant)).id)),
    (members) =>
      showTable(
        members,
        ['email', 'name', 'role', 'isProven', 'legacyUserId', 'createdAt'],
        'No member yet: masthead user create',
      ),
  )

  action(
    command
      .command('set-password')
      .description('set a new password; all sessions, consents and personal access tokens of the account end')
      .requiredOption('--email <email>', 'e-mail address of the user')
      .option('--tenant <slug>', 'a tenant of the account, where the address has several accounts')
      .requiredOption('--password-stdin', 'read the password from standard input')
      .option(
        '--proven',
        'you have verified that the address belongs to this person: the account is for all tenants from now on',
      ),
    async (options: AccountOptions & { proven?: true }) => {
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
      return { email, tookOver }
    },
    ({ email, tookOver }) => {
      showLines(
        `${strong(email)} has a new password. All sessions, consents and personal access tokens of the account have ended.`,
      )
      showTookOver(tookOver)
    },
    ({ email }) => ({ email }),
  )

  action(
    command
      .command('set-subject')
      .description('set the subject by which the outside issuer of AUTH_ISSUER knows a user')
      .requiredOption('--email <email>', 'e-mail address of the user')
      .option('--tenant <slug>', 'a tenant of the account, where the address has several accounts')
      .requiredOption('--subject <subject>', 'subject of the user there'),
    async (options: AccountOptions & { subject: string }) => {
      const { email, subject } = options
      await inTransaction(async (query) => setSubject(query, await findAccount(query, options), subject))
      return { email, subject }
    },
    ({ email, subject }) => showLines(`${strong(email)} is ${subject} at the outside issuer.`),
  )

  return command
}

/** The tenants of unproven accounts whose memberships the proven account took over. */
type Created = { member: Member; tookOver: string[] }

const create = async (options: CreateOptions): Promise<Created> => {
  const { tenant, email, name, role, legacyUserId = null, subject = null, proven: isProven = false } = options
  if (name === undefined) throw new Refusal('give the full name with --name')
  if (!options.passwordStdin) throw new Refusal('pipe the password in, with --password-stdin')
  const password = await readPassword()
  return withDatabase(async (database) => {
    const passwordHash = await hashPasswordOf(database.query, email, password)
    return database.transaction(async (query) => {
      const { id: tenantId } = await findTenant(query, tenant)
      await lockAddress(query, email)
      if (await isMember(query, tenantId, email))
        throw new Refusal(
          `${email} is already a member of this tenant; \`masthead user set-password --proven\` proves the address`,
        )
      if (await findProvenUser(query, email))
        throw new Refusal(`${email} has a proven account already: \`--existing\` adds it to the tenant as it is`)
      const others = isProven ? await findAccounts(query, email) : []
      const account = { name, passwordHash, tenantId, email, role, legacyUserId, subject, isProven }
      const member = await createMember(query, operator, account)
      const tenantIds = others.flatMap(({ tenantId }) => tenantId ?? [])
      return { member, tookOver: await slugsOf(query, tenantIds) }
    })
  })
}

type InviteOptions = Pick<CreateOptions, 'tenant' | 'email' | 'role'>

/** The link proves nothing about the address, because the operator sees it. */
const invite = ({ tenant, email, role }: InviteOptions) => {
  const config = readConfig()
  if (config.outsideIssuer)
    throw new Refusal('people sign in at AUTH_ISSUER: add them by `masthead user create` with --subject or --proven')
  return inTransaction(async (query) => {
    const { id: tenantId } = await findTenant(query, tenant)
    if (!isEmail(email)) throw new Refusal(`"${email}" is not an e-mail address: write it like ada@acme.example`)
    if (await isMember(query, tenantId, email))
      throw new Refusal(`${email} is already a member of this tenant; \`masthead member role\` changes the role`)
    const secret = newInvitationSecret()
    const given = { tenantId, email, role, invitedBy: null, secret, isMailed: false }
    const invitation = await createInvitation(query, operator, given)
    return { ...invitation, url: `${config.authUrl ?? baseUrlOf(config)}/oauth2/invitations/${secret}` }
  })
}

const addExisting = (options: CreateOptions): Promise<Created> => {
  const { tenant, email, role, legacyUserId = null } = options
  if (options.proven || options.name !== undefined || options.passwordStdin || options.subject !== undefined)
    throw new Refusal('--existing adds an account as it is: leave --name, --subject, --password-stdin and --proven out')
  return inTransaction(async (query) => {
    const { id: tenantId } = await findTenant(query, tenant)
    const account = await findProvenUser(query, email)
    if (!account) throw new Refusal(`${email} has no proven account: leave --existing out to make one`)
    return { member: await addMember(query, operator, account, { tenantId, role, legacyUserId }), tookOver: [] }
  })
}

/** Finds the one account of the address, or the one that is a member of the tenant. */
const findAccount = async (query: Query, { email, tenant }: AccountOptions): Promise<User> => {
  const accounts = await findAccounts(query, email)
  if (tenant !== undefined) {
    const { id: tenantId } = await findTenant(query, tenant)
    for (const account of accounts) if (await findMemberById(query, tenantId, account.id)) return account
    throw new Refusal(`${email} is not a member of ${tenant}; \`masthead user list\` shows who is`)
  }
  const [account, ...others] = accounts
  if (!account)
    throw new Refusal(`there is no user ${email}; \`masthead user list --tenant <slug>\` shows who is in a tenant`)
  if (others.length > 0)
    throw new Refusal(`${email} has ${accounts.length} accounts: name a tenant of one with --tenant`)
  return account
}

const slugsOf = (query: Query, tenantIds: readonly string[]): Promise<string[]> =>
  Promise.all(tenantIds.map(async (id) => (await findTenantById(query, id)).slug))

const showTookOver = (slugs: readonly string[]): void => {
  if (slugs.length > 0)
    showLines(
      `It took over the membership of ${slugs.join(', ')}: the unproven account there, its password, sessions and tokens no longer work.`,
    )
}

const readPassword = async (): Promise<string> => {
  const piped = await readPiped('pipe the password in: printf %s "$PASSWORD" | masthead user …')
  // The line end that `echo` adds is not part of the password.
  return piped.replace(/\r?\n$/, '')
}
