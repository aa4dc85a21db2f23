import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { runMasthead } from '../../../test/processes/masthead-process.ts'
import { environmentOf, importer, newFolder } from '../../../test/records/import-files.ts'
import { sampleAccount } from '../../../test/records/sample-records.ts'
import { sheetOf, workbookFile } from '../../../test/records/zip-file.ts'
import { startService, walk } from '../../../test/service.ts'
import { zipFile } from '../files/zip-file.ts'

const service = await startService()

const newTenant = async () => {
  const tenant = await service.newTenant()
  await tenant.add('accounts', [sampleAccount('A-1')])
  const token = await tenant.serviceToken()
  return { ...importer(service, tenant), tenant, list: (path: string) => walk(service, token, path) }
}

describe('a file as it comes', { concurrency: 2 }, () => {
  test('says what it understood before it is imported', async () => {
    const { masthead, list } = await newTenant()
    const rows = Array.from(
      { length: 1_240 },
      (_, index) => `R${index};A-1;${(index % 28) + 1}.02.2026;${index},50 €;offen`,
    )
    const text = `Rechnungsnr;Kundennr;Fällig am;Betrag;Status\n${rows.join('\n')}\n`
    const folder = await newFolder({
      'export.csv': Buffer.from(text, 'latin1').map((byte) => (byte === 0xac ? 0x80 : byte)),
    })
    const { stderr, code } = await masthead('import', join(folder, 'export.csv'))
    assert.equal(code, 0, stderr)
    assert.match(stderr, /export\.csv holds invoices\.\nThe text is read as Windows-1252\.\n/)
    assert.match(stderr, /Columns: Rechnungsnr → externalId, Kundennr → accountId, Fällig am → dueDate, Betrag → total/)
    assert.match(stderr, /\ndueDate: day\.month\.year, 1,240 of 1,240 values\n/)
    assert.match(stderr, /\ntotal: numbers like 1\.234,56, with €, 1,240 of 1,240 values\n/)
    assert.match(stderr, /\nstatus: "offen" is no known status, 1,240 rows; it goes in as it is\.\n/)
    const [first] = await list('/invoices')
    assert.deepEqual([first?.dueDate, first?.total, first?.status], ['2026-02-01', '0.50', 'offen'])
  })

  test('of two thousand plain rows is read again when a later one is written in another way', async () => {
    const { counts, list } = await newTenant()
    const rows = Array.from({ length: 2_000 }, (_, index) => `R${index},A-1,paid,2026-02-01,1.00`)
    const text = `externalId,accountId,status,dueDate,total\n${rows.join('\n')}\nlast,A-1,paid,28.02.2026,"1,234.50"\n`
    assert.deepEqual(await counts(await newFolder({ 'invoices.csv': text })), { invoices: [2_001, 0, 0, 0] })
    const last = (await list('/invoices')).at(-1)
    assert.deepEqual([last?.dueDate, last?.total], ['2026-02-28', '1234.50'])
  })

  test('that is plain has its unknown statuses counted over all rows', async () => {
    const { masthead } = await newTenant()
    const rows = Array.from({ length: 2_500 }, (_, index) => `R${index},A-1,${index % 2 ? 'paid' : 'bezahlt'}`)
    const folder = await newFolder({ 'invoices.csv': `externalId,accountId,status\n${rows.join('\n')}\n` })
    const { stderr } = await masthead('import', folder, '--dry-run')
    assert.equal(stderr, 'status: "bezahlt" is no known status, 1,250 rows; it goes in as it is.\n')
  })

  test('groups what is refused by reason, with the first lines, and the file has all of it', async () => {
    const { masthead } = await newTenant()
    const rows = Array.from(
      { length: 60 },
      (_, index) => `R${index},${index % 3 ? 'A-9' : 'A-1'},open,${index % 2 ? 'soon' : ''}`,
    )
    const folder = await newFolder({ 'invoices.csv': `externalId,accountId,status,dueDate\n${rows.join('\n')}\n` })
    const { stdout, code } = await masthead('import', folder)
    assert.equal(code, 2)
    assert.match(stdout, /50 rows refused:\nrows +column +reason +lines\n/)
    assert.match(stdout, /\n30 +dueDate +is no date: write YYYY-MM-DD, and a day that exists +3, 5, 7, 9, 11, …\n/)
    assert.match(stdout, /\n20 +accountId +there is no such account in this tenant +4, 6, 10, 12, 16, …\n/)
    const rejected = await readFile(join(folder, 'invoices.csv.rejected.csv'), 'utf8')
    assert.equal(rejected.trimEnd().split('\n').length, 51)
  })

  test('names the option where a person could read it in two ways, and takes it', async () => {
    const { complaint, counts, list } = await newTenant()
    const folder = await newFolder({
      'invoices.csv':
        'externalId,accountId,status,dueDate,total,createdAt\n1,A-1,paid,01/02/2026,1.234,2026-06-01 12:00\n',
    })
    const said = await complaint(folder)
    assert.match(
      said,
      /dueDate: "01\/02\/2026" can be two days\. Say which number comes first: --dates dmy or --dates mdy/,
    )
    assert.match(said, /Total: "1\.234" can be two numbers\. Say .*: --decimal comma or --decimal point/i)
    assert.match(said, /createdAt: "2026-06-01 12:00" has no time zone\. .*--time-zone/i)
    const options = ['--dates', 'mdy', '--decimal', 'comma', '--time-zone', 'Europe/Berlin']
    assert.deepEqual(await counts(folder, ...options), { invoices: [1, 0, 0, 0] })
    const [invoice] = await list('/invoices')
    assert.deepEqual(
      [invoice?.dueDate, invoice?.total, invoice?.createdAt],
      ['2026-01-02', '1234.00', '2026-06-01T10:00:00.000Z'],
    )
  })

  test('without a header has its columns named', async () => {
    const { complaint, counts } = await newTenant()
    const folder = await newFolder({ 'contacts.tsv': 'x1\tA-1\t\\N\nx2\tA-1\tb@c.example\n' })
    assert.match(await complaint(folder), /If its first line is a row, name the columns: --columns/)
    assert.deepEqual(await counts(folder, '--columns', 'externalId, accountId, email'), { contacts: [2, 0, 0, 0] })
  })

  test('in which MySQL writes \\N for null never has it as a text', async () => {
    const { counts, list } = await newTenant()
    const files = {
      'contacts.csv': 'externalId,accountId,email\nx1,A-1,\\N\n',
      'contacts-2.tsv': 'externalId\taccountId\temail\nx2\tA-1\t\\N\n',
    }
    await counts(await newFolder(files))
    assert.deepEqual(
      (await list('/contacts')).map(({ email }) => email),
      [null, null],
    )
  })

  test('is a workbook, or an archive of files that are named after what they hold', async () => {
    const { counts, list, masthead } = await newTenant()
    const sheet = sheetOf([
      ['Firma', 'Kundennr'],
      ['Müller', 'K-1'],
      ['Weiß', 'K-2'],
    ])
    const contacts = 'externalId;Kundennr;Nachname\nx1;K-1;Groß\n'
    const archive = zipFile({
      'data/accounts.xlsx': workbookFile(sheet),
      'data/contacts.csv': contacts,
      'readme.txt': 'Read me.',
      '__MACOSX/data/._contacts.csv': 'x',
    })
    const folder = await newFolder({ 'all.zip': archive, 'Kunden.xlsx': workbookFile(sheet) })
    assert.deepEqual(await counts(join(folder, 'Kunden.xlsx')), { accounts: [2, 0, 0, 0] })
    const { stderr } = await masthead('import', join(folder, 'all.zip'), '--dry-run')
    assert.match(stderr, /all\.zip\/readme\.txt is left out/)
    assert.deepEqual(await counts(join(folder, 'all.zip')), { accounts: [0, 0, 2, 0], contacts: [1, 0, 0, 0] })
    assert.deepEqual(
      (await list('/contacts')).map(({ lastName }) => lastName),
      ['Groß'],
    )
  })
})

