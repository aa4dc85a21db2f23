import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import pg from 'pg'
import type { Page } from 'playwright-core'
import { zipFile } from '../../../server/src/transfer/files/zip-file.ts'
import { publications, records } from '../../../server/test/files/records.ts'
import { sampleRecord } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireSoon } from '../visitor.ts'

/** What an admin does who has records in a file. */

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])
const viewer = await newPerson('Ada Lovelace', [tenant, 'viewer'])
/** With the records that files of other programs refer to. */
const publisher = await service.newTenant('Tower Press')
const publishingAdmin = await newPerson('Ida Rhodes', [publisher, 'admin'])
await publisher.add(
  'publications',
  publications.map((one) => sampleRecord('publications', one)),
)
await publisher.add(
  'accounts',
  records.accounts.map(({ accountId = null }) => sampleRecord('accounts', { accountId })),
)

const accounts = `accountId,company
H1,Harbour Books
H2,Valley Library
${'x'.repeat(70)},Nobody
`

const choose = async (page: Page, name: string, content: string | Buffer) => {
  await page.goto('/admin/imports/new')
  await send(page, name, content)
}
const send = async (page: Page, name: string, content: string | Buffer) => {
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) })
  await heading(page, name).waitFor()
}
const ofOthers = (name: string) => readFile(new URL(`../../../server/test/files/${name}`, import.meta.url))
const figures = (page: Page) => page.locator('.counts dd').allInnerTexts()
const check = async (page: Page) => {
  await page.locator('button:text-matches("^Check (the file|all files)$"):not([aria-disabled=true])').click()
  await page.getByText('This is what the import would do').waitFor()
}
const totalOf = async ({ serviceToken }: typeof tenant, resource: string) => {
  const headers = { 'cache-control': 'no-cache' }
  return (await service.call('GET', `/${resource}`, { token: await serviceToken(), headers })).body.total
}
const saved = async (page: Page, name: string | RegExp) => {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name }).click()
  const file = await download
  return { name: file.suggestedFilename(), bytes: await buffer(await file.createReadStream()) }
}

visit('checks a file, imports it, saves the refused rows, and takes it back', admin, async (page) => {
  await page.goto('/admin/imports')
  await heading(page, 'Imports').waitFor()
  await page.getByRole('link', { name: 'Import a file' }).click()
  await send(page, 'accounts of today.csv', accounts)
  await requireSoon(() => page.getByLabel('What it holds').inputValue(), 'accounts')
  await check(page)
  await requireSoon(() => figures(page), ['2', '0', '0', '1'])
  await page.getByRole('row', { name: /is longer than 64 characters.* 4$/ }).waitFor()
  assert.equal(await totalOf(tenant, 'accounts'), 0)

  await button(page, 'Import 2 records').click()
  await page.getByText('The file was imported').waitFor()
  assert.equal(await totalOf(tenant, 'accounts'), 2)
  const { name, bytes } = await saved(page, 'Save the refused rows')
  assert.equal(name, 'accounts of today.csv.rejected.csv')
  assert.match(bytes.toString(), /rejected_line.*\n.*4,/)
  await page.getByRole('link', { name: 'Imports' }).last().click()

  const row = page.getByRole('row', { name: /accounts of today\.csv/ })
  await row.getByText('done', { exact: true }).waitFor()
  await row.getByRole('link', { name: /^Show/ }).click()
  await button(page, 'Save the refused rows').waitFor()
  await page.goBack()
  await row.getByRole('button', { name: /^Undo/ }).click()
  await button(page, 'Take it back').click()
  await page.getByText('2 records were removed').waitFor()
  await row.getByText('undone', { exact: true }).waitFor()
  assert.equal(await totalOf(tenant, 'accounts'), 0)
})

visit('clicks until the import begins, which it does once and without a complaint', admin, async (page) => {
  await choose(page, 'twice.csv', 'accountId,company\nT1,Tower Books\n')
  await check(page)
  let starts = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/start')) starts++
  })
  await button(page, 'Import 1 record').waitFor()
  await page.evaluate(`{
    const start = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Import 1 record')
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      if (!start.isConnected) return
      start.click()
      port2.postMessage('again')
    }
    port2.postMessage('begin')
  }`)
  await page.getByText('The file was imported').waitFor()
  assert.equal(starts, 1)
  await requireSoon(() => page.getByRole('alert').count(), 0)
  await button(page, 'Undo').click()
  await button(page, 'Take it back').click()
  await page.getByText('1 record was removed').waitFor()
})

