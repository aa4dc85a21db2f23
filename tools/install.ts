import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * Installs what the lock file of a folder names, unless it is installed: `node tools/install.ts tools`. Linters, browsers and peers of the
 * bench have lock files of their own, so that who only runs or builds Masthead does not load them.
 */
const [folder = '.'] = process.argv.slice(2).map((path) => resolve(path))
const lock = join(folder, 'package-lock.json')
const installed = join(folder, 'node_modules/.installed-lock.json')

if (!existsSync(installed) || !readFileSync(installed).equals(readFileSync(lock))) {
  const options = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', options, { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
  copyFileSync(lock, installed)
}