describe('what could be read in two ways is refused', { concurrency: 2 }, () => {
  const refuses = (what: string, name: string, content: string, complaint: RegExp) =>
    test(what, async () => {
      const { masthead, list } = await newTenant()
      const before = [await list('/accounts'), await list('/contacts')]
      const folder = await newFolder({ [name]: content })
      const { stdout, stderr } = await masthead('import', join(folder, name))
      assert.match(stdout + stderr, complaint)
      assert.deepEqual([await list('/accounts'), await list('/contacts')], before)
    })

  for (const header of ['Name;Kundennr;E-Mail', 'Vorname;Nachname;Kundennr;E-Mail']) {
    const cells = header.split(';').map((name) => (name === 'Kundennr' ? 'A-1' : `${name}@example.com`))
    refuses(`contacts as customers: ${header}`, 'Leute.csv', `${header}\n${cells.join(';')}\n`, /--resource/)
  }
  const quoted = 'externalId\taccountId\tname\temail\nx\tA-1\t"Ada"\t\\N\n'
  refuses(
    'quotes beside \\N',
    'contacts.tsv',
    quoted,
    /--escapes quotes \(.*\), --escapes backslashes \(.*\), --escapes both/,
  )
  refuses(
    'two headings of one field',
    'contacts.csv',
    'externalId,accountId,Telefon,Tel\nx,A-1,1,2\n',
    /"Telefon" and "Tel" both name phone/,
  )
  const two = 'externalId;accountId;total;totalDue;dueDate;issueDate\nx;A-1;1,50 €;2,50 $;1/2/26;3/4/2026\n'
  refuses(
    'amounts of two currencies',
    'invoices.csv',
    two,
    /total in € and totalDue in \$, and a record has one currency/,
  )
  const decomposed = 'externalId,accountId,name\nx,A-1,Zoe\u0308\n'
  refuses('accents that follow their letters, or Windows-1252', 'contacts.csv', decomposed, /--encoding/)
})

