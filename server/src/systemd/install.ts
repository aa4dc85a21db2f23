import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { type Account, ensureOwnAccount } from '../database/embedded/privileges.ts'
import { Refusal } from '../refusal.ts'
import { ownProgram } from './service-settings.ts'
import { account, firstLine, settingsFile, stateFolder, unitFile, unitText } from './unit.ts'

const run = promisify(execFile)

const settings = `# The settings of the service, which \`sudo masthead …\` uses, too. After a change: systemctl restart masthead
# All variables: docs/reference/configuration.md. Put a value with spaces, quotes or # in 'single quotes'.

# The unit lets the service write to this folder only.
MASTHEAD_DATA_DIR=${stateFolder}

# The address under which callers reach the service, and the proxy with TLS that takes them there.
#BASE_URL=https://api.example.com
#TRUST_PROXY=127.0.0.1

# A PostgreSQL of your own instead of the embedded one.
#DATABASE_URL=postgres://masthead:secret@db.example.com/masthead
`

/** Writes what a service needs, and tells each thing that it does. It starts nothing. */
export const installService = async ({ replace }: { replace: boolean }, say: (line: string) => void): Promise<void> => {
  requireSystemd('install')
  requireVisible()
  const found = await readFile(unitFile, 'utf8').catch(() => null)
  if (found !== null && !found.startsWith(firstLine) && !replace)
    throw new Refusal(
      `${unitFile} is a unit of your own: --force replaces it, and \`masthead service install --print\` shows by what`,
    )
  const owner = await ensureOwnAccount(say)
  if (!owner) throw new Refusal(`the account "${account}" cannot be created: add it by \`useradd --system ${account}\``)
  await requireReach(owner)

  if (await mkdir(stateFolder, { recursive: true, mode: 0o700 }))
    say(`Created ${stateFolder} for the data, which ${account} owns`)
  await chown(stateFolder, owner.uid, owner.gid)
  await chmod(stateFolder, 0o700)

  await mkdir(dirname(settingsFile), { recursive: true })
  if (existsSync(settingsFile)) say(`Kept the settings in ${settingsFile}`)
  else {
    await writeFile(settingsFile, settings, { mode: 0o600 })
    say(`Wrote the settings to ${settingsFile}, which only root may read`)
  }

  const unit = unitText(ownProgram)
  if (unit === found) say(`${unitFile} is up to date`)
  else {
    await writeFile(unitFile, unit, { mode: 0o644 })
    say(`${found === null ? 'Wrote' : 'Replaced'} ${unitFile}: it runs ${ownProgram.main} as ${account}, hardened`)
  }
  await run('systemctl', ['daemon-reload'])
}

/** Removes the unit. Data, settings and account stay. */
export const uninstallService = async (say: (line: string) => void): Promise<void> => {
  requireSystemd('uninstall')
  if (!existsSync(unitFile)) throw new Refusal('there is no service: `masthead service install` makes one')
  await run('systemctl', ['disable', '--now', 'masthead'])
  say('Stopped and disabled the service')
  await rm(unitFile)
  await run('systemctl', ['daemon-reload'])
  say(`Removed ${unitFile}`)
}

const requireSystemd = (name: string): void => {
  // What sd_booted(3) looks for.
  if (!existsSync('/run/systemd/system'))
    throw new Refusal(
      'systemd does not run here: run `masthead serve` under your own supervisor; `masthead service install --print` shows the unit',
    )
  if (process.getuid?.() !== 0) throw new Refusal(`only root can do this: run \`sudo masthead service ${name}\``)
}

/** The unit has a /tmp and a /var/tmp of its own. Home folders it can read, where they let the account in. */
const requireVisible = (): void => {
  const hidden = [ownProgram.main, ownProgram.node].find((path) => /^\/(var\/)?tmp\//.test(path))
  if (hidden !== undefined)
    throw new Refusal(
      `a systemd service cannot see ${hidden}, because it has a /tmp of its own: install Masthead elsewhere by ` +
        '`npm install --global`, and run `sudo masthead service install` again',
    )
}

/** Runs the program as the account, because mode bits alone do not tell. */
const requireReach = async ({ uid, gid }: Account): Promise<void> => {
  const { node, main } = ownProgram
  try {
    await run(node, [main, '--version'], { uid, gid, cwd: '/', env: {} })
  } catch (error) {
    throw new Refusal(
      `the account ${account} cannot run ${node} ${main}: install Node and Masthead where every user may read them, such as below /opt or /usr/local, ` +
        'by `npm install --global`',
      { cause: error },
    )
  }
}
