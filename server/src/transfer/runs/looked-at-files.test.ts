import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { managementApi, resourceNames, storedFieldsOf } from '@masthead/contract'
import pg from 'pg'
import { ConsoleBrowser, manage } from '../../../test/browsers/console-session.ts'
import { newPerson } from '../../../test/browsers/oauth-browser.ts'
import { until } from '../../../test/processes/masthead-process.ts'
import { sampleAccount } from '../../../test/records/sample-records.ts'
import { assertAnswers } from '../../../test/requests/contract-responses.ts'
import { startService, waitsForLocks, walk } from '../../../test/service.ts'
import { zipFile } from '../files/zip-file.ts'

const service = await startService()

const named = (name: string) => {
  const found = managementApi.operations.find((operation) => operation.name === name)
  if (!found) throw new Error(`there is no operation ${name}`)
  return found
}

const newAdmin = async () => {
  const tenant = await service.newTenant()
  const person = await newPerson(service, [tenant, 'admin'])
  const { management: token } = await new ConsoleBrowser(service.origin).signIn(person)
  const call = (method: string, path: string, body?: unknown) =>
    manage(service.origin, method, path, { token, ...(body !== undefined && { body }) })
  const send = async (fileName: string, content: string | Uint8Array, resource?: string) => {
    const run = await call('POST', '/import-runs', { fileName, ...(resource && { resource }) })
    assertAnswers(named('CreateImportRun'), run)
    const path = `/import-runs/${run.body.id}`
    await call('POST', `${path}/parts`, { number: 1, content: Buffer.from(content).toString('base64') })
    return path
  }
  /** Asks for something to be done with the file, and waits for its end. */
  const ask = async (path: string, what: 'inspect' | 'check' | 'start') => {
    const begun = await call('POST', `${path}/${what}`)
    assert.equal(begun.status, 200, begun.text)
    return ended(path)
  }
  const ended = async (path: string) => {
    let answer = await call('GET', path)
    await until('the run ends', async () => {
      answer = await call('GET', path)
      return answer.body.state !== 'running'
    })
    assertAnswers(named('GetImportRun'), answer)
    return answer.body
  }
  const change = async (path: string, body: unknown) => {
    const answer = await call('PATCH', path, body)
    assert.equal(answer.status, 200, answer.text)
    assertAnswers(named('UpdateImportRun'), answer)
  }
  const customer = await tenant.serviceToken()
  return { tenant, call, send, ask, ended, change, list: (path: string) => walk(service, customer, path) }
}

/** As Excel in Germany writes it: semicolons, Windows-1252, days first and decimal commas. */
const german = (...lines: string[]) => Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1')
const invoices = german(
  'Rechnungsnummer;Kundennr;Status;Rechnungsdatum;Gesamtbetrag;Sachbearbeiterin',
  'R-1;A-1;offen;01/02/2026;1.234,50;J\xfcrgen',
  'R-2;A-1;paid;03/04/2026;99,00;',
  'R-3;A-9;paid;05/04/2026;1,00;Gro\xdf',
)

