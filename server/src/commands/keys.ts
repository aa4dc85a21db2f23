import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { ensureSecret } from '../identity/installation-secret.ts'
import { rotateSigningKey } from '../identity/signing-keys.ts'
import { faint, showJson, showLines, strong } from './output.ts'
import { withDatabase } from './with-database.ts'

export const keys = (): Command => {
  const command = new Command('keys').description('the keys that sign access tokens')

  command
    .command('rotate')
    .description('sign with a new key from now on; the old one stays published while its tokens live')
    .option('--json', 'answer one JSON document')
    .action(async (options: { json?: true }) => {
      const config = readConfig()
      const secret = config.secret ?? (await ensureSecret(config.dataDirectory))
      const id = await withDatabase((database) => rotateSigningKey(database, secret))
      if (options.json) showJson({ id })
      else showLines(`${strong(id)} signs from now on.`, faint('Running servers take it up within a second.'))
    })

  return command
}
