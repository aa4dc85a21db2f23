import { Command } from 'commander'
import { operator } from '../audit/author.ts'
import type { Query } from '../database/connection.ts'
import {
  type AccessToken,
  createToken,
  type ListedToken,
  listTokens,
  type NewAccessToken,
  revokeToken,
  rotateToken,
  type ShownToken,
} from '../identity/access-tokens.ts'
import { findMember } from '../identity/members.ts'
import { findTenant } from '../identity/tenants.ts'
import { Refusal } from '../refusal.ts'
import { readDuration } from './duration.ts'
import { readScopes } from './options.ts'
import { faint, showJson, showLines, showTable, strong } from './output.ts'
import { withDatabase } from './with-database.ts'

type CreateOptions = {
  tenant: string
  user?: string
  service?: string
  name?: string
  scopes: string
  expires?: string
  defaultAssignee?: string
  json?: true
}

export const token = (): Command => {
  const command = new Command('token').description('personal access tokens and service tokens')

  command
    .command('create')
    .description('make a token for a user or for an integration; it is shown once')
    .requiredOption('--tenant <slug>', 'the tenant')
    .option('--user <email>', 'a personal access token of this member')
    .option('--service <name>', 'a service token for the integration of this name')
    .option('--name <name>', 'what the token is for')
    .requiredOption('--scopes <scopes>', 'what it may do, as contacts:read,accounts:read')
    .option('--expires <duration>', 'how long it lives (default: 90d for a user, at most 366d; 365d for a service)')
    .option('--default-assignee <userId>', 'legacy user who gets tasks that name nobody (service tokens)')
    .option('--json', 'answer one JSON document')
    .action(async (options: CreateOptions) => {
      const created = await withDatabase((database) =>
        database.transaction(async (query) => createToken(query, operator, await readNewToken(query, options))),
      )
      if (options.json) showJson(created)
      else showToken(created)
    })

  command
    .command('list')
    .description('show the tokens of a tenant, never their secrets')
    .requiredOption('--tenant <slug>', 'the tenant')
    .option('--json', 'answer one JSON document')
    .action(async (options: { tenant: string; json?: true }) => {
      const tokens = await withDatabase(async ({ query }) =>
        listTokens(query, (await findTenant(query, options.tenant)).id),
      )
      if (options.json) showJson(tokens)
      else
        showTable(
          tokens.map(summary),
          ['id', 'kind', 'holder', 'name', 'scopes', 'state', 'lastUsedAt'],
          'No token yet: masthead token create',
        )
    })

  command
    .command('revoke <id>')
    .description('end a token at once')
    .option('--json', 'answer one JSON document')
    .action(async (id: string, options: { json?: true }) => {
      const revoked = await withDatabase((database) =>
        database.transaction((query) => revokeToken(query, operator, id)),
      )
      if (options.json) showJson(revoked)
      else showLines(`Token ${strong(revoked.name)} is revoked.`)
    })

  command
    .command('rotate <id>')
    .description('make a successor of a service token; the old one lives on for the overlap')
    .option('--overlap <duration>', 'how long the old one lives on', '24h')
    .option('--json', 'answer one JSON document')
    .action(async (id: string, options: { overlap: string; json?: true }) => {
      const overlap = readDuration(options.overlap)
      const rotated = await withDatabase((database) =>
        database.transaction((query) => rotateToken(query, operator, id, overlap)),
      )
      if (options.json) return showJson(rotated)
      showToken(rotated)
      showLines(faint(`The old token works until ${rotated.replaces.expiresAt.toISOString()}.`))
    })

  return command
}

const readNewToken = async (query: Query, options: CreateOptions): Promise<NewAccessToken> => {
  const { user, service, name = service, defaultAssignee } = options
  if ((user === undefined) === (service === undefined))
    throw new Refusal('say whose token it is: --user <email> or --service <name>')
  if (name === undefined) throw new Refusal('say what the token is for: --name <name>')
  if (user !== undefined && defaultAssignee !== undefined) {
    throw new Refusal('--default-assignee is for service tokens; a user has a legacy user id')
  }
  const { id: tenantId } = await findTenant(query, options.tenant)
  const lifetime = options.expires === undefined ? undefined : readDuration(options.expires)
  if (lifetime === 0) throw new Refusal('a token that expires at once is of no use: write 90d, 24h, 30m or 45s')
  const given = { tenantId, name, scopes: readScopes(options.scopes), lifetime }
  return service === undefined
    ? { ...given, userId: (await findMember(query, tenantId, user ?? '')).id }
    : { ...given, service, defaultAssignee: defaultAssignee ?? null }
}

const showToken = ({ token: secret, scopes, expiresAt, id }: ShownToken): void =>
  showLines(
    strong(secret),
    `It is shown only now. It may ${scopes.join(', ')} until ${expiresAt.toISOString()}.`,
    faint(`To end it: masthead token revoke ${id}`),
  )

const summary = (given: ListedToken) => ({ ...given, holder: given.user ?? given.service, state: stateOf(given) })

const stateOf = ({ revokedAt, expiresAt }: AccessToken): string => {
  if (revokedAt) return 'revoked'
  return expiresAt.getTime() <= Date.now() ? 'expired' : `until ${expiresAt.toISOString().slice(0, 10)}`
}