describe('a file that is sent', () => {
  test('is looked at, decided about, checked and imported, and the next one with its header is known', async () => {
    const { tenant, send, ask, change, list } = await newAdmin()
    await tenant.add('accounts', [sampleAccount('A-1')])
    const path = await send('export 2026.csv', invoices)
    const { state, resource, inspection } = await ask(path, 'inspect')
    assert.deepEqual([state, resource], ['inspected', 'invoices'])
    const { format, encoding, separator, rows, resourceNoticed, unknown, isRemembered } = inspection
    assert.deepEqual(
      [format, encoding, separator, rows, resourceNoticed, unknown, isRemembered],
      ['csv', 'windows-1252', ';', 3, 'columns', ['Sachbearbeiterin'], false],
    )
    assert.deepEqual(inspection.columns.at(-1), {
      heading: 'Sachbearbeiterin',
      examples: ['Jürgen', 'Groß'],
      field: null,
      match: 'unknown',
      values: 2,
    })
    assert.deepEqual(inspection.columns[1], {
      heading: 'Kundennr',
      examples: ['A-1', 'A-1', 'A-9'],
      field: 'accountId',
      match: 'name',
      values: 3,
    })
    assert.deepEqual(inspection.statuses, [{ field: 'status', value: 'offen', count: 1 }])
    const [dates, amounts] = inspection.formats
    assert.deepEqual(dates, {
      field: 'issueDate',
      heading: 'Rechnungsdatum',
      format: '',
      fits: 0,
      values: 3,
      option: 'dates',
      choices: [
        { value: 'dmy', example: '01/02/2026 is 2026-02-01' },
        { value: 'mdy', example: '01/02/2026 is 2026-01-02' },
      ],
    })
    assert.deepEqual([amounts.format, amounts.fits, amounts.values], ['numbers like 1.234,56', 3, 3])
    assert.deepEqual(inspection.problems, [
      'Invoices do not have the column "Sachbearbeiterin": choose fields, or leave them out.',
      'issueDate: "01/02/2026" can be two days.',
    ])

    const options = {
      dates: 'dmy',
      columns: [{ heading: 'Sachbearbeiterin', field: 'notes' }],
      translations: [{ field: 'status', from: 'Offen', to: 'open' }],
    }
    await change(path, { options })
    const decided = (await ask(path, 'inspect')).inspection
    assert.deepEqual([decided.problems, decided.unknown, decided.statuses], [[], [], []])
    assert.deepEqual(decided.preview, {
      fields: ['accountId', 'status', 'issueDate', 'total', 'notes', 'externalId'],
      rows: [
        { line: 2, values: ['A-1', 'open', '2026-02-01', '1234.50', 'Jürgen', 'R-1'], problem: null },
        { line: 3, values: ['A-1', 'paid', '2026-04-03', '99.00', null, 'R-2'], problem: null },
        { line: 4, values: ['A-9', 'paid', '2026-04-05', '1.00', 'Groß', 'R-3'], problem: null },
      ],
    })
    const checked = await ask(path, 'check')
    assert.deepEqual([checked.state, checked.created, checked.refused], ['checked', 2, 1])
    assert.deepEqual(checked.groups, [
      {
        file: '',
        column: 'accountId',
        reason: 'there is no such account in this tenant',
        count: 1,
        lines: [4],
        example: 'there is no account "A-9" in this tenant',
      },
    ])
    assert.deepEqual(await list('/invoices'), [])
    assert.deepEqual((await ask(path, 'start')).state, 'done')
    assert.deepEqual(
      (await list('/invoices')).map(({ total, status, notes }) => [total, status, notes]),
      [
        ['1234.50', 'open', 'Jürgen'],
        ['99.00', 'paid', null],
      ],
    )

    const next = await ask(await send('another.csv', invoices), 'inspect')
    assert.deepEqual([next.inspection.isRemembered, next.options, next.inspection.problems], [true, options, []])
  })

  test('gives its refused rows back as they came', async () => {
    const { send, ask, call } = await newAdmin()
    const path = await send('export.csv', invoices, 'invoices')
    await call('PATCH', path, { options: { dates: 'dmy', ignoreUnknown: true } })
    assert.equal((await ask(path, 'check')).hasRejectedRows, true)
    const checked = (await call('GET', `${path}/rejected-rows`)).body
    assert.equal((await ask(path, 'start')).refused, 3)
    const { body } = await call('GET', `${path}/rejected-rows`)
    assert.deepEqual(checked, body)
    assert.equal(body.fileName, 'export.csv.rejected.csv')
    const [head, first] = Buffer.from(body.content, 'base64').toString('latin1').split('\r\n')
    const columns = 'Rechnungsnummer;Kundennr;Status;Rechnungsdatum;Gesamtbetrag;Sachbearbeiterin'
    assert.equal(head, `rejected_line;rejected_column;rejected_reason;${columns}`)
    assert.match(first ?? '', /^2;accountId;.*;R-1;A-1;offen;01\/02\/2026;"1\.234,50";J\xfcrgen$/)
  })

  test('says whether apostrophes are marks, and asks where they could be text', async () => {
    const { send, ask, change } = await newAdmin()
    const apostrophesOf = async (content: string) =>
      (await ask(await send('accounts.csv', content), 'inspect')).inspection
    assert.equal((await apostrophesOf(`accountId,company\nA-1,Harbour Books\n`)).apostrophes, 'none')
    assert.equal((await apostrophesOf(`accountId,company\nA-1,'=Harbour Books\n`)).apostrophes, 'marks')
    assert.equal((await apostrophesOf(`accountId,company\nA-1,'=Harbour\nA-2,'Tis\n`)).apostrophes, 'text')
    const fields = storedFieldsOf('publications').map(({ name }) => name)
    const row = fields.map((name) => ({ code: 'P', name: `'=Harbour` })[name] ?? '')
    const path = await send('publications.csv', `${fields}\n${row}\n`)
    assert.equal((await ask(path, 'inspect')).inspection.apostrophes, 'in doubt')
    for (const [isForSpreadsheet, said, name] of [
      [true, 'marks', '=Harbour'],
      [false, 'text', `'=Harbour`],
    ] as const) {
      await change(path, { options: { isForSpreadsheet } })
      const { apostrophes, preview, problems } = (await ask(path, 'inspect')).inspection
      assert.deepEqual([apostrophes, preview.rows[0].values.includes(name), problems], [said, true, []])
    }
  })

  test('says what protects quotes and backslashes, and asks where that could be several things', async () => {
    const { send, ask, change } = await newAdmin()
    const escapesOf = async (name: string, content: string) =>
      (await ask(await send(name, content), 'inspect')).inspection.escapes
    assert.equal(await escapesOf('accounts.csv', 'accountId,company\nA-1,"Harbour"\n'), 'quotes')
    assert.equal(await escapesOf('accounts.tsv', 'accountId\tcompany\nA-1\t\\N\n'), 'backslashes')
    assert.equal(await escapesOf('accounts.json', '[{"accountId":"A-1"}]'), '')
    const path = await send('accounts.tsv', 'accountId\tcompany\tcity\nA-1\t\\N\t"a\\\\b"\n')
    const { escapes, problems } = (await ask(path, 'inspect')).inspection
    assert.deepEqual([escapes, problems.length], ['in doubt', 1])
    assert.doesNotMatch(problems[0], /--/)
    for (const [escapes, city] of [
      ['quotes', 'a\\\\b'],
      ['backslashes', '"a\\b"'],
      ['both', 'a\\b'],
    ] as const) {
      await change(path, { options: { escapes } })
      const { inspection } = await ask(path, 'inspect')
      const { preview, problems } = inspection
      assert.deepEqual([inspection.escapes, preview.rows[0].values.at(-1), problems], [escapes, city, []])
    }
    const { created } = await ask(path, 'start')
    assert.equal(created, 1)
    // As quotes alone it could not be read at all, and nobody could choose.
    const inches = await send('accounts.csv', 'accountId,company,suite\nA-2,\\N,"5\\""\nA-3,\\N,b\n')
    assert.equal((await ask(inches, 'inspect')).inspection.escapes, 'in doubt')
    await change(inches, { options: { escapes: 'quotes' } })
    assert.match((await ask(inches, 'inspect')).problem, /is never closed/)
    await change(inches, { options: { escapes: 'both' } })
    const { state, inspection } = await ask(inches, 'inspect')
    assert.deepEqual([state, inspection.preview.rows[0].values.at(-1)], ['inspected', '5"'])
  })

  test('has a file of its archive read with other escapes than the rest', async () => {
    const { send, ask, change, list } = await newAdmin()
    const table = (id: string) => `accountId\tcompany\tcity\n${id}\t\\N\t"a\\\\b"\n`
    const path = await send('a.zip', zipFile({ 'accounts-1.tsv': table('A-1'), 'accounts-2.tsv': table('A-2') }))
    const { members } = (await ask(path, 'inspect')).inspection
    assert.deepEqual(
      members.map(({ problems }: { problems: number }) => problems),
      [1, 1],
    )
    const options = { escapes: 'both', members: [{ name: 'accounts-2.tsv', options: { escapes: 'quotes' } }] }
    await change(path, { options })
    assert.deepEqual((await ask(path, 'inspect')).inspection.problems, [])
    assert.equal((await ask(path, 'start')).created, 2)
    const cities = (await list('/accounts')).map(({ city }) => city)
    assert.deepEqual(new Set(cities), new Set(['a\\b', 'a\\\\b']))
  })

  test('shows after each decision what it would show had all been decided before', async () => {
    const { send, ask, change } = await newAdmin()
    const file = german(
      'Rechnungsnummer;Kundennr;Status;Rechnungsdatum;Gesamtbetrag;Bemerkung;Frist;Text',
      `R-1;A-1;offen;01/02/2026;1.234;'=x;31.12.2026;a b`,
      'R-2;A-1;Offen;03/04/2026;99;y;01.12.2026;c d',
      'R-3;A-9;paid;05/04/2026;1,5;;;',
      'R-4;A-9',
    )
    const left = { heading: 'Text', field: null }
    const translations = [{ field: 'status', from: 'offen', to: 'open' }]
    const decisions = [
      { ignoreUnknown: true },
      { ignoreUnknown: true, dates: 'dmy' },
      { columns: [left, { heading: 'Bemerkung', field: 'notes' }], dates: 'mdy' },
      { columns: [left, { heading: 'Bemerkung', field: 'terms' }], isForSpreadsheet: false },
      { columns: [left, { heading: 'Frist', field: 'dueDate' }], decimal: 'comma', translations },
      { columns: [left, { heading: 'Frist', field: 'notes' }], translations: [{ ...translations[0], to: 'settled' }] },
      { splits: [{ heading: 'Text', into: ['notes', 'terms'], at: ' ' }] },
      { joins: [{ field: 'notes', of: ['Text', 'Bemerkung'], with: ', ' }], translations },
      { encoding: 'utf-8' },
    ]
    const path = await send('export.csv', file)
    await ask(path, 'inspect')
    for (const options of decisions) {
      await change(path, { options, resource: 'invoices' })
      const fresh = await send('export.csv', file)
      await change(fresh, { options, resource: 'invoices' })
      assert.deepEqual((await ask(path, 'inspect')).inspection, (await ask(fresh, 'inspect')).inspection)
      // The process keeps what it saw of the last file, which is to be this one.
      await ask(path, 'inspect')
    }
    await change(path, { options: {}, resource: 'contacts' })
    assert.equal((await ask(path, 'inspect')).inspection.resource, 'contacts')
  })

  test('has columns split and joined, also the next one with its header', async () => {
    const { tenant, send, ask, change, list } = await newAdmin()
    await tenant.add('accounts', [sampleAccount('A-1')])
    const file = german(
      'Nr;Kundennr;Name;Stra\xdfe;Hausnr',
      'K-1;A-1;Ludwig van Beethoven;Bonngasse;20',
      'K-2;A-1;Madonna;Turmweg;',
    )
    const path = await send('Leser.csv', file, 'contacts')
    const options = {
      columns: [{ heading: 'Nr', field: 'externalId' }],
      splits: [{ heading: 'Name', into: ['firstName', 'lastName'], at: ' ' }],
      joins: [{ field: 'notes', of: ['Stra\xdfe', 'Hausnr'], with: ' ' }],
    }
    await change(path, { options })
    const { preview, problems, unknown } = (await ask(path, 'inspect')).inspection
    assert.deepEqual([problems, unknown], [[], []])
    assert.deepEqual(
      Object.fromEntries(preview.fields.map((name: string, at: number) => [name, preview.rows[0].values[at]])),
      {
        externalId: 'K-1',
        accountId: 'A-1',
        firstName: 'Ludwig van',
        lastName: 'Beethoven',
        notes: 'Bonngasse 20',
      },
    )
    assert.equal((await ask(path, 'start')).created, 2)
    assert.deepEqual(
      (await list('/contacts')).map(({ firstName, lastName, notes }) => [firstName, lastName, notes]),
      [
        ['Ludwig van', 'Beethoven', 'Bonngasse 20'],
        [null, 'Madonna', 'Turmweg'],
      ],
    )
    const next = await ask(await send('Leser.csv', file, 'contacts'), 'inspect')
    assert.deepEqual([next.options, next.inspection.problems], [options, []])
    await change(path.replace(/[^/]*$/, next.id), {
      options: { ...options, columns: [{ heading: 'Nr', field: 'notes' }] },
    })
    const twice = await ask(path.replace(/[^/]*$/, next.id), 'inspect')
    assert.deepEqual([twice.state, twice.problem], ['failed', 'The field notes would be given twice: choose another.'])
  })

  test('shows a long status whole, so that it can be translated', async () => {
    const { tenant, send, ask, change, list } = await newAdmin()
    await tenant.add('accounts', [sampleAccount('A-1')])
    const long = 'Zahlungserinnerung versendet, noch nicht an das Inkassobüro übergeben'
    const path = await send('invoices.csv', `externalId,accountId,status\nR-1,A-1,"${long}"\n`)
    const { inspection } = await ask(path, 'inspect')
    assert.deepEqual(inspection.statuses, [{ field: 'status', value: long, count: 1 }])
    const [{ field, value: from }] = inspection.statuses
    await change(path, { options: { translations: [{ field, from, to: 'past_due' }] } })
    await ask(path, 'start')
    assert.equal((await list('/invoices'))[0]?.status, 'past_due')
  })

  test('whose columns tell nothing is asked about', async () => {
    const { send, ask, change } = await newAdmin()
    const path = await send('table.csv', 'Nummer;Bezeichnung\n1;Eins\n')
    const { inspection } = await ask(path, 'inspect')
    assert.deepEqual(inspection.problems, ['The columns do not tell what the file holds: choose it.'])
    await change(path, { resource: 'publications', options: { columns: [{ heading: 'Nummer', field: 'code' }] } })
    const { resource, inspection: decided } = await ask(path, 'inspect')
    assert.deepEqual([resource, decided.resourceNoticed, decided.problems], ['publications', 'given', []])
  })

  test('is not changed while it is read, nor when it is imported, and nothing is cancelled then', async () => {
    const { send, ask, call } = await newAdmin()
    const path = await send('publications.csv', 'code\nP\n')
    assert.equal((await call('POST', `${path}/cancel`)).status, 409)
    await ask(path, 'start')
    assert.equal((await call('PATCH', path, { options: {} })).status, 409)
    assert.equal((await call('POST', `${path}/cancel`)).status, 409)
  })

  /** The last batch waits for somebody who adds one of its accounts. */
  const cancelInTheMiddle = async (
    context: TestContext,
    { tenant, send, call }: Awaited<ReturnType<typeof newAdmin>>,
  ) => {
    await tenant.add('accounts', [sampleAccount('A-1')])
    const rows = Array.from({ length: 4_000 }, (_, index) => `C-${index},Company ${index}\n`)
    const path = await send('accounts.csv', `accountId,company\n${rows.join('')}`)
    const adding = new pg.Client(service.connectionString)
    await adding.connect()
    context.after(() => adding.end())
    await adding.query('begin')
    await adding.query(`select set_config('masthead.tenant', $1, true)`, [tenant.id])
    const changes = { id: randomUUID(), account_id: 'C-3999', position: 1_000_000, version: 1_000_000 }
    await adding.query(
      `insert into accounts select (json_populate_record(account, $2)).* from accounts as account where tenant_id = $1`,
      [tenant.id, JSON.stringify(changes)],
    )
    await call('POST', `${path}/start`)
    await until('the last batch waits', async () => (await service.owner.query(waitsForLocks)).rows.length === 1)
    const cancelled = await call('POST', `${path}/cancel`)
    assertAnswers(named('CancelImport'), cancelled)
    await adding.query('rollback')
    return path
  }

  test('is cancelled in the middle, and what it has written is taken back', async (context) => {
    const admin = await newAdmin()
    const { ended, call, list } = admin
    const path = await cancelInTheMiddle(context, admin)
    const { state, removed, importId } = await ended(path)
    assert.equal(state, 'cancelled')
    assert.ok(removed > 0 && removed < 4_000, `${removed} were removed`)
    assert.equal((await list('/accounts')).length, 1)
    const { items } = (await call('GET', '/imports')).body
    assert.deepEqual([items[0].id, items[0].state], [importId, 'undone'])
    await call('POST', `${path}/start`)
    assert.equal((await ended(path)).created, 4_000)
  })

  test('fails, and is not taken for cancelled, when what it has written cannot be taken back', async (context) => {
    const admin = await newAdmin()
    const { ended, call, list } = admin
    await service.owner.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'it stays'; end $$;
      create trigger stays before delete on accounts for each row when (old.account_id = 'C-1') execute function refuse()`)
    context.after(() => service.owner.query('drop trigger stays on accounts; drop function refuse'))
    const { state, problem } = await ended(await cancelInTheMiddle(context, admin))
    assert.deepEqual([state, problem], ['failed', 'The import could not be taken back; what went in stays: undo it.'])
    assert.ok((await list('/accounts')).length > 1)
    assert.equal((await call('GET', '/imports')).body.items[0].state, 'interrupted')
  })

  test('breaks off in the middle, what went in stays, and the log tells why', async (context) => {
    const { send, ask, list } = await newAdmin()
    await service.owner.query(`
      create function refuse_last() returns trigger language plpgsql as $$ begin raise exception 'it is too much'; end $$;
      create trigger refused before insert on accounts for each row when (new.account_id = 'C-3999') execute function refuse_last()`)
    context.after(() => service.owner.query('drop trigger refused on accounts; drop function refuse_last'))
    const log = context.mock.method(service.app.log, 'error', () => {})
    const rows = Array.from({ length: 4_000 }, (_, index) => `C-${index},Company ${index}\n`)
    const { state, problem } = await ask(await send('accounts.csv', `accountId,company\n${rows.join('')}`), 'start')
    assert.deepEqual([state, problem], ['failed', 'The import broke off; what went in stays.'])
    const logged = log.mock.calls.map(({ arguments: [line] }) => (line as { err: Error }).err.message)
    assert.deepEqual(logged, ['it is too much'])
    assert.ok((await list('/accounts')).length > 1)
  })

  test('is called by its name, whatever that is', async () => {
    const { send, ask } = await newAdmin()
    const { problem } = await ask(await send('Preise $& --alt.csv', '\n'), 'inspect')
    assert.equal(problem, 'Preise $& --alt.csv is empty: its first line must name the columns.')
    const archive = await ask(await send('a --b.zip', zipFile({ 'Preise --alt.csv': '' })), 'inspect')
    assert.match(archive.problem, /Preise --alt\.csv/)
  })
})

describe('an archive that is sent', () => {
  const accounts = german('Kundennr;Firma', 'A-1;M\xfcller', `${'x'.repeat(70)};Zu lang`)
  const contacts = 'externalId,accountId,lastName,Fax\nK-1,A-1,Lovelace,1\nK-2,A-9,Hopper,2\n'
  const archive = () => zipFile({ 'x/contacts.csv': contacts, 'x/accounts.csv': accounts, 'x/README.txt': 'Read me.' })

  test('has its files decided about one by one, and imported together', async () => {
    const { send, ask, change, call, list } = await newAdmin()
    const path = await send('Export.zip', archive())
    const first = await ask(path, 'inspect')
    assert.equal(first.resource, '')
    assert.deepEqual(first.inspection.members, [
      { name: 'x/contacts.csv', resource: 'contacts', isLeftOut: false, rows: 2, problems: 1 },
      { name: 'x/accounts.csv', resource: 'accounts', isLeftOut: false, rows: 2, problems: 0 },
      { name: 'x/README.txt', resource: null, isLeftOut: true, rows: 0, problems: 0 },
    ])
    assert.deepEqual([first.inspection.member, first.inspection.unknown], ['x/contacts.csv', ['Fax']])
    const members = [{ name: 'x/contacts.csv', options: { columns: [{ heading: 'Fax', field: null }] } }]
    await change(path, { options: { member: 'x/accounts.csv', members } })
    const { inspection } = await ask(path, 'inspect')
    assert.deepEqual(
      inspection.members.map(({ problems }: { problems: number }) => problems),
      [0, 0, 0],
    )
    assert.deepEqual(
      [inspection.member, inspection.encoding, inspection.columns[1].examples[0]],
      ['x/accounts.csv', 'windows-1252', 'M\xfcller'],
    )
    // Contacts come first in the archive, and refer to accounts of the other file.
    const checked = await ask(path, 'check')
    const files = [
      { file: 'x/contacts.csv', resource: 'contacts', created: 1, changed: 0, unchanged: 0, refused: 1 },
      { file: 'x/accounts.csv', resource: 'accounts', created: 1, changed: 0, unchanged: 0, refused: 1 },
    ]
    assert.deepEqual([checked.created, checked.refused, checked.files], [2, 2, files])
    assert.deepEqual(
      checked.groups.map(({ file, column, lines }: { file: string; column: string; lines: number[] }) => [
        file,
        column,
        lines,
      ]),
      [
        ['x/contacts.csv', 'accountId', [3]],
        ['x/accounts.csv', 'accountId', [3]],
      ],
    )
    const imported = await ask(path, 'start')
    assert.deepEqual([imported.state, imported.files], ['done', files])
    assert.deepEqual([(await list('/accounts')).length, (await list('/contacts')).length], [1, 1])
    const { items } = (await call('GET', '/imports')).body
    assert.deepEqual(
      items.map(({ files }: { files: { file: string }[] }) => files.map(({ file }) => file)),
      [['Export.zip/x/contacts.csv', 'Export.zip/x/accounts.csv']],
    )

    const { fileName, content } = (await call('GET', `${path}/rejected-rows`)).body
    assert.equal(fileName, 'Export.zip.rejected.zip')
    const refused = await ask(await send(fileName, Buffer.from(content, 'base64')), 'inspect')
    assert.deepEqual(
      refused.inspection.members.map(({ name, resource, rows }: Record<string, unknown>) => [name, resource, rows]),
      [
        ['x-contacts.csv.rejected.csv', 'contacts', 1],
        ['x-accounts.csv.rejected.csv', 'accounts', 1],
      ],
    )
    // What was decided about files with these headers is known.
    const again = await ask(await send('Export 2.zip', archive()), 'inspect')
    assert.deepEqual([again.inspection.isRemembered, again.inspection.members[0].problems], [true, 0])
  })

  test('has a file that cannot be read left out, and not all of them', async () => {
    const { send, ask, change } = await newAdmin()
    const path = await send('a.zip', zipFile({ 'accounts.csv': accounts, 'contacts.csv': '%PDF-1.7' }))
    const { inspection } = await ask(path, 'inspect')
    assert.deepEqual(
      inspection.members.map(({ problems }: { problems: number }) => problems),
      [0, 1],
    )
    await change(path, { options: { member: 'contacts.csv' } })
    const shown = await ask(path, 'inspect')
    assert.deepEqual(shown.inspection.problems, ['a.zip/contacts.csv is a PDF: export the table as CSV or .xlsx.'])
    const leftOut = (name: string) => ({ name, isLeftOut: true })
    await change(path, { options: { members: [leftOut('contacts.csv')] } })
    assert.equal((await ask(path, 'check')).created, 1)
    await change(path, { options: { members: [leftOut('contacts.csv'), leftOut('accounts.csv')] } })
    const nothing = await ask(path, 'check')
    assert.deepEqual([nothing.state, nothing.problem], ['failed', 'All files of the archive are left out: take one.'])
  })

  test('has no file of refused rows when those of one of its files are too many', async () => {
    const { send, ask } = await newAdmin()
    const notes = 'x'.repeat(10_000)
    const rows = Array.from({ length: 900 }, (_, index) => `K-${index},A-9,${notes}\n`)
    const many = `externalId,accountId,notes\n${rows.join('')}`
    const { refused, hasRejectedRows } = await ask(
      await send('a.zip', zipFile({ 'contacts.csv': many, 'accounts.csv': accounts })),
      'check',
    )
    assert.deepEqual([refused, hasRejectedRows], [901, false])
  })

  test('of more files than a hundred is left to the command line', async () => {
    const { send, ask } = await newAdmin()
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`accounts-${at}.csv`, 'accountId\nA\n']))
    const { state, problem } = await ask(await send('a.zip', zipFile(many)), 'inspect')
    assert.deepEqual([state, /^a\.zip holds 101 files, and up to 100/.test(problem)], ['failed', true])
  })
})

test('a template has the columns of its resource', async () => {
  const { call } = await newAdmin()
  for (const resource of resourceNames) {
    const answer = await call('GET', `/import-templates/${resource}`)
    assertAnswers(named('GetImportTemplate'), answer)
    const text = Buffer.from(answer.body.content, 'base64').toString()
    assert.equal(text, `\uFEFF${storedFieldsOf(resource).map(({ name }) => name)}\n`)
  }
  assert.equal((await call('GET', '/import-templates/nothing')).status, 404)
})