test('refused rows come with the line ends, the separator line and the marks for spreadsheets of their file', async () => {
  const { counts, list } = await newTenant()
  const row = "x2;A-9;'+49 30;'=1"
  const folder = await newFolder({
    'contacts.csv': `sep=;\r\nexternalId;accountId;phone;notes\r\nx1;A-1;;\r\n${row}\r\n`,
  })
  assert.deepEqual(await counts(join(folder, 'contacts.csv')), { contacts: [1, 0, 0, 1] })
  const path = join(folder, 'contacts.csv.rejected.csv')
  const [separator, header, refused = '', end, ...others] = (await readFile(path, 'utf8')).split('\r\n')
  assert.deepEqual([separator, end, others], ['sep=;', '', []])
  assert.equal(header, 'rejected_line;rejected_column;rejected_reason;externalId;accountId;phone;notes')
  assert.ok(refused.startsWith('4;accountId;') && refused.endsWith(`;${row}`), refused)
  await writeFile(path, (await readFile(path, 'utf8')).replace(row, row.replace('A-9', 'A-1')))
  assert.deepEqual(await counts(path), { contacts: [1, 0, 0, 0] })
  const found = (await list('/contacts')).find(({ phone }) => phone !== null)
  assert.deepEqual([found?.phone, found?.notes], ['+49 30', '=1'])
})

test('a workbook whose formulas have no stored values is refused there, and each digit of a long number counts', async () => {
  const { masthead, list } = await newTenant()
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
  const rows = [
    [cell('accountId'), cell('company')],
    ['<c><v>123456789012345678</v></c>', '<c t="str"><f>"A"&amp;"B"</f><v>AB</v></c>'],
    [cell('A-2'), '<c t="str"><f>B2</f></c>'],
    [cell('A-3'), '<c><f>B2</f><v></v></c>'],
  ]
  const sheet = `<worksheet><sheetData>${rows.map((row) => `<row>${row.join('')}</row>`).join('')}</sheetData></worksheet>`
  const folder = await newFolder({ 'accounts.xlsx': workbookFile(sheet) })
  const { stdout } = await masthead('import', join(folder, 'accounts.xlsx'), '--json')
  assert.match(stdout, /is a formula whose value is not stored/)
  assert.deepEqual(
    (await list('/accounts')).map(({ accountId, company }) => [accountId, company]).filter(([id]) => id !== 'A-1'),
    [['123456789012345678', 'AB']],
  )
})

