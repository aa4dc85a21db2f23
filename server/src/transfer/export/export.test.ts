import assert from 'node:assert/strict'
import { type ChildProcess, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import {
  isListed,
  type Resource,
  type ResourceName,
  resourceNames,
  resources,
  storedFieldsOf,
} from '@masthead/contract'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { runInSession } from '../../../test/processes/command-session.ts'
import { type Outcome, spawnMasthead, until } from '../../../test/processes/masthead-process.ts'
import {
  sampleAccount,
  sampleContact,
  sampleInvoice,
  samplePublication,
  sampleSubscription,
} from '../../../test/records/sample-records.ts'
import { startService, type TestTenant, walk } from '../../../test/service.ts'
import { openSourceFile } from '../files/source-file.ts'

const service = await startService()
const environment = { DATABASE_URL: service.connectionString }
const home = await mkdtemp(join(tmpdir(), 'masthead-export-test-'))
after(() => rm(home, { recursive: true, force: true }))

let folders = 0
const newFolder = (): string => join(home, `${++folders}`)
const exportTo = async (folder: string, tenant: TestTenant, ...more: string[]) => {
  const outcome = await run(folder, tenant, ...more)
  assert.deepEqual([outcome.code, outcome.stderr], [0, ''])
  return outcome.stdout
}
const run = (folder: string, { slug }: { slug: string }, ...more: string[]) =>
  runInSession(['export', '--tenant', slug, '--to', folder, ...more], environment)
const refused = async (expected: string, folder: string, tenant: { slug: string }, ...more: string[]) =>
  assert.deepEqual(await run(folder, tenant, ...more), { code: 1, stdout: '', stderr: `masthead: ${expected}\n` })
const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder)).sort()
const filesNamed = (ending: string): string[] => resourceNames.map((resource) => `${resource}.${ending}`).sort()

