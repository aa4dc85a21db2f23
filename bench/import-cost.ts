import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import copyStreams from 'pg-copy-streams'
import { memoryWithChildren } from './memory.ts'
import { connectAsSuperuser, environmentOf, type Served, serve } from './served.ts'

/**
 * What an import costs beside a bare COPY of the same file by a superuser, into a table with the same columns, generated
 * ones included, and the same indexes: `npm run bench:import [rows]`. Somebody reads the tenant all the while.
 */
const dataDirectory = resolve('.masthead/bench-import')

/** Seconds of the bare COPYs, the mean of one before and one after, and of the import. */
type ImportCost = { rows: number; plain: number; searchable: number; imported: Imported; read: Read }

export const importCost = async (rows: number): Promise<ImportCost> => {
  const folder = join(dataDirectory, `files-with-keys-${rows}`)
  await makeFiles(folder, rows)
  const served = await serve(dataDirectory)
  try {
    const database = await connectAsSuperuser(dataDirectory)
    const tenant = `bench-${Date.now()}`
    served.masthead('tenant', 'create', tenant, '--name', 'Bench')
    const reader = readAllTheWhile(served, tenant)
    await importFile(tenant, join(folder, 'accounts.csv'))
    const contacts = join(folder, 'contacts.csv')
    const withKeys = join(folder, 'contacts-with-keys.csv')
    const before = await bareCopy(database, tenant, withKeys)
    await database.query('checkpoint')
    reader.begin()
    const imported = await importFile(tenant, contacts)
    const read = reader.end()
    await database.query('checkpoint')
    const after = await bareCopy(database, tenant, withKeys)
    await database.end()
    const [plain, searchable] = [(before.plain + after.plain) / 2, (before.searchable + after.searchable) / 2]
    return { rows, plain, searchable, imported, read }
  } finally {
    await served.stop()
  }
}

const show = ({ rows, plain, searchable, imported, read }: ImportCost): void => {
  const timed = (what: string, seconds: number) =>
    `${what.padEnd(50)} ${seconds.toFixed(1).padStart(7)} s  ${Math.round(rows / seconds)} rows/s`
  const memory = Math.round(imported.memory / 1024 / 1024)
  const lines = [
    timed('COPY, the indexes of contacts', plain),
    timed('COPY, the same and a trigram index for search', searchable),
    timed('import, which keeps all of them', imported.seconds),
    '',
    `speed of the import ÷ COPY with all indexes        ${(searchable / imported.seconds).toFixed(2)}     at least 0.5`,
    `speed of the import ÷ COPY without search          ${(plain / imported.seconds).toFixed(2)}`,
    `memory of the import                               ${memory} MiB  at most 300`,
    `pages read meanwhile                               ${read.count}, slowest ${Math.round(read.slowest)} ms, failed ${read.failed}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

const firstNames =
  'Ada Grace Edsger Barbara Donald Frances Niklaus Radia Alan Margaret Kurt Emmy Łukasz Zoë Jürgen Σοφία'.split(' ')
const lastNames =
  'Lovelace Hopper Dijkstra Liskov Knuth Allen Wirth Perlman Turing Hamilton Gödel Noether Kowalski Müller'.split(' ')
const titles = ['Librarian', 'Head of Purchasing', 'Editor', 'Dean', 'Office Manager', '']

/** What names are sorted by, which the import makes itself. */
const keyOf = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

const makeFiles = async (folder: string, rows: number): Promise<void> => {
  if (existsSync(folder)) return
  const accounts = Math.ceil(rows / 10)
  const draft = `${folder}.draft`
  await mkdir(draft, { recursive: true })
  const write = (name: string, lines: Generator<string>) => pipeline(lines, createWriteStream(join(draft, name)))
  await write(
    'accounts.csv',
    (function* () {
      yield 'accountId,company\n'
      for (let number = 0; number < accounts; number++) yield `B-${number},Company ${number}\n`
    })(),
  )
  const contacts = function* (areKeysGiven: boolean) {
    const keys = areKeysGiven ? ',nameKey,firstNameKey,lastNameKey,emailKey' : ''
    yield `id,accountId,externalId,name,firstName,lastName,phone,email,title,doNotEmail,createdAt,updatedAt${keys}\n`
    for (let number = 0; number < rows; number++) {
      const first = firstNames[(number * 7) % firstNames.length] ?? ''
      const last = lastNames[(number * 13) % lastNames.length] ?? ''
      const id = `01890000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
      const phone = `+49 ${(number * 7919) % 100_000_000}`
      const email = `${(number * 104_729) % 1_000_003}.${last.toLowerCase()}@company-${number % accounts}.example`
      const time = new Date(1_600_000_000_000 + number * 1_000).toISOString()
      yield `${id},B-${number % accounts},x${number},${first} ${last},${first},${last},${phone},${email},${titles[number % titles.length]},${number % 3 === 0},${time},${time}`
      yield areKeysGiven ? `,${[`${first} ${last}`, first, last, email].map(keyOf)}\n` : '\n'
    }
  }
  await write('contacts.csv', contacts(false))
  await write('contacts-with-keys.csv', contacts(true))
  await rename(draft, folder)
}