describe('a map', { concurrency: 2 }, () => {
  test('splits and joins columns, translates values and names the resource', async () => {
    const { counts, list } = await newTenant()
    const folder = await newFolder({
      'leute.csv':
        'Nr;Kunde;Wer;Notiz 1;Notiz 2;Sperre\n1;A-1;Ludwig van Beethoven;laut;taub;gesperrt\n2;A-1;Nena;;;frei\n3;A-1;;nur eine;;\n',
      'map.json': JSON.stringify({
        contacts: {
          split: { Wer: ['firstName', 'lastName'] },
          join: { notes: { of: ['Notiz 1', 'Notiz 2'], with: ', ' } },
          rename: { Sperre: 'doNotEmail' },
          translate: { doNotEmail: { Gesperrt: true, frei: false } },
        },
      }),
    })
    const words = [join(folder, 'leute.csv'), '--map', join(folder, 'map.json')]
    assert.deepEqual(await counts(...words), { contacts: [3, 0, 0, 0] })
    assert.deepEqual(
      (await list('/contacts')).map(({ firstName, lastName, notes, doNotEmail }) => [
        firstName,
        lastName,
        notes,
        doNotEmail,
      ]),
      [
        ['Ludwig van', 'Beethoven', 'laut, taub', true],
        [null, 'Nena', null, false],
        [null, null, 'nur eine', null],
      ],
    )
  })

  test('is suggested for a file, and imports it once it is edited', async () => {
    const { counts } = await newTenant()
    const folder = await newFolder({ 'Kontakte.csv': 'Kontaktnr;Kundennr;E-Mail;Hobby\n1;A-1;a@b.example;Golf\n' })
    const file = join(folder, 'Kontakte.csv')
    const suggest = () => runMasthead(['import', 'suggest', file], environmentOf(service))
    const { stdout } = await suggest()
    assert.match(
      stdout,
      /The map is in .*Kontakte\.csv\.map\.json\.\nName the fields of Hobby; null leaves a column out\.\n/,
    )
    const path = `${file}.map.json`
    const map = JSON.parse(await readFile(path, 'utf8'))
    assert.deepEqual(map.contacts.rename, {
      Kontaktnr: 'externalId',
      Kundennr: 'accountId',
      'E-Mail': 'email',
      Hobby: null,
    })
    assert.match((await suggest()).stderr, /is there already: remove it, or name another file with --to/)
    map.contacts.rename.Hobby = 'notes'
    await writeFile(path, JSON.stringify(map))
    assert.deepEqual(await counts(file, '--map', path), { contacts: [1, 0, 0, 0] })
  })

  test('is suggested for an archive with the files that an import takes, and is read with a byte order mark', async () => {
    const { counts } = await newTenant()
    const accounts = 'Kundennr;Firma\nA-7;Sieben\n'
    const folder = await newFolder({ 'all.zip': zipFile({ 'accounts.csv': accounts, 'README.txt': 'Read me.' }) })
    const file = join(folder, 'all.zip')
    const { stderr, code } = await runMasthead(['import', 'suggest', file], environmentOf(service))
    assert.deepEqual([stderr, code], ['', 0])
    const path = `${file}.map.json`
    const map = await readFile(path, 'utf8')
    assert.deepEqual(JSON.parse(map).accounts.rename, { Kundennr: 'accountId', Firma: 'company' })
    await writeFile(path, `\uFEFF${map}`)
    assert.deepEqual(await counts(file, '--map', path), { accounts: [1, 0, 0, 0] })
  })

  test('that gives a field twice, or names what is not there, is refused', async () => {
    const { complaint } = await newTenant()
    const cases: [object, RegExp][] = [
      [{ rename: { a: 'name' }, join: { name: ['b'] } }, /gives name twice/],
      [{ split: { Nowhere: ['firstName', 'lastName'] } }, /names the column "Nowhere", which it does not have/],
      [{ split: { a: 'firstName' } }, /"split" of .* must give "a" fields|must be an object/],
      [{ translate: { status: { a: 'b' } } }, /names "status", which contacts do not have/],
      [{ tranlate: {} }, /holds "tranlate"; it may hold "rename", "set", "split", "join", "translate"/],
    ]
    for (const [contacts, expected] of cases) {
      const folder = await newFolder({
        'contacts.csv': 'externalId,a,b\n1,2,3\n',
        'map.json': JSON.stringify({ contacts }),
      })
      assert.match(
        await complaint(join(folder, 'contacts.csv'), '--map', join(folder, 'map.json'), '--ignore-unknown'),
        expected,
      )
    }
  })
})

