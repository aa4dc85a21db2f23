import * as fs from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

type Link = { source: string; target: string }

/**
 * Makes the names by which the libraries of PostgreSQL are loaded, such as libpq.so.5, where npm has not: they are links, which no package
 * of npm can hold, and its install scripts are often forbidden. They lie in the data directory, because the program may not be writable.
 * Returns the variable by which the system finds them, or none where nothing is missing.
 */
export const linkLibraries = async (native: string, parent: string): Promise<NodeJS.ProcessEnv> => {
  const list = await fs.readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: Link[] = JSON.parse(list)
  const places = links.map(
    ({ source, target }) => [join(dirname(native), source), join(dirname(native), target)] as const,
  )
  const isThere = await Promise.all(
    places.map(([, target]) =>
      fs.access(target).then(
        () => true,
        () => false,
      ),
    ),
  )
  if (!isThere.includes(false)) return {}
  const folder = join(parent, 'postgres-libraries')
  await fs.mkdir(folder, { recursive: true })
  for (const [source, target] of places) await replaceLink(source, join(folder, basename(target)))
  // A library that is found by its link looks for others beside the link.
  const name = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'
  return { [name]: `${folder}:${join(native, 'lib')}` }
}

/** Another release, in another place, may have made it. */
const replaceLink = async (source: string, path: string): Promise<void> => {
  if ((await fs.readlink(path).catch(() => '')) === source) return
  const draft = `${path}.${process.pid}`
  await fs.symlink(source, draft)
  await fs.rename(draft, path)
}
