import { basePath } from '@masthead/contract'
import { Command } from 'commander'
import { operator } from '../audit/author.ts'
import { baseUrlOf, readConfig } from '../config.ts'
import type { Query } from '../database/connections/statement.ts'
import { findMember } from '../identity/people/members.ts'
import { findTenant } from '../identity/people/tenants.ts'
import {
  type AccessToken,
  createToken,
  listTokens,
  type NewAccessToken,
  revokeToken,
  rotateToken,
  type ShownToken,
} from '../identity/tokens/access-tokens.ts'
import { Refusal } from '../refusal.ts'
import { action } from './action.ts'
import { readDuration, readScopes } from './options.ts'
import { curlLine, faint, showLines, showTable, strong } from './output.ts'
import { inTransaction, withDatabase } from './with-database.ts'

type CreateOptions = {
  tenant: string
  user?: string
  service?: string
  name?: string
  scopes: string
  expires?: string
  defaultAssignee?: string
}

export const token = (): Command => {
  const command = new Command('token').description('manage personal access tokens and service tokens')

  action(
    command
      .command('create')
      .description('create a token for a user or for an integration; it is shown once')
      .requiredOption('--tenant <slug>', 'the tenant')
      .option('--user <email>', 'a personal access token of this member')
      .option('--service <name>', 'a service token for the integration of this name')
      .option('--name <name>', 'what the token is for')
      .requiredOption('--scopes <scopes>', 'what it may do, as contacts:read,accounts:read')
      .option('--expires <duration>', 'how long it lives (default: 90d for a user, at most 366d; 365d for a service)')
      .option('--default-assignee <userId>', 'legacy user who gets tasks that name nobody (service tokens)'),
    (options: CreateOptions) =>
      inTransaction(async (query) => createToken(query, operator, await readNewToken(query, options))),
    showToken,
  )

  action(
    command
      .command('list')
      .description('show the tokens of a tenant, never their secrets')
      .requiredOption('--tenant <slug>', 'the tenant'),
    ({ tenant }: { tenant: string }) =>
      withDatabase(async ({ query }) => listTokens(query, (await findTenant(query, tenant)).id)),
    (tokens) =>
      showTable(
        tokens.map((one) => ({ ...one, holder: one.user ?? one.service, state: stateOf(one) })),
        ['id', 'kind', 'holder', 'name', 'scopes', 'state', 'lastUsedAt'],
        'No token yet: masthead token create',
      ),
  )

  action(
    command.command('revoke <id>').description('end a token at once'),
    (id: string) => inTransaction((query) => revokeToken(query, operator, id)),
    ({ name }) => showLines(`Token ${strong(name)} is revoked.`),
  )

  action(
    command
      .command('rotate <id>')
      .description('create a successor of a service token; the old one stays valid for the overlap')
      .option('--overlap <duration>', 'how long the old one stays valid', '24h'),
    (id: string, options: { overlap: string }) => {
      const overlap = readDuration(options.overlap)
      return inTransaction((query) => rotateToken(query, operator, id, overlap))
    },
    (rotated) => {
      showToken(rotated)
      showLines(faint(`The old token works until ${rotated.replaces.expiresAt.toISOString()}.`))
    },
  )

  return command
}

const readNewToken = async (query: Query, options: CreateOptions): Promise<NewAccessToken> => {
  const { user, service, name = service, defaultAssignee } = options
  if ((user === undefined) === (service === undefined))
    throw new Refusal('say whose token it is: --user <email> or --service <name>')
  if (name === undefined) throw new Refusal('say what the token is for: --name <name>')
  if (user !== undefined && defaultAssignee !== undefined) {
    throw new Refusal('--default-assignee is for service tokens; a user has a legacy user id: leave it out')
  }
  const { id: tenantId } = await findTenant(query, options.tenant)
  const lifetime = options.expires === undefined ? undefined : readDuration(options.expires)
  if (lifetime === 0) throw new Refusal('a token that expires at once is of no use: write 90d, 24h, 30m or 45s')
  const given = { tenantId, name, scopes: readScopes(options.scopes), lifetime }
  return service === undefined
    ? { ...given, userId: (await findMember(query, tenantId, user ?? '')).id }
    : { ...given, service, defaultAssignee: defaultAssignee ?? null }
}

const showToken = ({ token: secret, scopes, expiresAt, id }: ShownToken): void => {
  showLines(strong(secret), `It is shown only now. It may ${scopes.join(', ')} until ${expiresAt.toISOString()}.`)
  const [list] = scopes.flatMap((scope) => (scope.endsWith(':read') ? scope.slice(0, -':read'.length) : []))
  if (list) showLines(`Try it: ${curlLine(baseUrlOf(readConfig()) + basePath, secret, list)}`)
  showLines(faint(`To end it: masthead token revoke ${id}`))
}

const stateOf = ({ revokedAt, expiresAt }: AccessToken): string => {
  if (revokedAt) return 'revoked'
  return expiresAt.getTime() <= Date.now() ? 'expired' : `until ${expiresAt.toISOString().slice(0, 10)}`
}
