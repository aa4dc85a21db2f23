import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type pg from 'pg'
import type { Tenant } from './data.ts'
import { percentile } from './percentiles.ts'
import { connectAsSuperuser, superuserOf } from './served.ts'
import type { Measured } from './slice.ts'

/** The same contacts as over HTTP, one row a transaction, straight into the table with all its indexes. */
type SingleInserts = {
  by: 'pgbench' | 'a loop over pg'
  measure: (connections: number, seconds: number) => Promise<Measured>
}

export const singleInserts = (dataDirectory: string, tenants: Tenant[]): SingleInserts => {
  const pgbench = findPgbench()
  return pgbench
    ? {
        by: 'pgbench',
        measure: (...load) => byPgbench(dataDirectory, pgbench, statement(tenants, ':client_id'), ...load),
      }
    : { by: 'a loop over pg', measure: (...load) => byLoop(dataDirectory, statement(tenants, '$1::integer'), ...load) }
}

const statement = (tenants: Tenant[], connection: string): string => {
  const ofConnection = (values: string[], type: string) =>
    `(array[${values.map((value) => `'${value}'`).join(', ')}]::${type}[])[1 + ${connection} % ${values.length}]`
  const tenant = ofConnection(
    tenants.map(({ id }) => id),
    'uuid',
  )
  const account = ofConnection(
    tenants.map(({ contacts }) => contacts[0]?.accountId ?? ''),
    'text',
  )
  return `insert into contacts
      (tenant_id, class, body, id, account_id, name, first_name, last_name, title, email, phone, created_at, updated_at)
    values (${tenant}, 0, repeat('b', 450), uuidv7(), ${account}, 'Ada Lovelace', 'Ada', 'Lovelace', 'Head Librarian',
      'ada.01234567@example.com', '+49 30 555 0100', now(), now())`
}

/** Not among the programs of the embedded PostgreSQL. Debian keeps it beside the server's, out of the path. */
const findPgbench = (): string | null => {
  const folder = '/usr/lib/postgresql'
  const versions = (() => {
    try {
      return readdirSync(folder)
    } catch {
      return []
    }
  })()
  const candidates = ['pgbench', ...versions.map((version) => join(folder, version, 'bin/pgbench'))]
  return candidates.find((candidate) => spawnSync(candidate, ['--version']).status === 0) ?? null
}

const byPgbench = async (
  dataDirectory: string,
  program: string,
  script: string,
  connections: number,
  seconds: number,
): Promise<Measured> => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-bench-'))
  try {
    const file = join(folder, 'insert.sql')
    await writeFile(file, `${script.replaceAll(/\s*\n\s*/g, ' ')};\n`)
    const words = ['-n', '-M', 'prepared', '-c', connections, '-j', 1, '-T', Math.ceil(seconds), '-f', file]
    const child = spawn(program, words.map(String), {
      env: { ...process.env, ...(await superuserOf(dataDirectory)) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    if (child.exitCode !== 0) throw new Error(`pgbench failed: ${complained}`)
    // It says no rate where all the time went by before it was connected, as on a very busy machine.
    return { rate: Number(/^tps = ([\d.]+)/m.exec(said)?.[1]), p50: Number.NaN, p99: Number.NaN }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const byLoop = async (
  dataDirectory: string,
  insert: string,
  connections: number,
  seconds: number,
): Promise<Measured> => {
  const clients = await Promise.all(Array.from({ length: connections }, () => connectAsSuperuser(dataDirectory)))
  const start = performance.now()
  const latencies: number[] = []
  const loop = async (client: pg.Client, number: number) => {
    while (performance.now() - start < seconds * 1_000) {
      const begun = performance.now()
      await client.query({ name: 'insert', text: insert, values: [number] })
      latencies.push(performance.now() - begun)
    }
  }
  await Promise.all(clients.map(loop))
  const rate = (latencies.length / (performance.now() - start)) * 1_000
  await Promise.all(clients.map((client) => client.end()))
  latencies.sort((a, b) => a - b)
  return { rate, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
}
