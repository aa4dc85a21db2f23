import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CorpusFile } from '../corpus.ts'
import { localTime } from './clock.ts'
import { type Made, run } from './command.ts'
import { tableOf } from './database-table.ts'

const types = {
  text: 'text',
  date: 'date',
  timestamp: 'datetime',
  money: 'decimal(15,2)',
  integer: 'int',
  boolean: 'tinyint(1)',
}

export const makeByMariaDb = async (file: CorpusFile, folder: string, to: string): Promise<Made> => {
  const home = join(folder, 'mariadb')
  const socket = join(home, 'socket')
  mkdirSync(home)
  run('chown', ['mysql', home])
  const data = `--datadir=${join(home, 'data')}`
  run('mariadb-install-db', ['--no-defaults', '--user=mysql', data, '--auth-root-authentication-method=normal'])
  const server = spawn('mariadbd', ['--no-defaults', '--user=mysql', data, `--socket=${socket}`, '--skip-networking'], {
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  try {
    run('mariadb-admin', ['--no-defaults', '--user=root', `--socket=${socket}`, '--wait=60', 'ping'])
    const literal = (kind: string, value: string | number | boolean) => {
      if (kind === 'boolean') return value ? '1' : '0'
      const text = kind === 'timestamp' ? localTime(String(value), file.clock ?? 'UTC') : String(value)
      return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
    }
    const client = ['--no-defaults', `--socket=${socket}`, '--user=root', '--default-character-set=utf8mb4']
    const sql = (input: string) => run('mariadb', [...client, 'publisher'], { input })
    run('mariadb', client, { input: 'create database publisher character set utf8mb4;' })
    sql(tableOf(file, types, literal))
    const version = run('mariadbd', ['--version']).trim()
    const headings = Object.keys(file.columns)
    if (file.how?.dump !== undefined) {
      run('mariadb-dump', [...client, `--tab=${home}`, 'publisher', 'records'])
      const header = Buffer.from(`${headings.join('\t')}\n`)
      writeFileSync(to, Buffer.concat([header, readFileSync(join(home, 'records.txt'))]))
      return {
        program: 'mariadb-dump',
        version,
        command: 'mariadb-dump --tab=. publisher records, after a line of its columns',
      }
    }
    const made = join(home, 'made')
    const isCsv = file.how?.separator !== undefined
    const fields = isCsv ? ` fields terminated by ',' optionally enclosed by '"'` : ''
    const names = headings.map((heading) => `'${heading}'`).join(', ')
    const select = `select ${names} union all select * from records into outfile '${made}' character set utf8mb4${fields};`
    sql(select)
    writeFileSync(to, readFileSync(made))
    return { program: 'MariaDB', version, command: select.replace(made, file.name) }
  } finally {
    server.kill('SIGTERM')
    await ended
  }
}
