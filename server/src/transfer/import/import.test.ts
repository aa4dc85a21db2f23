import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import pg from 'pg'
import { runMasthead } from '../../../test/processes/masthead-process.ts'
import { environmentOf, importer, newFolder } from '../../../test/records/import-files.ts'
import { assertTenantTallies } from '../../../test/records/tallies.ts'
import { startService, type TestTenant, walk } from '../../../test/service.ts'

const service = await startService()
const environment = environmentOf(service)

const accounts = 'accountId,company,status\nA-1,Acme,active\nA-2,Beta,\n'
const publications = 'code,name,isActive\nDAILY,The Daily,true\nWEEKLY,The Weekly,yes\n'
const contacts = 'externalId,accountId,firstName,lastName,email\nx1,A-1,Ada,Lovelace,ada@example.com\nx2,A-2,Bob,,\n'

const newTenant = async () => {
  const tenant = await service.newTenant()
  const token = await tenant.serviceToken()
  const list = (path: string) => walk(service, token, path)
  // Also what another process has just written.
  const get = async (path: string) =>
    (await service.call('GET', path, { token, headers: { 'cache-control': 'no-cache' } })).body
  return { ...importer(service, tenant), tenant, token, list, get }
}

/** As a busy service names the session in which it looks for changes. */
const whileOthersAreServed = async <T>(work: () => Promise<T>): Promise<T> => {
  const { connectionString } = service
  const client = new pg.Client({ connectionString, application_name: 'masthead 1.0.0, 40 requests/s' })
  await client.connect()
  return work().finally(() => client.end())
}

const afterwards = async ({ id }: TestTenant) => assertTenantTallies(service.owner, id)

