import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { runInSession } from '../processes/command-session.ts'
import type { Outcome } from '../processes/masthead-process.ts'
import { type Service, secret, type TestTenant } from '../service.ts'

/** Folders of files to import, which go with the test file. */
export const newFolder = async (files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-import-'))
  after(() => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return folder
}

export type Counts = { created: number; changed: number; unchanged: number; refused: number }

export const environmentOf = ({ connectionString }: Service) => ({
  DATABASE_URL: connectionString,
  MASTHEAD_SECRET: secret,
})

/** The command line on the tenant of a test. */
export const importer = (service: Service, tenant: TestTenant) => {
  const masthead = (...words: string[]): Promise<Outcome> =>
    runInSession([...words, '--tenant', tenant.slug], environmentOf(service))
  /** Imports and answers the summary, whether rows were refused or not. */
  const importAll = async (...words: string[]) => {
    const { code, stdout, stderr } = await masthead('import', ...words, '--json')
    assert.ok(code === 0 || code === 2, stderr)
    const summary: { id: string | null; files: (Counts & { file: string; resource: string })[] } = JSON.parse(stdout)
    const refused = summary.files.some((file) => file.refused > 0)
    assert.equal(code, refused ? 2 : 0)
    return summary
  }
  /** The same, as created, changed, unchanged, refused by resource. */
  const counts = async (...words: string[]): Promise<Record<string, number[]>> =>
    Object.fromEntries(
      (await importAll(...words)).files.map(({ resource, created, changed, unchanged, refused }) => [
        resource,
        [created, changed, unchanged, refused],
      ]),
    )
  /** What a command that cannot be carried out says. */
  const complaint = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await masthead('import', ...words)
    assert.deepEqual([code, stdout], [1, ''], stderr)
    assert.match(stderr, /^masthead: .*\n$/)
    return stderr.slice('masthead: '.length, -1)
  }
  return { masthead, importAll, counts, complaint }
}
