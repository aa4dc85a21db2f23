import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { installationSecret } from '../identity/tokens/installation-secret.ts'
import { rotateSigningKey } from '../identity/tokens/signing-keys.ts'
import { action } from './action.ts'
import { faint, showLines, strong } from './output.ts'
import { withDatabase } from './with-database.ts'

export const keys = (): Command => {
  const command = new Command('keys').description('manage the keys that sign access tokens')

  action(
    command
      .command('rotate')
      .description('sign with a new key from now on; the old one stays published until its tokens expire'),
    async () => {
      const secret = await installationSecret(readConfig())
      return { id: await withDatabase((database) => rotateSigningKey(database, secret)) }
    },
    ({ id }) => showLines(`${strong(id)} signs from now on.`, faint('Running servers use it within a second.')),
  )

  return command
}