test('a formula without a stored value is refused as such, also in a column of marks', async () => {
  const { masthead } = await newTenant()
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`
  const rows = [
    [cell('externalId'), cell('accountId'), cell('hideContact')],
    [cell('K-1'), cell('A-1'), cell('x')],
    [cell('K-2'), cell('A-1'), '<c t="str"><f>B2</f></c>'],
  ]
  const sheet = `<worksheet><sheetData>${rows.map((row) => `<row>${row.join('')}</row>`).join('')}</sheetData></worksheet>`
  const folder = await newFolder({ 'contacts.xlsx': workbookFile(sheet) })
  const { stdout } = await masthead('import', join(folder, 'contacts.xlsx'), '--json')
  assert.deepEqual(
    JSON.parse(stdout).refusals.map(({ reason }: { reason: string }) => reason),
    ['is a formula whose value is not stored: open the file in a spreadsheet, and save it'],
  )
})

test('a workbook that misnumbers its rows and cells is read in their order', async () => {
  const cell = (text: string, place: string) => `<c r="${place}" t="inlineStr"><is><t>${text}</t></is></c>`
  const rows = [
    ['1', 'accountId', 'company'],
    ['two', 'A-2', 'Two'],
    ['99999999999', 'A-3', 'Three'],
    ['2', '', 'refused'],
  ]
  for (const place of ['1', 'A1']) {
    const cellsOf = (texts: string[]) => texts.map((text) => cell(text, place)).join('')
    const sheet = rows.map(([number, ...texts]) => `<row r="${number}">${cellsOf(texts)}</row>`).join('')
    const workbook = workbookFile(`<worksheet><sheetData>${sheet}</sheetData></worksheet>`)
    const { counts, list, masthead } = await newTenant()
    const folder = await newFolder({ 'accounts.xlsx': workbook })
    assert.deepEqual(await counts(folder), { accounts: [2, 0, 0, 1] })
    assert.equal((await list('/accounts')).find(({ accountId }) => accountId === 'A-3')?.company, 'Three')
    const { stdout } = await masthead('import', folder, '--json')
    assert.deepEqual(
      JSON.parse(stdout).refusals.map(({ lines }: { lines: number[] }) => lines),
      [[4]],
    )
  }
})

test('what an export for spreadsheets marked is read back as it was, also where the mark of the encoding is lost', async () => {
  const { counts, list, masthead, complaint } = await newTenant()
  const texts = ['=1+1', '+49 30', '-', "'tis", 'plain', '@home']
  const rows = texts.map((text, index) => `x${index},A-1,"${text}"\n`)
  await counts(await newFolder({ 'contacts.csv': `externalId,accountId,notes\n${rows.join('')}` }))
  const before = await list('/contacts')
  const folder = await newFolder()
  const { code, stderr } = await masthead('export', '--to', folder, '--spreadsheet')
  assert.equal(code, 0, stderr)
  const exported = join(folder, 'contacts.csv')
  assert.deepEqual(await counts(exported), { contacts: [0, 0, texts.length, 0] })
  const text = (await readFile(exported, 'utf8')).slice(1)
  await writeFile(exported, text)
  assert.match(
    await complaint(exported),
    /may be a mark for spreadsheets\. Say --spreadsheet when .*, or --no-spreadsheet/,
  )
  assert.deepEqual(await counts(exported, '--spreadsheet'), { contacts: [0, 0, texts.length, 0] })
  assert.deepEqual(await list('/contacts'), before)
})