/** SQL: about what a response holds. */
const bodyOfBare = ['id', 'account_id', 'name', 'first_name', 'last_name', 'phone', 'phone2', 'email', 'title', 'notes']
  .map((column) => `'"${column}":"' || coalesce(${column}::text, '') || '",'`)
  .join(' || ')

type Copied = { plain: number; searchable: number }

/** Into new tables, which are dropped at once. What the write path makes of a record, a
 * generated column does here; keys come with the file. */
const bareCopy = async (database: pg.Client, tenant: string, file: string): Promise<Copied> => {
  const seconds: number[] = []
  for (const search of [false, true]) {
    await database.query(
      `select set_config('masthead.tenant', (select id::text from tenants where slug = $1), false)`,
      [tenant],
    )
    await database.query(`
      drop table if exists bare; drop sequence if exists bare_position; create sequence bare_position cache 1000;
      create table bare (like contacts including all);
      alter table bare alter column position set default nextval('bare_position'), alter column class set default 0,
        alter column version set default nextval('bare_position'),
        drop column body, add column body text generated always as (${bodyOfBare}) stored,
        add foreign key (tenant_id, account_id) references accounts (tenant_id, account_id)`)
    if (search) {
      const fields = ['name', 'first_name', 'last_name', 'email', 'phone', 'phone2', 'title']
      const text = fields.map((field) => `coalesce(${field}, '')`).join(` || ' ' || `)
      await database.query(`
        alter table bare add column text text generated always as (lower(${text})) stored;
        create index on bare using gin (tenant_id, text gin_trgm_ops)`)
    }
    const columns =
      'id,account_id,external_id,name,first_name,last_name,phone,email,title,do_not_email,created_at,updated_at'
    const keys = 'name_key,first_name_key,last_name_key,email_key'
    const copy = database.query(copyStreams.from(`copy bare (${columns},${keys}) from stdin (format csv, header)`))
    const start = performance.now()
    await pipeline(createReadStream(file), copy)
    seconds.push((performance.now() - start) / 1_000)
    await database.query('drop table bare; drop sequence bare_position')
  }
  const [plain = 0, searchable = 0] = seconds
  return { plain, searchable }
}

/** The memory of both processes of an import together, the command and the one that reads, without PostgreSQL's. */
type Imported = { seconds: number; memory: number }

const importFile = async (tenant: string, file: string): Promise<Imported> => {
  const start = performance.now()
  const child = spawn('masthead', ['import', file, '--tenant', tenant], {
    env: environmentOf(dataDirectory),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let memory = 0
  const watch = setInterval(() => {
    memory = Math.max(memory, memoryWithChildren(child.pid ?? 0))
  }, 100)
  const [code] = await once(child, 'exit')
  clearInterval(watch)
  if (code !== 0) throw new Error(`the import of ${file} failed`)
  return { seconds: (performance.now() - start) / 1_000, memory }
}

type Read = { count: number; slowest: number; failed: number }

const readAllTheWhile = ({ api, masthead }: Served, tenant: string) => {
  const words = `token create --tenant ${tenant} --service bench --name bench --json --expires 1d --scopes contacts:read`
  const { token } = JSON.parse(masthead(...words.split(' ')))
  const read: Read = { count: 0, slowest: 0, failed: 0 }
  let timer: NodeJS.Timeout | undefined
  const readOne = async () => {
    const start = performance.now()
    const response = await fetch(`${api}/contacts?page=3`, { headers: { authorization: `Bearer ${token}` } })
    await response.text()
    read.count++
    read.slowest = Math.max(read.slowest, performance.now() - start)
    if (response.status !== 200) read.failed++
  }
  return {
    begin: () => {
      timer = setInterval(() => readOne().catch(() => read.failed++), 250)
    },
    end: (): Read => {
      clearInterval(timer)
      return read
    },
  }
}

if (import.meta.main) show(await importCost(Number(process.argv[2] ?? 1_000_000)))
