import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archive, type CorpusFile, corpus } from './corpus.ts'
import { type Made, run } from './programs/command.ts'
import { makeByLibreOffice } from './programs/libreoffice.ts'
import { makeByMariaDb } from './programs/mariadb.ts'
import { makeByPsql } from './programs/psql.ts'
import { makeByPython } from './programs/python.ts'

/**
 * Makes the files of this folder anew, all or those that are named, as root on Debian with libreoffice-calc-nogui,
 * postgresql, mariadb-server, python3-pandas, python3-openpyxl and zip:
 *
 *     node server/test/files/make-files.ts [name …]
 */
const home = import.meta.dirname
const notes = join(home, 'made.json')

const make = async (file: CorpusFile): Promise<Made> => {
  const folder = mkdtempSync(join(tmpdir(), 'masthead-files-'))
  const to = join(home, file.name)
  // Databases run as users of their own.
  chmodSync(folder, 0o755)
  try {
    if (file.program === 'libreoffice') return makeByLibreOffice(file, folder, to)
    if (file.program === 'psql') return makeByPsql(file, folder, to)
    if (file.program === 'mariadb') return await makeByMariaDb(file, folder, to)
    return makeByPython(file, to)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const zip = (): Made => {
  const folder = mkdtempSync(join(tmpdir(), 'masthead-files-'))
  mkdirSync(folder, { recursive: true })
  for (const [inside, name] of Object.entries(archive.holds)) copyFileSync(join(home, name), join(folder, inside))
  rmSync(join(home, archive.name), { force: true })
  run('zip', [
    '-q',
    '-j',
    '-X',
    join(home, archive.name),
    ...Object.keys(archive.holds).map((name) => join(folder, name)),
  ])
  rmSync(folder, { recursive: true })
  const command = `zip ${archive.name} ${Object.keys(archive.holds).join(' ')}`
  return { program: 'zip', version: run('zip', ['-v']).split('\n')[1]?.trim() ?? '', command }
}

const chosen = process.argv.slice(2)
const isChosen = (name: string): boolean => chosen.length === 0 || chosen.includes(name)
const made: Record<string, Made> = chosen.length === 0 ? {} : JSON.parse(readFileSync(notes, 'utf8'))
for (const file of corpus) if (isChosen(file.name)) made[file.name] = await make(file)
if (isChosen(archive.name)) made[archive.name] = zip()
writeFileSync(notes, `${JSON.stringify(made, null, 2)}\n`)