describe('an import', { concurrency: 2 }, () => {
  test('brings in a folder of files in any order, references by either identifier', async () => {
    const { counts, list, get, tenant } = await newTenant()
    const folder = await newFolder({
      'accounts.csv': accounts,
      'publications.csv': publications,
      'contacts.csv': contacts,
      'subscriptions.csv':
        'subscriptionId,accountId,publicationId,renewedFromSubsId,status,copies,totalDue\n' +
        'S-2,A-1,DAILY,S-1,active,2,10.5\nS-1,A-1,DAILY,,expired,,-3\n',
      'invoices.ndjson': `${JSON.stringify({ externalId: 'i1', accountId: 'A-2', publicationId: 'WEEKLY', status: 'Past_Due', total: '12', totalDue: '+7.1', isOpen: null })}\n${JSON.stringify({ externalId: 'i2', accountId: 'A-2', status: 'open' })}\n`,
      'readme.txt': 'not for you',
    })
    assert.deepEqual(await counts(folder), {
      accounts: [2, 0, 0, 0],
      contacts: [2, 0, 0, 0],
      invoices: [2, 0, 0, 0],
      publications: [2, 0, 0, 0],
      subscriptions: [2, 0, 0, 0],
    })
    const [second, first] = await list('/subscriptions')
    assert.deepEqual(
      [second?.subscriptionId, second?.renewedFromSubsId, second?.totalDue, second?.copies, first?.totalDue],
      ['S-2', first?.id, '10.50', '2', '-3.00'],
    )
    assert.equal(second?.publicationId, (await get('/publications/DAILY')).id)
    const [ada, bob] = await list('/contacts')
    assert.deepEqual([ada?.name, bob?.name, bob?.email, bob?.accountId], ['Ada Lovelace', 'Bob', null, 'A-2'])
    const [overdue, open] = await list('/invoices')
    assert.deepEqual([overdue?.total, overdue?.balanceCents, overdue?.isOpen], ['12.00', 710, null])
    assert.deepEqual([open?.isOpen, open?.balanceCents], [1, 0])
    assert.equal((await list('/contacts?search=lovelace')).length, 1)
    assert.equal((await list('/invoices?status=past_due')).length, 1)
    await afterwards(tenant)
  })

  test('writes fewer rows at once while others are served', async () => {
    const { counts, tenant } = await newTenant()
    const batchesOf = async (prefix: string) => {
      const rows = Array.from({ length: 600 }, (_, index) => `${prefix}${index},Acme\n`)
      await counts(await newFolder({ 'accounts.csv': `accountId,company\n${rows.join('')}` }))
      const text = `select last - first + 1 as size from import_creations where tenant_id = $1 and import_id = (
        select id from imports where tenant_id = $1 order by started_at desc limit 1) order by first`
      return (await service.owner.query(text, [tenant.id])).rows.map(({ size }) => Number(size))
    }
    assert.deepEqual(await batchesOf('A'), [600])
    // Those after the first are smaller on a slow machine.
    const [first, ...others] = await whileOthersAreServed(() => batchesOf('B'))
    assert.equal(first, 250)
    assert.ok(
      others.every((size) => size <= 250),
      `${others}`,
    )
    await afterwards(tenant)
  })

  test('leaves unchanged rows alone and moves updatedAt of changed ones', async () => {
    const { counts, list, tenant } = await newTenant()
    const folder = await newFolder({ 'accounts.csv': accounts, 'contacts.csv': contacts })
    await counts(folder)
    const before = await list('/contacts')
    assert.deepEqual(await counts(folder), { accounts: [0, 0, 2, 0], contacts: [0, 0, 2, 0] })
    assert.deepEqual(await list('/contacts'), before)
    await writeFile(join(folder, 'contacts.csv'), contacts.replace('Lovelace', 'King'))
    assert.deepEqual(await counts(folder), { accounts: [0, 0, 2, 0], contacts: [0, 1, 1, 0] })
    const [ada, bob] = await list('/contacts')
    assert.deepEqual(bob, before[1])
    assert.deepEqual([ada?.lastName, ada?.createdAt, ada?.name], ['King', before[0]?.createdAt, 'Ada King'])
    assert.ok(String(ada?.updatedAt) > String(before[0]?.updatedAt))
    assert.equal((await list('/contacts?search=king')).length, 1)
    await afterwards(tenant)
  })

  test('keeps a given id, createdAt, updatedAt and ownerId', async () => {
    const { counts, get } = await newTenant()
    const id = '01890000-0000-7000-8000-00000000ABCD'
    await counts(await newFolder({ 'accounts.csv': accounts }))
    const folder = await newFolder({
      'contacts.csv': `id,accountId,ownerId,createdAt,updatedAt\n${id},A-1,u7,2020-01-01T00:00:00Z,2021-01-01T01:00:00+01:00\n`,
    })
    assert.deepEqual(await counts(folder), { contacts: [1, 0, 0, 0] })
    const contact = await get(`/contacts/${id.toLowerCase()}`)
    assert.deepEqual(
      [contact.ownerId, contact.createdAt, contact.updatedAt],
      ['u7', '2020-01-01T00:00:00.000Z', '2021-01-01T00:00:00.000Z'],
    )
  })

  test('leaves what an absent column or property holds, and empties what is given empty', async () => {
    const { counts, list } = await newTenant()
    const start = 'externalId,accountId,email,title,notes\nx1,A-1,a@b.example,CEO,"a ""quoted"" note"\n'
    await counts(await newFolder({ 'accounts.csv': accounts, 'contacts.csv': start }))
    await counts(await newFolder({ 'contacts.csv': 'externalId,email,title\nx1,,""\n' }))
    const [contact] = await list('/contacts')
    assert.deepEqual([contact?.email, contact?.title, contact?.notes], [null, '', 'a "quoted" note'])
    await counts(await newFolder({ 'contacts.jsonl': '{"externalId":"x1","notes":null}\n{"externalId":"x9"}\n' }))
    assert.deepEqual((await list('/contacts'))[0]?.notes, null)
  })

  test('takes a name that was joined from first and last name along with them, and leaves one of its own', async () => {
    const { counts, list } = await newTenant()
    const start = 'externalId,accountId,name,firstName,lastName\nx1,A-1,Ada Byron,Ada,Byron\nx2,A-1,Lady B.,Ada,Byron\n'
    await counts(await newFolder({ 'accounts.csv': accounts, 'contacts.csv': start }))
    const names = async () => (await list('/contacts')).map(({ name }) => name)
    assert.deepEqual(
      await counts(await newFolder({ 'contacts.csv': 'externalId,lastName\nx1,Lovelace\nx2,Lovelace\n' })),
      { contacts: [0, 2, 0, 0] },
    )
    assert.deepEqual(await names(), ['Ada Lovelace', 'Lady B.'])
    await counts(await newFolder({ 'contacts.csv': 'externalId,lastName,name\nx1,King,Ada L.\n' }))
    assert.deepEqual(await names(), ['Ada L.', 'Lady B.'])
  })

  test('keeps an e-mail address that cannot be one, as legacy systems have them', async () => {
    const { counts, list } = await newTenant()
    const contacts = 'externalId,accountId,email\nx1,A-1,a@b.example; c@d.example\n'
    await counts(await newFolder({ 'accounts.csv': accounts, 'contacts.csv': contacts }))
    assert.equal((await list('/contacts'))[0]?.email, 'a@b.example; c@d.example')
  })

  test('opens and closes an invoice by its new status, unless the file says which', async () => {
    const { counts, list } = await newTenant()
    const invoices = 'externalId,accountId,status\ni1,A-1,open\ni2,A-1,strange\n'
    await counts(await newFolder({ 'accounts.csv': accounts, 'invoices.csv': invoices }))
    const openness = async () => (await list('/invoices')).map(({ isOpen }) => isOpen)
    assert.deepEqual(await openness(), [1, null])
    await counts(await newFolder({ 'invoices.csv': 'externalId,isOpen\ni2,1\n' }))
    await counts(await newFolder({ 'invoices.csv': 'externalId,status\ni1,PAID\ni2,strange\n' }))
    assert.deepEqual(await openness(), [0, 1])
  })

  test('reads gzip, semicolons, tabs, a BOM and Windows line ends', async () => {
    const { counts } = await newTenant()
    const windows = `\uFEFF${accounts.replaceAll(',', ';').replaceAll('\n', '\r\n')}`
    const folder = await newFolder({
      'accounts.csv.gz': gzipSync(windows),
      'publications.tsv': publications.replaceAll(',', '\t'),
    })
    assert.deepEqual(await counts(folder), { accounts: [2, 0, 0, 0], publications: [2, 0, 0, 0] })
  })

  test('renames columns, leaves some out and sets constants by a map', async () => {
    const { counts, list, complaint } = await newTenant()
    const folder = await newFolder({
      'accounts.csv': accounts,
      'contacts.csv': 'Nr,E-Mail,Fax\nx1,a@b.example,123\n',
      'map.json': JSON.stringify({
        contacts: {
          rename: { Nr: 'externalId', 'E-Mail': 'email', Fax: null },
          set: { accountId: 'A-2', subsOnly: true },
        },
      }),
      'wrong.json': JSON.stringify({ contacts: { rename: { Nr: 'extrenalId' } } }),
    })
    assert.deepEqual(await counts(folder, '--map', join(folder, 'map.json')), {
      accounts: [2, 0, 0, 0],
      contacts: [1, 0, 0, 0],
    })
    const [contact] = await list('/contacts?includeSubsOnly=true')
    assert.deepEqual([contact?.email, contact?.accountId], ['a@b.example', 'A-2'])
    assert.match(
      await complaint(folder, '--map', join(folder, 'wrong.json')),
      /names "extrenalId", which contacts do not have\. Did you mean externalId\?/,
    )
  })

  test('shows with --dry-run what would happen, and does nothing', async () => {
    const { counts, list, masthead } = await newTenant()
    const folder = await newFolder({ 'accounts.csv': `${accounts}A-3,Gamma,${'x'.repeat(101)}\n` })
    assert.deepEqual(await counts(folder, '--dry-run'), { accounts: [2, 0, 0, 1] })
    assert.deepEqual(await list('/accounts'), [])
    const { stdout, code } = await masthead('import', folder, '--dry-run')
    assert.equal(code, 2)
    assert.match(stdout, /accounts +2 +0 +0 +1\n/)
    assert.match(stdout, /1 row refused:\n.*\n1 +status +is longer than 100 characters +4\n/)
    assert.ok(!existsSync(join(folder, 'accounts.csv.rejected.csv')))
    assert.match(stdout, /Nothing was written: this was a dry run\.\n$/)
    assert.deepEqual(JSON.parse((await masthead('import', 'list', '--json')).stdout), [])
  })

  test('brings in nothing with --strict when a row is refused', async () => {
    const { importAll, list } = await newTenant()
    const folder = await newFolder({ 'accounts.csv': accounts, 'contacts.csv': `${contacts}x3,A-9,,,\n` })
    const { id, files } = await importAll(folder, '--strict')
    assert.deepEqual([id, files.map(({ refused }) => refused)], [null, [0, 1]])
    assert.deepEqual(await list('/accounts'), [])
  })
})

