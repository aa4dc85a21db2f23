import { Command } from 'commander'
import { operator } from '../audit/author.ts'
import {
  type Application,
  listApplications,
  registerApplication,
  setApplicationDisabled,
} from '../identity/applications.ts'
import { readScopes } from './options.ts'
import { faint, showJson, showLines, showTable, strong } from './output.ts'
import { withDatabase } from './with-database.ts'

type RegisterOptions = {
  name: string
  redirectUri?: string[]
  scopes: string
  refresh?: true
  native?: true
  clientId?: string
  json?: true
}

export const app = (): Command => {
  const command = new Command('app').description('applications that act for users by OAuth 2.0')

  command
    .command('register')
    .description('register an application; it is a public client and uses PKCE')
    .requiredOption('--name <name>', 'what users see when they are asked')
    .option('--redirect-uri <uri...>', 'where users are sent back to, exactly; may be repeated')
    .requiredOption('--scopes <scopes>', 'the most it may ask for, as contacts:read,accounts:read')
    .option('--refresh', 'give it refresh tokens')
    .option('--native', 'it runs on a device: any port of a loopback address, and private schemes')
    .option('--client-id <id>', 'its identifier at the outside issuer of AUTH_ISSUER')
    .option('--json', 'answer one JSON document')
    .action(async (options: RegisterOptions) => {
      const scopes = readScopes(options.scopes)
      const registered = await withDatabase((database) =>
        database.transaction((query) =>
          registerApplication(query, operator, {
            ...{ name: options.name, scopes, redirectUris: options.redirectUri ?? [] },
            ...{ isNative: options.native ?? false, mayRefresh: options.refresh ?? false },
            ...(options.clientId !== undefined && { clientId: options.clientId }),
          }),
        ),
      )
      if (options.json) showJson(registered)
      else showLines(strong(registered.clientId), `${registered.name} is registered; this is its client_id.`)
    })

  command
    .command('list')
    .description('show the applications')
    .option('--json', 'answer one JSON document')
    .action(async (options: { json?: true }) => {
      const applications = await withDatabase(({ query }) => listApplications(query))
      if (options.json) showJson(applications)
      else
        showTable(
          applications.map(summary),
          ['clientId', 'name', 'scopes', 'redirectUris', 'state'],
          'No application yet: masthead app register',
        )
    })

  for (const [name, disabled] of [
    ['disable', true],
    ['enable', false],
  ] as const) {
    command
      .command(`${name} <id>`)
      .description(disabled ? 'refuse an application and its tokens from now on' : 'let an application work again')
      .option('--json', 'answer one JSON document')
      .action(async (id: string, options: { json?: true }) => {
        const changed = await withDatabase((database) =>
          database.transaction((query) => setApplicationDisabled(query, operator, id, disabled)),
        )
        if (options.json) showJson(changed)
        else showLines(`${strong(changed.name)} is ${name}d.`, faint(changed.clientId))
      })
  }

  return command
}

const summary = (application: Application) => ({
  ...application,
  state: application.disabledAt ? 'disabled' : 'enabled',
})
