import { Command } from 'commander'
import { operator } from '../audit/author.ts'
import { listApplications, registerApplication, setApplicationDisabled } from '../identity/people/applications.ts'
import { action } from './action.ts'
import { readScopes } from './options.ts'
import { faint, showLines, showTable, strong } from './output.ts'
import { inTransaction, withDatabase } from './with-database.ts'

type RegisterOptions = {
  name: string
  redirectUri?: string[]
  scopes: string
  refresh?: true
  native?: true
  clientId?: string
}

export const app = (): Command => {
  const command = new Command('app').description('manage applications that act for users by OAuth 2.0')

  action(
    command
      .command('register')
      .description('register an application; it is a public client and uses PKCE')
      .requiredOption('--name <name>', 'the name that users see when they are asked for consent')
      .option('--redirect-uri <uri...>', 'where users are sent back to, exactly; may be repeated')
      .requiredOption('--scopes <scopes>', 'the most it may ask for, as contacts:read,accounts:read')
      .option('--refresh', 'give it refresh tokens')
      .option('--native', 'it runs on a device: any port of a loopback address, and private schemes')
      .option('--client-id <id>', 'its identifier at the outside issuer of AUTH_ISSUER'),
    ({ name, scopes, redirectUri, native, refresh, clientId }: RegisterOptions) => {
      const application = {
        name,
        scopes: readScopes(scopes),
        redirectUris: redirectUri ?? [],
        isNative: native ?? false,
        mayRefresh: refresh ?? false,
        ...(clientId !== undefined && { clientId }),
      }
      return inTransaction((query) => registerApplication(query, operator, application))
    },
    ({ clientId, name }) => showLines(strong(clientId), `${name} is registered; this is its client_id.`),
  )

  action(
    command.command('list').description('show the applications'),
    () => withDatabase(({ query }) => listApplications(query)),
    (applications) =>
      showTable(
        applications.map((one) => ({ ...one, state: one.disabledAt ? 'disabled' : 'enabled' })),
        ['clientId', 'name', 'scopes', 'redirectUris', 'state'],
        'No application yet: masthead app register',
      ),
  )

  for (const [name, description] of [
    ['disable', 'refuse an application and its tokens from now on'],
    ['enable', 'let an application work again'],
  ] as const)
    action(
      command.command(`${name} <id>`).description(description),
      (id: string) => inTransaction((query) => setApplicationDisabled(query, operator, id, name === 'disable')),
      (changed) => showLines(`${strong(changed.name)} is ${name}d.`, faint(changed.clientId)),
    )

  return command
}