describe('a bad row', { concurrency: 2 }, () => {
  /** The reasons by line, from the file of rejected rows. */
  const reasonsOf = async (file: string): Promise<string[]> =>
    (await readFile(`${file}.rejected.csv`, 'utf8')).trimEnd().split('\n').slice(1)

  test('is refused with file, line, column and reason, while the good ones go in', async () => {
    const { counts, list, tenant } = await newTenant()
    const folder = await newFolder({
      'accounts.csv': accounts,
      'publications.csv': publications,
      'subscriptions.csv': [
        'subscriptionId,accountId,publicationId,startDate,totalDue,autoInvoice,renewedFromSubsId',
        'S-1,A-1,DAILY,2026-02-28,1.00,true,',
        'S-2,A-1,DAILY,2026-02-30,1.00,true,',
        'S-3,A-1,DAILY,2026-02-28,"about 1,000",true,',
        'S-4,A-1,DAILY,,1.234,maybe,',
        'S-5,A-9,DAILY,,,,',
        'S-6,A-1,MONTHLY,,,,',
        'S-7,A-1,DAILY,,,,S-2',
        'S-1,A-1,DAILY,,,,',
        'S-8,A-1,DAILY,,',
        'S-9,,DAILY,,,,',
        '01890000-0000-7000-8000-000000000000,A-1,DAILY,,,,',
        'S-10,A-1,DAILY,,,,S-10',
        ',A-1,DAILY,,,,',
      ].join('\n'),
    })
    assert.deepEqual((await counts(folder)).subscriptions, [1, 0, 0, 12])
    const reasons = await reasonsOf(join(folder, 'subscriptions.csv'))
    const starts = [
      '3,startDate,"""2026-02-30"" is no date',
      '4,totalDue,"""about 1,000"" is no amount of money',
      '5,autoInvoice,"autoInvoice: ""maybe"" is neither true nor false; totalDue: ""1.234"" is no amount of money',
      '6,accountId,"there is no account ""A-9"" in this tenant or among the rows that go in",S-5,',
      '7,publicationId,"there is no publication ""MONTHLY""',
      '8,renewedFromSubsId,"there is no subscription ""S-2""',
      '9,subscriptionId,"line 2 gives this `subscriptionId` already, and the first counts"',
      '10,,"has 5 cells, the header has 7",S-8,A-1,DAILY,,',
      '11,accountId,must not be empty,S-9,',
      '12,subscriptionId,"""01890000-0000-7000-8000-000000000000"" has the shape of an `id`',
      '13,renewedFromSubsId,a subscription cannot be renewed from itself',
      '14,subscriptionId,"needs `subscriptionId` or `id`',
    ]
    for (const [index, start] of starts.entries()) assert.equal(reasons[index]?.slice(0, start.length), start)
    assert.equal(reasons.length, starts.length)
    assert.equal((await list('/subscriptions')).length, 1)
    await afterwards(tenant)
  })

  test('can be mended in the file of rejected rows and imported again', async () => {
    const { counts, list } = await newTenant()
    const folder = await newFolder({
      'accounts.csv': accounts,
      'contacts.csv': 'externalId,accountId,notes\nx1,A-7,"two\nlines"\nx2,A-1,ok\n',
      'invoices.ndjson': '{"externalId":"i1","accountId":"A-1","status":"open","dueDate":"2026-13-01"}\n{"oops"\n',
    })
    assert.deepEqual(await counts(folder), { accounts: [2, 0, 0, 0], contacts: [1, 0, 0, 1], invoices: [0, 0, 0, 2] })
    const [ofContacts, ofInvoices] = ['contacts.csv', 'invoices.ndjson'].map((name) =>
      join(folder, `${name}.rejected.csv`),
    )
    for (const path of [ofContacts ?? '', ofInvoices ?? '']) {
      const text = await readFile(path, 'utf8')
      await writeFile(path, text.replaceAll('A-7', 'A-2').replaceAll('2026-13-01', '2026-12-01'))
    }
    assert.deepEqual(await counts(ofContacts ?? '', ofInvoices ?? ''), {
      contacts: [1, 0, 0, 0],
      invoices: [1, 0, 0, 1],
    })
    assert.equal((await list('/contacts?accountId=A-2'))[0]?.notes, 'two\nlines')
    assert.equal((await list('/invoices'))[0]?.dueDate, '2026-12-01')
    await writeFile(join(folder, 'contacts.csv'), 'externalId,accountId\nx2,A-1\n')
    await counts(join(folder, 'contacts.csv'))
    assert.ok(!existsSync(ofContacts ?? ''), 'a file without refused rows leaves no file of them')
    assert.ok(existsSync(`${ofContacts}.bak`), 'what somebody may have mended is kept')
  })

  test('is shown to a spreadsheet so that it runs nothing, and read back as it was', async () => {
    const { counts, list } = await newTenant()
    const texts = [
      '=HYPERLINK("http://a.example")',
      '+49 30',
      '-1',
      '@a',
      '\ta',
      '\ra',
      '\na',
      '＝1',
      "'tis",
      "''",
      'a=1',
      '',
    ]
    const rows = texts.map((text, index) => `x${index},A-9,"${text.replaceAll('"', '""')}"\n`)
    const folder = await newFolder({
      'accounts.csv': accounts,
      'contacts.csv': `externalId,accountId,notes\n${rows.join('')}`,
      'invoices.ndjson': '=1+1\n',
    })
    await counts(folder)
    const [ofContacts, ofInvoices] = ['contacts.csv', 'invoices.ndjson'].map((name) =>
      join(folder, `${name}.rejected.csv`),
    )
    const cells = (path = ''): Promise<string[][]> => readFile(path, 'utf8').then((text) => parse(text))
    const shown = (await cells(ofContacts)).slice(1).map((row) => row[5])
    assert.deepEqual(
      shown,
      texts.map((text) => (/^(a=1)?$/.test(text) ? text : `'${text}`)),
    )
    assert.equal((await cells(ofInvoices))[1]?.[3], `'=1+1`)
    // Refused again, they stay as they are.
    await counts(ofContacts ?? '')
    const again = `${ofContacts}.rejected.csv`
    assert.deepEqual(
      (await cells(again)).slice(1).map((row) => row[5]),
      shown,
    )
    await writeFile(again, (await readFile(again, 'utf8')).replaceAll('A-9', 'A-1'))
    assert.deepEqual(await counts(again), { contacts: [texts.length, 0, 0, 0] })
    assert.deepEqual(
      (await list('/contacts')).map(({ notes }) => notes),
      texts,
    )
  })

  test('of wrong encoding, with NUL, too long or with a list is refused alone', async () => {
    const { counts } = await newTenant()
    const csv = Buffer.concat([
      Buffer.from('externalId,accountId,name\nx1,A-1,J'),
      Buffer.from([0xf6]),
      Buffer.from('rg\nx2,A-1,n\0l\nx3,A-1,'),
      Buffer.alloc(10 * 1024 * 1024, 'x'),
      Buffer.from('\nx4,A-1,"A ""B"" C"\nx5,A-1,"A"B\nx6,A-1,\uFFFD\n'),
    ])
    const folder = await newFolder({
      'accounts.csv': accounts,
      'contacts.csv': csv,
      'contacts-2.ndjson':
        '{"externalId":"y1","accountId":{"id":"A-1"},"accountId":["A-1"]}\n{"externalId":"y2","accountId":["A-1"]}\n[]\n{"externalId":"y3","accountId":"A-1","name":"\\ud800"}\n',
    })
    const other = importer(service, await service.newTenant())
    assert.match(await other.complaint(folder), /some of its bytes are UTF-8, and others are not\. .*--encoding utf-8/)
    const { files } = await other.importAll(folder, '--encoding', 'utf-8')
    assert.deepEqual(
      files.map(({ created, refused }) => [created, refused]),
      [
        [2, 0],
        [0, 4],
        [2, 4],
      ],
    )
    const reasons = (await reasonsOf(join(folder, 'contacts.csv'))).map((line) => line.slice(0, 90)).join('\n')
    assert.match(reasons, /2,name,"holds bytes that are not UTF-8/)
    assert.match(reasons, /3,name,holds a NUL character/)
    assert.match(reasons, /4,name,is longer than 255 characters/)
    assert.match(reasons, /6,,"?text follows the quote/)
    assert.match((await reasonsOf(join(folder, 'contacts-2.ndjson'))).join('\n'), /1,accountId,"must be a text, true/)
    const rejected = join(folder, 'contacts.csv.rejected.csv')
    await counts(join(folder, 'accounts.csv'))
    // But for the quote: written by the rules, it is clear what is meant.
    assert.deepEqual(await counts(rejected), { contacts: [1, 0, 0, 3] }, 'what nobody mended is refused again')
  })

  test('about a record that an earlier row names by its other identifier is refused', async () => {
    const { counts, list, get, tenant } = await newTenant()
    await counts(await newFolder({ 'accounts.csv': accounts, 'contacts.csv': contacts }))
    const { id } = await get('/accounts/A-1')
    const rows = [
      { id, status: 'one' },
      { accountId: 'A-1', status: 'two' },
    ]
    const folder = await newFolder({ 'accounts.ndjson': rows.map((row) => JSON.stringify(row)).join('\n') })
    assert.deepEqual(await counts(folder), { accounts: [0, 1, 0, 1] })
    assert.match((await reasonsOf(join(folder, 'accounts.ndjson'))).join(), /line 1 is about the same record/)
    assert.equal((await list('/accounts?status=one')).length, 1)
    const [ada] = await list('/contacts')
    const swapped = await newFolder({ 'contacts.csv': `id,externalId,accountId\n${ada?.id},x3,A-1\n,x1,A-1\n` })
    assert.deepEqual(await counts(swapped), { contacts: [0, 1, 0, 1] })
    await afterwards(tenant)
  })

  test('takes those with it that were renewed from what it would have created', async () => {
    const { counts, list } = await newTenant()
    const folder = await newFolder({
      'accounts.csv': accounts,
      'publications.csv': publications,
      'subscriptions.csv':
        'subscriptionId,accountId,publicationId,renewedFromSubsId\nS-1,A-1,DAILY,S-1\nS-2,A-1,DAILY,S-1\nS-3,A-1,DAILY,S-2\nS-4,A-1,DAILY,\n',
    })
    assert.deepEqual((await counts(folder)).subscriptions, [1, 0, 0, 3])
    assert.match(
      (await reasonsOf(join(folder, 'subscriptions.csv')))[2] ?? '',
      /"the subscription ""S-2"" is refused too"/,
    )
    assert.deepEqual(
      (await list('/subscriptions')).map(({ subscriptionId }) => subscriptionId),
      ['S-4'],
    )
  })

  test('takes them with it however many rows stand between', async () => {
    const { counts } = await newTenant()
    const between = Array.from({ length: 1_500 }, (_, index) => `S-${index + 2},A-1,DAILY,\n`).join('')
    const folder = await newFolder({
      'accounts.csv': accounts,
      'publications.csv': publications,
      'subscriptions.csv': `subscriptionId,accountId,publicationId,renewedFromSubsId\nS-1,A-1,DAILY,gone\n${between}S-0,A-1,DAILY,S-1\n`,
    })
    const { subscriptions } = await whileOthersAreServed(() => counts(folder))
    assert.deepEqual(subscriptions, [1_500, 0, 0, 2])
    assert.match(
      (await reasonsOf(join(folder, 'subscriptions.csv')))[1] ?? '',
      /"the subscription ""S-1"" is refused too"/,
    )
  })

  test('cannot take the identifier of a record away', async () => {
    const { counts, list } = await newTenant()
    const subscriptions = 'subscriptionId,accountId,publicationId\nS-1,A-1,DAILY\n'
    await counts(
      await newFolder({
        'accounts.csv': accounts,
        'publications.csv': publications,
        'subscriptions.csv': subscriptions,
      }),
    )
    const [subscription] = await list('/subscriptions')
    const folder = await newFolder({ 'subscriptions.csv': `id,subscriptionId\n${subscription?.id},\n` })
    assert.deepEqual(await counts(folder), { subscriptions: [0, 0, 0, 1] })
  })

  test('with digits that JSON cannot carry, or NUL in a name, is refused and shown without power over a terminal', async () => {
    const { counts, masthead } = await newTenant()
    const folder = await newFolder({
      'accounts.ndjson':
        '{"accountId":9007199254740993}\n{"accountId":"A","company":"x\\u0000\\u001b[2J"}\n{"accountId":"B"}\n',
    })
    assert.deepEqual(await counts(folder), { accounts: [1, 0, 0, 2] })
    const reasons = (await reasonsOf(join(folder, 'accounts.ndjson'))).join('\n')
    assert.match(reasons, /1,accountId,"must be a text, .* a number of at most 15 digits"/)
    assert.match(reasons, /2,company,holds a NUL character/)
    const evil = await newFolder({ 'contacts.csv': 'externalId,\u001b]0;pwned\u0007\nx,y\n' })
    const { stdout, stderr } = await masthead('import', evil)
    assert.match(stderr, /a column "\\x1b\]0;pwned\\x07"/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what it is about
    assert.doesNotMatch(stdout + stderr, /[\u0000-\u0009\u000b-\u001f]/)
  })

  test('that names the id of another record is refused', async () => {
    const { counts, get } = await newTenant()
    await counts(await newFolder({ 'accounts.csv': accounts }))
    const [one, two] = [await get('/accounts/A-1'), await get('/accounts/A-2')]
    const folder = await newFolder({
      'accounts.csv': `id,accountId,company\n${one.id},A-2,x\n${two.id},A-3,x\n`,
      'accounts-2.csv': `id,accountId,company\n${two.id.toUpperCase()},A-2,New\n`,
    })
    assert.deepEqual(await counts(join(folder, 'accounts.csv')), { accounts: [0, 0, 0, 2] })
    assert.deepEqual(await counts(join(folder, 'accounts-2.csv')), { accounts: [0, 1, 0, 0] })
    const reasons = (await reasonsOf(join(folder, 'accounts.csv'))).join('\n')
    assert.match(reasons, new RegExp(`2,id,the record with this \`accountId\` has the id ${two.id}`))
    assert.match(reasons, /3,accountId,"the record with this `id` has the `accountId` ""A-2"""/)
    assert.deepEqual([(await get('/accounts/A-1')).company, (await get('/accounts/A-2')).company], ['Acme', 'New'])
  })
})

describe('a file that cannot be imported at all is refused before anything is written', { concurrency: 2 }, () => {
  const cases: [name: string, files: Record<string, string | Uint8Array>, expected: RegExp][] = [
    ['an unknown column', { 'contacts.csv': 'externalId,acountId\n' }, /a column "acountId".*Did you mean accountId\?/],
    ['a repeated column', { 'contacts.csv': 'externalId,name,name\n' }, /gives name twice/],
    ['no key', { 'contacts.csv': 'accountId,name\nA-1,x\n' }, /no column "externalId" or "id"/],
    ['an empty file', { 'contacts.csv': '' }, /contacts\.csv is empty/],
    [
      'an unnamed column with values',
      { 'contacts.csv': 'externalId,\nx,y\n' },
      /column number 2 without a name \("y"\)/,
    ],
    [
      'unknown columns, all at once and with their first values',
      { 'contacts.csv': 'externalId,Fax,Hobby\n1,11,\n2,12,Golf\n3,,\n4,13,\n5,14,Tennis\n' },
      /it has 2 columns "Fax" \("11", "12", "13"\), "Hobby" \("Golf", "Tennis"\), which contacts do not have\. .*--ignore-unknown/,
    ],
    [
      'unknown properties of objects, which come late',
      {
        'contacts.ndjson': `${'{"externalId":"x"}\n'.repeat(2_000)}{"externalId":"y","nmae":"x"}\n{"a":{"b":1}}\n`,
      },
      /it has 2 columns "nmae" \("x"\. Did you mean name\?\), "a\.b" \("1"\), which contacts do not have/,
    ],
    ['a folder with nothing in it', {}, /holds nothing to import: name files like contacts\.csv/],
    ['a quote left open', { 'contacts.csv': 'externalId,name\nx,"y\n' }, /opens on line 2 is never closed/],
    ['UTF-32', { 'contacts.csv': Buffer.from('e\0\0\0x\0\0\0t\0\0\0') }, /is UTF-32, save it as UTF-8/],
    ['a damaged gzip', { 'contacts.csv.gz': gzipSync('externalId\nx').subarray(0, 20) }, /is (cut off|damaged)/],
  ]
  for (const [name, files, expected] of cases) {
    test(name, async () => {
      const { complaint, list } = await newTenant()
      const folder = await newFolder({ ...files, ...(Object.keys(files).length > 0 && { 'accounts.csv': accounts }) })
      assert.match(await complaint(folder), expected)
      assert.deepEqual(await list('/accounts'), [])
    })
  }

  test('a file of another name, one that is not there, and an unknown tenant', async () => {
    const { complaint } = await newTenant()
    const folder = await newFolder({ 'contact.csv': 'a,b\n1,2\n' })
    assert.match(
      await complaint(join(folder, 'contact.csv')),
      /its columns do not tell what it holds: say it with --resource.*Did you mean contacts\?/,
    )
    assert.match(await complaint(join(folder, 'contacts.csv')), /does not exist/)
    const known = await newFolder({ 'contacts.csv': contacts })
    assert.match((await runMasthead(['import', known, '--tenant', 'nobody'], environment)).stderr, /no tenant "nobody"/)
    assert.match((await runMasthead(['import', known], environment)).stderr, /say whose records they are: --tenant/)
  })
})

describe('--prune', { concurrency: 2 }, () => {
  const rows = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `x${from + index},A-1`).join('\n')
  const file = (from: number, to: number) => `externalId,accountId\n${rows(from, to)}\n`

  test('marks what is missing from a full file as deleted, after saying how many', async () => {
    const { masthead, counts, list, tenant } = await newTenant()
    await counts(await newFolder({ 'accounts.csv': accounts, 'contacts.csv': file(1, 20) }))
    const { stdout, stderr, code } = await masthead(
      'import',
      await newFolder({ 'contacts.csv': file(3, 21) }),
      '--prune',
    )
    assert.equal(code, 0)
    assert.match(stderr, /2 of 20 contacts are missing from the file/)
    assert.match(stdout, /2 contacts marked as deleted\./)
    assert.equal((await list('/contacts')).length, 19)
    assert.equal((await list('/contacts?includeDeleted=true')).filter(({ deletedAt }) => deletedAt !== null).length, 2)
    await afterwards(tenant)
  })

  test('refuses to mark more than a tenth without --force, and writes nothing then', async () => {
    const { complaint, counts, list } = await newTenant()
    await counts(await newFolder({ 'accounts.csv': accounts, 'contacts.csv': file(1, 20) }))
    const folder = await newFolder({ 'contacts.csv': file(4, 22) })
    assert.match(await complaint(folder, '--prune'), /would mark 3 of 20 contacts as deleted \(15 %\).*--force/)
    assert.equal((await list('/contacts')).length, 20)
    await counts(folder, '--prune', '--force')
    assert.equal((await list('/contacts')).length, 19)
  })

  test('takes no refused row for missing, and refuses rows that it cannot recognise', async () => {
    const { complaint, counts, list } = await newTenant()
    await counts(await newFolder({ 'accounts.csv': accounts, 'contacts.csv': file(1, 20) }))
    const withBad = `externalId,accountId,deletedAt\n${rows(2, 20).replaceAll('A-1', 'A-1,')}\nx1,A-1,yesterday\n`
    assert.deepEqual(await counts(await newFolder({ 'contacts.csv': withBad }), '--prune'), { contacts: [0, 0, 19, 1] })
    assert.equal((await list('/contacts')).length, 20)
    const unnamed = await newFolder({ 'contacts.csv': `${file(2, 20)},A-1\n` })
    assert.match(await complaint(unnamed, '--prune'), /row on line 21 of the contacts cannot be recognised/)
  })
})
