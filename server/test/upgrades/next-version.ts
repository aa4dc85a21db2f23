import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** A copy of this program that becomes other versions of it, with more migrations. It goes with the test file. */
export const copyProgram = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-next-'))
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const server = join(folder, 'server')
  const filter = (path: string) => !path.endsWith('.test.ts')
  await cp(join(root, 'server/src'), join(server, 'src'), { recursive: true, filter })
  for (const name of ['node_modules', 'contract', 'console']) await symlink(join(root, name), join(folder, name))
  await symlink(join(root, 'server/node_modules'), join(server, 'node_modules'))
  const description = JSON.parse(await readFile(join(root, 'server/package.json'), 'utf8'))
  return {
    main: join(server, 'src/main.js'),
    /** What runs already stays what it was. */
    become: async (version: string, migrations: Readonly<Record<string, string>>): Promise<void> => {
      await writeFile(join(server, 'package.json'), JSON.stringify({ ...description, version }))
      for (const [name, sql] of Object.entries(migrations))
        await writeFile(join(server, 'src/database/schema/migrations', name), sql)
    },
  }
}
