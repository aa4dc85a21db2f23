import { execFile } from 'node:child_process'
import { appendFile, chmod, chown, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** Makes the copy of a closed data folder of the embedded PostgreSQL a standby of it. */
export const makeStandby = async (primary: string, standby: string, connectionString: string): Promise<void> => {
  // With the owners of the files.
  await promisify(execFile)('cp', ['-a', `${primary}/.`, standby])
  // The standby runs as the owner of the files, and connects by the socket.
  for (const passed of [primary, dirname(primary)]) await chmod(passed, 0o711)
  const folder = join(standby, 'postgres')
  const { uid, gid } = await stat(join(primary, 'postgres'))
  const { password } = new URL(connectionString)
  const source = `host=${join(primary, 'postgres')} port=5432 user=postgres password=${password}`
  await writeFile(join(folder, 'standby.signal'), '')
  await chown(join(folder, 'standby.signal'), uid, gid)
  await appendFile(join(folder, 'postgresql.auto.conf'), `\nprimary_conninfo = '${source}'\n`)
  await rm(join(folder, 'postmaster.pid'), { force: true })
}