visit(
  'imports the file that Excel wrote, choosing a field for the column that nobody knows, and takes it back',
  admin,
  async (page) => {
    const [header, ...rows] = ['Kundennr;Firma;Betreuerin', '00417;Müller & Söhne;Grün', '00418;Verlag "Turm";Weiß']
    const text = [`sep=;`, header, ...rows, ''].join('\r\n')
    await choose(page, 'Kunden.csv', Buffer.from(text, 'latin1'))
    await requireSoon(() => page.getByLabel('What it holds').inputValue(), 'accounts')
    await requireSoon(() => page.getByLabel('Encoding').inputValue(), 'windows-1252')
    const unknown = page.getByRole('row', { name: /^Betreuerin/ })
    await unknown.getByText('Grün').waitFor()
    await requireNoHindrance(page)
    // A field is given by one column only, unless both are joined.
    await page.getByLabel('Field of Betreuerin').selectOption('company')
    await page.getByText('Also chosen for Firma.').waitFor()
    await page
      .locator('.problems')
      .getByText(/two columns were chosen for company/i)
      .waitFor()
    await page.getByLabel('Field of Betreuerin').selectOption('quality')
    await page.getByRole('columnheader', { name: 'Quality' }).waitFor()
    await page.reload()
    await page.getByRole('columnheader', { name: 'Quality' }).waitFor()
    await check(page)
    await requireSoon(() => figures(page), ['2', '0', '0', '0'])
    await button(page, 'Import 2 records').click()
    await page.getByText('The file was imported').waitFor()
    await button(page, 'Undo').click()
    await button(page, 'Take it back').click()
    await page.getByText('2 records were removed').waitFor()

    // The next file with the same header is read in the same way.
    await choose(page, 'Kunden neu.csv', Buffer.from(text.replaceAll('0041', '0051'), 'latin1'))
    await page.getByText('as you chose for the last file with the same header').waitFor()
    await requireSoon(() => page.getByLabel('Field of Betreuerin').inputValue(), 'quality')
    await button(page, 'Forget that for this file').click()
    await page.locator('.problems').getByText('Betreuerin').waitFor()
  },
)