type Values = Record<string, unknown>
const readNdjson = async (folder: string, resource: ResourceName): Promise<Values[]> =>
  (await readFile(join(folder, `${resource}.ndjson`), 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
/** Every cell as text, null where it is empty. */
const readCsv = async (folder: string, resource: ResourceName): Promise<Values[]> => {
  const file = await openSourceFile(join(folder, `${resource}.csv`))
  const records: Values[] = []
  for await (const rows of file.rows()) {
    for (const { cells } of rows)
      records.push(Object.fromEntries(file.header.map((name, index) => [name, cells[index]])))
  }
  return records
}
const asCells = (record: Values): Values =>
  Object.fromEntries(Object.entries(record).map(([field, value]) => [field, value === null ? null : String(value)]))

const hostileTexts = [
  '"',
  '\\',
  '\\.',
  '\\N',
  '\\n',
  'a\nb',
  'a\r\nb\r',
  'a\tb,c;d',
  '\u2028\u2029\u0085',
  '\u0001\u0002\u0003\u0008\u000B\u001B\u001F\u007F',
  '😀👩‍👩‍👧 e\u0301 \u202Eabc \uFEFF \uFFFD \uFFFF',
  '',
  ' ',
  ' a ',
  'null',
  '{"a":"\\u0001"}',
  '=1+1',
]

let tenant: TestTenant
let publicationId = ''
before(async () => {
  tenant = await service.newTenant()
  const [publication] = await tenant.add('publications', [
    samplePublication('P-1', { issueDecimals: 1.5 }),
    samplePublication('P-2', { isActive: null, name: null, issueDecimals: null }),
  ])
  publicationId = String(publication?.id)
  const unshown = { userId: 'U-1', category: 'library', quality: 'A', primaryPublicationId: publicationId }
  await tenant.add('accounts', [sampleAccount('A-1', unshown)])
  await tenant.add('accounts', [sampleAccount('A-2')])
  await tenant.add('contacts', [
    sampleContact('A-1'),
    sampleContact('A-1', { hideContact: true }),
    sampleContact('A-2', { subsOnly: true, hideContact: true, deletedAt: '2026-03-04T05:06:07.000Z' }),
    ...hostileTexts.map((text) => sampleContact('A-2', { notes: text, name: text })),
    sampleContact('A-1', { deletedAt: '1999-12-31T23:59:59.999Z', createdAt: '0999-01-01T00:00:00.001Z' }),
  ])
  await tenant.add('contacts', [sampleContact('A-2', { externalId: 'X-1' })])
  const [first] = await tenant.add('subscriptions', [
    sampleSubscription('A-1', publicationId, { copies: '123456789012345' }),
  ])
  await tenant.add('subscriptions', [
    sampleSubscription('A-1', publicationId, {
      renewedFromSubsId: first?.id,
      totalDue: '-0.10',
      startDate: '0099-02-28',
    }),
    sampleSubscription('A-2', publicationId, { deletedAt: '2026-03-04T05:06:07.000Z', totalDue: null, copies: null }),
  ])
  await tenant.add('invoices', [
    sampleInvoice('A-1', publicationId, { total: '1234567890123.80', isOpen: 0.5 }),
    sampleInvoice('A-2', null, { isOpen: null, dueDate: null }),
  ])
  await service.call('POST', '/tasks', {
    token: await tenant.serviceToken(),
    body: { accountId: 'A-1', title: 'Call "them"', dueDate: '2026-12-01', priority: 'high' },
  })
  // Whose records none of the files may hold.
  await (await service.newTenant()).add('accounts', [sampleAccount('A-3')])
})

/** Every record as the API shows it, and what the API does not show. */
const shown = async (resource: ResourceName): Promise<Values[]> => {
  const { listing }: Resource = resources[resource]
  const everything = Object.keys(listing?.leftOutUnless ?? {}).map((parameter) => `${parameter}=true`)
  return walk(service, await tenant.serviceToken(), `/${resource}?${everything.join('&')}`)
}

describe('an export', { concurrency: 2 }, () => {
  test('holds every record in its order with the values of the API, as NDJSON', async () => {
    const folder = newFolder()
    await exportTo(folder, tenant, '--format', 'ndjson')
    let compared = 0
    for (const resource of resourceNames) {
      const records = await readNdjson(folder, resource)
      const fields = storedFieldsOf(resource).map(({ name }) => name)
      for (const record of records) assert.deepEqual(Object.keys(record), fields)
      if (!isListed(resource)) continue
      const expected = await shown(resource)
      compared += expected.length
      const asShown = records.map((record) => ({ ...record, balanceCents: undefined }))
      const withoutUnshown = asShown.map((record: Values, index) =>
        Object.fromEntries(Object.keys(expected[index] ?? {}).map((field) => [field, record[field]])),
      )
      assert.deepEqual(
        withoutUnshown,
        expected.map((record) => ('balanceCents' in record ? { ...record, balanceCents: undefined } : record)),
      )
    }
    assert.ok(compared > hostileTexts.length)
    const [account, other] = await readNdjson(folder, 'accounts')
    assert.partialDeepStrictEqual(account, {
      userId: 'U-1',
      category: 'library',
      quality: 'A',
      primaryPublicationId: publicationId,
    })
    assert.equal(other?.userId, null)
    assert.equal((await readNdjson(folder, 'contacts')).at(-1)?.externalId, 'X-1')
    const [task, ...others] = await readNdjson(folder, 'tasks')
    assert.deepEqual(others, [])
    const { id: _, createdAt, updatedAt, ...rest } = task ?? {}
    assert.match(String(createdAt), /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.equal(updatedAt, createdAt)
    assert.deepEqual(rest, {
      accountId: 'A-1',
      title: 'Call "them"',
      dueDate: '2026-12-01',
      userId: '',
      route: 'native',
      priority: 'high',
      type: null,
      notes: null,
      doneAt: null,
    })
  })

  test('holds the same as CSV, to the letter, an empty text apart from none', async () => {
    const [csv, ndjson] = [newFolder(), newFolder()]
    await exportTo(csv, tenant)
    await exportTo(ndjson, tenant, '--format', 'ndjson')
    for (const resource of resourceNames) {
      assert.deepEqual(await readCsv(csv, resource), (await readNdjson(ndjson, resource)).map(asCells))
      const byOthers: string[][] = parse(await readFile(join(csv, `${resource}.csv`)))
      assert.deepEqual(
        byOthers[0],
        storedFieldsOf(resource).map(({ name }) => name),
      )
    }
    const notes = (await readCsv(csv, 'contacts')).map((contact) => contact.notes)
    assert.deepEqual(notes.slice(3, -2), hostileTexts)
    assert.deepEqual([notes[0], notes.at(-1)], [null, null])
  })

  test('holds any text', async () => {
    const texts = fc
      .sample(
        fc.string({
          unit: fc.oneof(
            fc.constantFrom('"', ',', '\n', '\r', '\\', '\u0001', '\u0002', '😀'),
            fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
          ),
        }),
        { numRuns: 400, seed: 1 },
      )
      .map((text) => text.replaceAll('\0', ''))
    const own = await service.newTenant()
    await own.add('accounts', [sampleAccount('A-1')])
    await own.add(
      'contacts',
      texts.map((text) => sampleContact('A-1', { notes: text })),
    )
    const [csv, ndjson] = [newFolder(), newFolder()]
    await exportTo(csv, own)
    await exportTo(ndjson, own, '--format', 'ndjson')
    assert.deepEqual(
      (await readCsv(csv, 'contacts')).map(({ notes }) => notes),
      texts,
    )
    assert.deepEqual(
      (await readNdjson(ndjson, 'contacts')).map(({ notes }) => notes),
      texts,
    )
  })

  test('is the same bytes each time, packed or not, whatever the settings of the database', async () => {
    const bytesOf = async (...more: string[]): Promise<Buffer[]> => {
      const folder = newFolder()
      await exportTo(folder, tenant, ...more)
      return Promise.all((await namesIn(folder)).map((name) => readFile(join(folder, name))))
    }
    const forms = [[], ['--gzip'], ['--format', 'ndjson'], ['--format', 'ndjson', '--gzip']]
    const usual = await Promise.all(forms.map((form) => bytesOf(...form)))
    const [plain, packed, lines, packedLines] = usual
    assert.deepEqual(
      packed?.map((bytes) => gunzipSync(bytes)),
      plain,
    )
    assert.deepEqual(
      packedLines?.map((bytes) => gunzipSync(bytes)),
      lines,
    )
    const { pathname } = new URL(service.connectionString)
    const settings = {
      timezone: 'Asia/Kathmandu',
      datestyle: 'SQL, DMY',
      intervalstyle: 'iso_8601',
      extra_float_digits: '-5',
      standard_conforming_strings: 'off',
      client_encoding: 'LATIN1',
      row_security: 'on',
      enable_indexscan: 'off',
    }
    for (const [name, value] of Object.entries(settings)) {
      await service.owner.query(`alter database "${pathname.slice(1)}" set ${name} = '${value}'`)
    }
    try {
      for (const [index, form] of forms.entries())
        assert.deepEqual(await bytesOf(...form), usual[index], form.join(' '))
    } finally {
      await service.owner.query(`alter database "${pathname.slice(1)}" reset all`)
    }
  })

  test('of a tenant without records has files with nothing but their headers', async () => {
    const [csv, ndjson] = [newFolder(), newFolder()]
    const empty = await service.newTenant()
    await exportTo(csv, empty)
    await exportTo(ndjson, empty, '--format', 'ndjson')
    for (const resource of resourceNames) {
      assert.equal(await readFile(join(ndjson, `${resource}.ndjson`), 'utf8'), '')
      const header = storedFieldsOf(resource)
        .map(({ name }) => name)
        .join()
      assert.equal(await readFile(join(csv, `${resource}.csv`), 'utf8'), `${header}\n`)
    }
  })

  test('for spreadsheets marks what they would take for a formula, in a way that can be taken back', async () => {
    const own = await service.newTenant()
    const texts = [
      ...hostileTexts,
      '=HYPERLINK("http://a.example")',
      '+49 30',
      '-1',
      '@a',
      '\ta',
      '\ra',
      '\na',
      '＝1',
      "'",
      'a;=1',
    ]
    await own.add('publications', [samplePublication('P-1')])
    await own.add('accounts', [sampleAccount('=A-1')])
    await own.add(
      'contacts',
      texts.map((text) => sampleContact('=A-1', { notes: text })),
    )
    await own.add('invoices', [sampleInvoice('=A-1', null, { total: '-12.50' })])
    const [exact, marked] = [newFolder(), newFolder()]
    await exportTo(exact, own)
    await exportTo(marked, own, '--spreadsheet')
    const bytes = await readFile(join(marked, 'contacts.csv'), 'utf8')
    assert.ok(bytes.startsWith('\uFEFFid,'))
    assert.match(bytes, /"a;=1"/)
    const isMarked = /^[=+@\t\r\n＝＋－＠'-]/
    for (const resource of resourceNames) {
      const cells = await readCsv(marked, resource)
      const isText = (field: string) =>
        storedFieldsOf(resource).some(({ name, kind }) => name === field && kind === 'text')
      const expected = (await readCsv(exact, resource)).map((record) =>
        Object.fromEntries(
          Object.entries(record).map(([field, value]) => [
            field,
            typeof value === 'string' && isText(field) && isMarked.test(value) ? `'${value}` : value,
          ]),
        ),
      )
      assert.deepEqual(cells, expected)
    }
    assert.equal((await readCsv(marked, 'invoices'))[0]?.total, '-12.50')
    assert.equal((await readCsv(marked, 'invoices'))[0]?.accountId, `'=A-1`)
    const notes = (await readCsv(marked, 'contacts')).map((contact) => String(contact.notes).replace(/^'/, ''))
    assert.deepEqual(notes, texts)
    await refused(
      '--spreadsheet is for CSV files; leave it out, or --format',
      ...([newFolder(), own, '--spreadsheet', '--format', 'ndjson'] as const),
    )
  })

  test('says what it wrote, in words and as JSON', async () => {
    const folder = join(newFolder(), 'made', 'on the way')
    const words = await exportTo(folder, tenant, '--gzip')
    assert.match(
      words,
      /^resource +rows +file\npublications +2 +publications\.csv\.gz\n(.*\n)+tasks +1 +tasks\.csv\.gz\n/,
    )
    assert.ok(words.endsWith(`\n\nAll records of ${tenant.slug} are in ${folder}.\n`), words)
    const contacts = hostileTexts.length + 5
    const few = { publications: 2, accounts: 2, contacts, subscriptions: 3, invoices: 2, tasks: 1 }
    const counts: Partial<Record<ResourceName, number>> = few
    assert.deepEqual(JSON.parse(await exportTo(folder, tenant, '--gzip', '--force', '--json')), {
      tenant: tenant.slug,
      to: folder,
      files: resourceNames.map((resource) => ({
        file: `${resource}.csv.gz`,
        resource,
        rows: counts[resource] ?? 0,
      })),
    })
  })

  test('can be imported elsewhere, and its export is the same bytes', async () => {
    for (const format of ['csv', 'ndjson']) {
      const [first, second, copy] = [newFolder(), newFolder(), await service.newTenant()]
      await exportTo(first, tenant, '--format', format, '--gzip')
      const imported = await runInSession(['import', '--tenant', copy.slug, '--strict', first], environment)
      assert.deepEqual([imported.code, imported.stderr], [0, ''], imported.stdout)
      await exportTo(second, copy, '--format', format, '--gzip')
      for (const name of filesNamed(`${format}.gz`)) {
        assert.deepEqual(await readFile(join(second, name)), await readFile(join(first, name)), name)
      }
    }
  })

  test('is for nobody else to read', { skip: process.platform === 'win32' }, async () => {
    const folder = newFolder()
    await exportTo(folder, tenant)
    assert.equal((await stat(folder)).mode & 0o777, 0o700)
    for (const name of await namesIn(folder)) assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600)
  })
})

test('an export is of one moment: others write, and no record refers to one that is not there', async () => {
  const own = await service.newTenant()
  await own.add(
    'accounts',
    Array.from({ length: 2_000 }, (_, index) => sampleAccount(`A-${index}`)),
  )
  const [contact] = await own.add('contacts', [sampleContact('A-0')])
  const token = await own.serviceToken()
  let stopped = false
  let written = 0
  const write = async () => {
    while (!stopped) {
      const account = await service.call('POST', '/accounts', { token, body: { company: 'New', lastName: 'Moved' } })
      const { accountId } = account.body
      await service.call('PATCH', `/contacts/${contact?.id}`, { token, body: { accountId } })
      await own.add('invoices', [sampleInvoice(accountId, null)])
      written++
    }
  }
  const writing = Promise.all([write(), write()])
  try {
    // An export may be over before anybody wrote: it is asked for until three were written beside.
    for (let besideWrites = 0; besideWrites < 3; ) {
      const [before, folder] = [written, newFolder()]
      await exportTo(folder, own)
      if (written > before) besideWrites++
      const accounts = new Set((await readCsv(folder, 'accounts')).map(({ accountId }) => accountId))
      const contacts = await readCsv(folder, 'contacts')
      for (const { accountId } of [...contacts, ...(await readCsv(folder, 'invoices'))])
        assert.ok(accounts.has(accountId))
      assert.equal(new Set(contacts.map(({ id }) => id)).size, contacts.length)
      assert.equal(accounts.size - 2_000, contacts.length - 1)
    }
  } finally {
    stopped = true
    await writing
  }
})

describe('a large export', () => {
  const folder = newFolder()
  let large: TestTenant
  before(async () => {
    large = await service.newTenant()
    await large.add('accounts', [sampleAccount('A-1')])
    await service.owner.query(
      `insert into contacts (tenant_id, position, version, class, body, id, account_id, created_at, updated_at, notes)
      select $1, number, number, 0, '{}', gen_random_uuid(), 'A-1', now(), now(), repeat(number::text || ' ', 2000)
      from generate_series(1, 20000) as number`,
      [large.id],
    )
  })
  const start = (target: string, more: Record<string, string> = {}) =>
    spawnMasthead(['export', '--tenant', large.slug, '--to', target, '--force', '--json'], { ...environment, ...more })

  test('takes no more memory than a small one', { skip: !existsSync('/proc/self/status') }, async () => {
    const { child, said, ended } = start(folder, { NODE_OPTIONS: '--max-old-space-size=64' })
    let peak = 0
    const watching = setInterval(() => {
      try {
        const [, kibibytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
        peak = Math.max(peak, Number(kibibytes ?? 0) / 1_024)
      } catch {
        // It has ended.
      }
    }, 20)
    const { code } = await ended.finally(() => clearInterval(watching))
    assert.deepEqual([code, said.stderr], [0, ''])
    const { size } = await stat(join(folder, 'contacts.csv'))
    assert.ok(size > 200 * 1_048_576, `${size} bytes`)
    assert.ok(peak > 0 && peak < 200, `${peak} MiB`)
  })

  const whileItRuns = async (target: string, work: (child: ChildProcess) => unknown): Promise<Outcome> => {
    const { child, ended } = start(target)
    await until('it writes contacts', async () => {
      const names = existsSync(target) ? await readdir(target, { recursive: true }) : []
      return names.some((name) => /^\.masthead-export-\w+.contacts\.csv$/.test(name))
    })
    await work(child)
    return ended
  }
  const stopped = {
    code: 1,
    stdout: '',
    stderr: 'masthead: the export was stopped, and nothing was exported: run it again\n',
  }

  test('leaves nothing when it is stopped', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const target = newFolder()
      assert.deepEqual(await whileItRuns(target, (child) => child.kill(signal)), stopped)
      assert.deepEqual(await namesIn(target), [])
    }
  })

  test('leaves an earlier one as it was when it is stopped', async () => {
    const target = newFolder()
    await exportTo(target, tenant)
    const bytes = () => Promise.all(filesNamed('csv').map((name) => readFile(join(target, name))))
    const earlier = await bytes()
    assert.deepEqual(await whileItRuns(target, (child) => child.kill('SIGINT')), stopped)
    assert.deepEqual(await namesIn(target), filesNamed('csv'))
    assert.deepEqual(await bytes(), earlier)
  })

  test('leaves no file that looks whole when it is killed', { skip: process.platform === 'win32' }, async () => {
    const target = newFolder()
    await whileItRuns(target, (child) => child.kill('SIGKILL'))
    const [unfinished, ...others] = await namesIn(target)
    assert.match(unfinished ?? '', /^\.masthead-export-/)
    assert.deepEqual(others, [])
  })

  test('leaves nothing when the database goes away, and says so', async () => {
    const target = newFolder()
    const end = `select pg_terminate_backend(pid) from pg_stat_activity
      where query like 'copy%' and datname = current_database()`
    const outcome = await whileItRuns(target, () => service.owner.query(end))
    assert.deepEqual([outcome.code, outcome.stdout], [1, ''])
    assert.match(outcome.stderr, /^masthead: the export failed: (terminating connection|Connection terminated).*\n$/)
    assert.deepEqual(await namesIn(target), [])
  })

  test('leaves nothing when its files cannot be written, and says so', {
    skip: process.platform === 'win32',
  }, async () => {
    const target = newFolder()
    const main = fileURLToPath(new URL('../../main.js', import.meta.url))
    // Files of more than 20,000 blocks cannot be written, which is all that a full disk does.
    const limited = `ulimit -f 20000; exec "$@"`
    const command = [process.execPath, main, 'export', '--tenant', large.slug, '--to', target]
    const env = { PATH: process.env.PATH, ...environment }
    const { status, stderr } = spawnSync('sh', ['-c', limited, 'sh', ...command], { env, encoding: 'utf8' })
    assert.deepEqual(
      [status, stderr],
      [1, `masthead: ${target} cannot hold files this large, and nothing was exported: choose another folder\n`],
    )
    assert.deepEqual(await namesIn(target), [])
  })
})

describe('a folder that holds files already', { concurrency: 2 }, () => {
  test('keeps them, unless they are to be replaced', async () => {
    const folder = newFolder()
    await exportTo(folder, tenant)
    await writeFile(join(folder, 'contacts.csv'), 'older')
    for (const name of ['notes.csv', 'contacts.csv.rejected.csv']) await writeFile(join(folder, name), 'other')
    const expected = `${folder} already holds accounts.csv: --force replaces it, or export to another folder`
    await refused(expected, folder, tenant)
    assert.equal(await readFile(join(folder, 'contacts.csv'), 'utf8'), 'older')
    await exportTo(folder, tenant, '--force')
    assert.notEqual(await readFile(join(folder, 'contacts.csv'), 'utf8'), 'older')
    assert.equal(await readFile(join(folder, 'notes.csv'), 'utf8'), 'other')
    assert.deepEqual(await namesIn(folder), [...filesNamed('csv'), 'notes.csv', 'contacts.csv.rejected.csv'].sort())
  })

  test('never gets the same records twice', async () => {
    for (const other of ['contacts.ndjson', 'contacts.csv.gz', 'contacts-2025.tsv', 'Contacts.JSONL']) {
      const folder = newFolder()
      await mkdir(folder)
      await writeFile(join(folder, other), '')
      const beside = `${folder} holds ${other}, which would be imported with the new contacts.csv`
      await refused(`${beside}: remove it, or export to another folder`, folder, tenant, '--force')
      assert.deepEqual(await namesIn(folder), [other])
    }
  })

  test('loses what a killed export left a day ago, and nothing younger', async () => {
    const folder = newFolder()
    const [old, young] = ['.masthead-export-old', '.masthead-export-young'].map((name) => join(folder, name))
    for (const path of [old, young]) {
      await mkdir(path ?? '', { recursive: true })
      await writeFile(join(path ?? '', 'contacts.csv'), 'personal')
    }
    const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400
    await utimes(join(old ?? '', 'contacts.csv'), twoDaysAgo, twoDaysAgo)
    for (const path of [old, young]) await utimes(path ?? '', twoDaysAgo, twoDaysAgo)
    await exportTo(folder, tenant)
    assert.deepEqual(await namesIn(folder), ['.masthead-export-young', ...filesNamed('csv')])
  })
})

test('an export that cannot be made says why', async () => {
  const file = join(home, 'file')
  await writeFile(file, '')
  await refused('there is no tenant "nobody"; `masthead tenant list` shows them', newFolder(), { slug: 'nobody' })
  await refused(`${file} is a file, not a folder, and nothing was exported: choose another folder`, file, tenant)
  await refused(
    `${file}/below lies below something that is no folder, and nothing was exported: choose another folder`,
    `${file}/below`,
    tenant,
  )
  const outcome = await run(newFolder(), tenant, '--format', 'xlsx')
  assert.match(outcome.stderr, /'xlsx' is invalid\. Allowed choices are csv, ndjson; see `masthead export --help`/)
})

test('no time limit of the database ends what is done in bulk', async () => {
  const database = new URL(service.connectionString).pathname.slice(1)
  await service.owner.query(`alter database "${database}" set statement_timeout = '1s'`)
  try {
    const shown = await service.database.forTenant(tenant.id).inBulk((client) => client.query('show statement_timeout'))
    assert.deepEqual(shown.rows, [{ statement_timeout: '0' }])
  } finally {
    await service.owner.query(`alter database "${database}" reset all`)
  }
})
