import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CorpusFile } from '../corpus.ts'
import { type Made, run } from './command.ts'
import { tableOf } from './database-table.ts'

const binaries = '/usr/lib/postgresql/15/bin'
const types = {
  text: 'text',
  date: 'date',
  timestamp: 'timestamptz',
  money: 'numeric(15,2)',
  integer: 'integer',
  boolean: 'boolean',
}

export const makeByPsql = (file: CorpusFile, folder: string, to: string): Made => {
  const { format = 'csv', separator, timeZone = 'UTC' } = file.how ?? {}
  const home = join(folder, 'postgres')
  mkdirSync(home)
  run('chown', ['postgres', home])
  const asPostgres = (program: string, ...args: string[]) => run('runuser', ['-u', 'postgres', '--', program, ...args])
  asPostgres(
    join(binaries, 'initdb'),
    '-D',
    join(home, 'data'),
    '-A',
    'trust',
    '--encoding',
    'UTF8',
    '--locale',
    'C.UTF-8',
  )
  const server = ['-D', join(home, 'data'), '-w', '-l', join(home, 'log')]
  asPostgres(join(binaries, 'pg_ctl'), 'start', ...server, '-o', `-c listen_addresses= -k ${home}`)
  try {
    const made = join(home, 'made')
    const options = [
      `format ${format}`,
      'header',
      ...(separator === undefined ? [] : [`delimiter '${separator}'`]),
    ].join(', ')
    const copy = `\\copy records to '${made}' with (${options})`
    const script = join(home, 'script.sql')
    const literal = (_kind: string, value: string | number | boolean) => `'${String(value).replaceAll("'", "''")}'`
    writeFileSync(script, [`set timezone to '${timeZone}';`, tableOf(file, types, literal), copy].join('\n'))
    asPostgres('psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-h', home, '-f', script, 'postgres')
    writeFileSync(to, readFileSync(made))
    return { program: 'psql', version: run('psql', ['--version']).trim(), command: copy.replace(made, file.name) }
  } finally {
    asPostgres(join(binaries, 'pg_ctl'), 'stop', '-D', join(home, 'data'), '-m', 'fast', '-w')
  }
}