visit('splits a name, joins columns, and changes their order', admin, async (page) => {
  const text = 'Kundennr,Person,Ort,Land\nJ1,Ada King Lovelace,Turmstadt,Zett\nJ2,Hopper,,Zett\n'
  await choose(page, 'Kunden.csv', text)
  const cell = (name: string) =>
    page.getByRole('table', { name: 'The first rows' }).getByRole('cell', { name, exact: true })
  await page.getByLabel('Field of Person').selectOption('Split it into fields')
  await page.getByLabel('Field of part 1 of Person').selectOption('company')
  await page.getByLabel('Field of part 2 of Person').selectOption('quality')
  await cell('Ada King').waitFor()
  await cell('Lovelace').waitFor()
  await page.getByLabel('Field of Ort').selectOption('category')
  await page.getByLabel('Field of Land').selectOption('category')
  await button(page, /^Join them \(Ort/).click()
  await cell('Turmstadt Zett').waitFor()
  await page.getByLabel(/^What stands between/).selectOption(', ')
  await button(page, 'The other way round').click()
  await cell('Zett, Turmstadt').waitFor()
  await cell('Zett').waitFor()
  await requireNoHindrance(page)
  await page.getByLabel('Field of Land').selectOption('Leave it out')
  await cell('Turmstadt').waitFor()
})

visit('decides about each file of an archive, imports them together, and takes them back', admin, async (page) => {
  const files = {
    'contacts.csv': 'externalId,accountId,lastName,Fax\nZ-1,Z1,Lovelace,1\nZ-2,Z9,Hopper,2\n',
    'accounts.csv': 'accountId,company\nZ1,Zenith Press\n',
    'LIESMICH.txt': 'Nur Text.',
  }
  await choose(page, 'Export.zip', zipFile(files))
  const archive = page.getByRole('table', { name: 'Files of the archive' })
  await archive.getByRole('row', { name: /^LIESMICH\.txt.* left out/ }).waitFor()
  await archive.getByRole('row', { name: /^accounts\.csv Accounts 1 ready/ }).waitFor()
  await archive.getByRole('row', { name: /^contacts\.csv Contacts 2 1 thing to decide/ }).waitFor()
  await button(page, 'Show accounts.csv').click()
  await page.getByRole('cell', { name: 'Zenith Press' }).first().waitFor()
  await page.getByText('There is something to decide about contacts.csv').waitFor()
  await button(page, 'Show contacts.csv').click()
  await page.getByLabel('Field of Fax').selectOption('Leave it out')
  await requireNoHindrance(page)
  await check(page)
  await requireSoon(() => figures(page), ['2', '0', '0', '1'])
  await page.getByRole('row', { name: /^accounts\.csv Accounts 1 0 0 0/ }).waitFor()
  await page.getByRole('row', { name: /there is no such account.* contacts\.csv/ }).waitFor()
  await button(page, 'Import 2 records').click()
  await page.getByText('The file was imported').waitFor()
  assert.equal((await saved(page, 'Save the refused rows')).name, 'Export.zip.rejected.zip')
  await button(page, 'Undo').click()
  await button(page, 'Take it back').click()
  await page.getByText('2 records were removed').waitFor()
})

visit('saves refused rows as the file came, mends them and imports them', admin, async (page) => {
  const text = `Kundennr;Firma\r\nM1;Müller\r\n${'x'.repeat(70)};"Groß; ""Söhne"""\r\n`
  await choose(page, 'Kunden.csv', Buffer.from(text, 'latin1'))
  await check(page)
  await button(page, 'Import 1 record').click()
  await page.getByText('The file was imported').waitFor()
  const { name, bytes } = await saved(page, 'Save the refused rows')
  assert.equal(name, 'Kunden.csv.rejected.csv')
  const refused = bytes.toString('latin1')
  assert.match(refused, /;Kundennr;Firma\r?\n/)
  assert.match(refused, /;"Groß; ""Söhne"""/)
  await choose(page, name, Buffer.from(refused.replaceAll('x'.repeat(70), 'M2'), 'latin1'))
  await requireSoon(() => page.getByLabel('What it holds').inputValue(), 'accounts')
  await check(page)
  await requireSoon(() => figures(page), ['1', '0', '0', '0'])
})

visit('leaves out the columns that nobody knows', publishingAdmin, async (page) => {
  await choose(page, 'Leser.csv', await ofOthers('contacts-libreoffice-de.csv'))
  await requireSoon(() => page.getByLabel('What it holds').inputValue(), 'contacts')
  await page.getByLabel('Field of Faxnummer').waitFor()
  await button(page, 'Leave out unknown columns').click()
  await check(page)
  const [created, , , refused] = await figures(page)
  assert.deepEqual([created, refused], [String(contactsIn1252), '0'])
})

/** All but the one in Polish and Japanese, and the one with a tab. */
const contactsIn1252 = records.contacts.length - 2

visit('says which comes first in dates that leave it open', publishingAdmin, async (page) => {
  await choose(page, 'Factures.csv', await ofOthers('invoices-libreoffice-fr-first-days.csv'))
  await page.getByText('The values leave it open').first().waitFor()
  await requireSoon(() => button(page, 'Check the file').getAttribute('aria-disabled'), 'true')
  await page.getByLabel(/^Dates such as/).selectOption('dmy')
  await page.getByRole('cell', { name: '2026-10-01' }).first().waitFor()
  await check(page)
  await requireSoon(() => figures(page), ['10', '0', '0', '0'])
})

visit('says what quotes and backslashes are in a file of MySQL', admin, async (page) => {
  await choose(page, 'accounts.tsv', 'accountId\tcompany\nQ-1\t\\N\nQ-2\t"C:\\\\Press"\n')
  const choice = page.getByLabel('Quotes and backslashes')
  await page.getByText('The file leaves it open: choose.').waitFor()
  await requireSoon(() => button(page, 'Check the file').getAttribute('aria-disabled'), 'true')
  await requireNoHindrance(page)
  const cell = (name: string) =>
    page.getByRole('table', { name: 'The first rows' }).getByRole('cell', { name, exact: true })
  await choice.selectOption('backslashes')
  await cell('"C:\\Press"').waitFor()
  await choice.selectOption('both')
  await cell('C:\\Press').waitFor()
  await check(page)
  await requireSoon(() => figures(page), ['2', '0', '0', '0'])
})

visit(
  'chooses the sheet of a workbook, on a phone',
  publishingAdmin,
  async (page) => {
    await choose(page, 'Buchhaltung.xlsx', await ofOthers('invoices-openpyxl-second-sheet.xlsx'))
    await page.getByLabel('Sheet').selectOption('Rechnungen')
    await page.getByLabel('Field of Rechnungsdatum').waitFor()
    await requireSoon(() => page.getByLabel('What it holds').inputValue(), 'invoices')
    await check(page)
    await requireNoHindrance(page)
    await requireSoon(() => figures(page), ['24', '0', '0', '0'])
  },
  { viewport: { width: 390, height: 844 } },
)

visit('says what a status of the file stands for', publishingAdmin, async (page) => {
  await choose(page, 'Kunden.csv', 'Kundennr;Status\n00417;aktiv\n00418;aktiv\n00419;active\n')
  await page.getByRole('row', { name: /^aktiv 2/ }).waitFor()
  await page.getByLabel('What aktiv becomes').selectOption('active')
  await page.getByRole('table', { name: 'The first rows' }).getByRole('cell', { name: 'active' }).nth(2).waitFor()
})

visit('cancels an import, which takes back what was written', admin, async (page) => {
  // Some batches, and the beginning of another.
  const rows = Array.from({ length: 2_600 }, (_, index) => `C${index},Cancelled\n`)
  await choose(page, 'accounts.csv', `accountId,company\n${rows.join('')}`)
  await check(page)
  const before = await totalOf(tenant, 'accounts')
  // The last batch waits for somebody who is about to use its last number.
  const other = new pg.Client({ connectionString: service.connectionString })
  await other.connect()
  try {
    await other.query('begin')
    const text = `insert into accounts (tenant_id, position, id, account_id, created_at, updated_at, class, body, version)
      values ($1, -1, gen_random_uuid(), 'C2599', now(), now(), 0, '{}', 0)`
    await other.query(text, [tenant.id])
    await button(page, 'Import 2,600 records').click()
    await page.getByText(/^Writing records [1-9]/).waitFor()
    assert.ok((await totalOf(tenant, 'accounts')) > before)
    await button(page, 'Cancel').click()
  } finally {
    await other.query('rollback')
    await other.end()
  }
  await page.getByRole('heading', { name: 'Cancelled' }).waitFor()
  await page.getByText(/^[1-9][\d,]* records were removed/).waitFor()
  assert.equal(await totalOf(tenant, 'accounts'), before)
  await button(page, 'Look at the file again').click()
  await check(page)
  await requireSoon(() => figures(page), ['2,600', '0', '0', '0'])
})

visit('chooses a file that holds nothing of use, is told so, and chooses another', admin, async (page) => {
  await choose(page, 'accounts.csv', 'nonsense\n1\n')
  await page
    .locator('.problems, [role=alert]')
    .getByText(/nonsense|accountId/)
    .first()
    .waitFor()
  await requireSoon(() => button(page, 'Check the file').getAttribute('aria-disabled'), 'true')
  assert.doesNotMatch(await page.locator('main').innerText(), /\/tmp|--map|--ignore/)
  await page.getByRole('link', { name: 'Choose another file' }).click()
  await page.getByLabel('File', { exact: true }).waitFor()
})

visit('takes invoices for contacts, and is told so', publishingAdmin, async (page) => {
  await choose(page, 'contacts.csv', await ofOthers('invoices-libreoffice-de.csv'))
  await page.getByText('Its columns look like invoices.').waitFor()
  await page.getByLabel('What it holds').selectOption('invoices')
  await check(page)
  await requireSoon(() => figures(page), ['24', '0', '0', '0'])
})

visit('drops a file on the page', admin, async (page) => {
  await page.goto('/admin/imports/new')
  await page.getByLabel('File', { exact: true }).waitFor()
  // As a text, because only browsers have these types.
  const transfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(['accountId,company\\nD1,Dropped\\n'], 'dropped.csv'))
    return transfer
  })()`)
  await page.locator('.drop').dispatchEvent('drop', { dataTransfer: transfer })
  await heading(page, 'dropped.csv').waitFor()
  await page.getByRole('cell', { name: 'Dropped' }).first().waitFor()
})

visit('saves a template, which goes in as soon as it is filled in', admin, async (page) => {
  await page.goto('/admin/imports/new')
  const { name, bytes } = await saved(page, /^Publications/)
  assert.equal(name, 'publications.csv')
  const headings = bytes
    .toString()
    .replace(/^\uFEFF/, '')
    .trim()
    .split(',')
  const values = headings.map((heading) => ({ code: 'NEW', name: 'New title' })[heading] ?? '')
  await choose(page, name, `${headings.join(',')}\n${values.join(',')}\n`)
  await check(page)
  await requireSoon(() => figures(page), ['1', '0', '0', '0'])
})

visit('is told, as a viewer, that it takes an admin', viewer, async (page) => {
  await page.goto('/admin/imports')
  await page.getByRole('heading', { name: 'This page is for admins' }).waitFor()
  await requireSoon(() => page.getByRole('link', { name: 'Imports' }).count(), 0)
})
