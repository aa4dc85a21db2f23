import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** This program under another version and with more migrations, in a folder that goes with the test file; answers its main file. */
export const buildNextVersion = async (
  version: string,
  migrations: Readonly<Record<string, string>>,
): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), `masthead-${version}-`))
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const server = join(folder, 'server')
  const filter = (path: string) => !path.endsWith('.test.ts')
  await cp(join(root, 'server/src'), join(server, 'src'), { recursive: true, filter })
  for (const name of ['node_modules', 'contract', 'console']) await symlink(join(root, name), join(folder, name))
  await symlink(join(root, 'server/node_modules'), join(server, 'node_modules'))
  const description = JSON.parse(await readFile(join(root, 'server/package.json'), 'utf8'))
  await writeFile(join(server, 'package.json'), JSON.stringify({ ...description, version }))
  for (const [name, sql] of Object.entries(migrations))
    await writeFile(join(server, 'src/database/schema/migrations', name), sql)
  return join(server, 'src/main.js')
}
