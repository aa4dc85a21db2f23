import assert from 'node:assert/strict'
import { text as readText } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { newId } from '../../../server/src/records/identifiers.ts'
import {
  sampleAccount,
  sampleContact,
  sampleInvoice,
  samplePublication,
  sampleSubscription,
} from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireRows, requireSoon } from '../visitor.ts'

/** What a person does who is asked a question about many customers. */

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const person = await newPerson('Grace Hopper', [tenant, 'viewer'])
const publicationId = newId()
await tenant.add('publications', [samplePublication('HERALD', { id: publicationId, name: 'The Herald' })])
await tenant.add('accounts', [
  sampleAccount('A1', { company: 'Harbour Books' }),
  sampleAccount('A2', { company: 'Valley Library' }),
  sampleAccount('A,3', { company: 'Comma Press' }),
])
const subscription = (accountId: string, subscriptionId: string, expireDate: string | null, totalDue: string) =>
  sampleSubscription(accountId, publicationId, { subscriptionId, expireDate, totalDue })
await tenant.add('subscriptions', [
  subscription('A1', 'S-1', '2031-11-30', '1.00'),
  subscription('A1', 'S-2', '2031-12-31', '20.00'),
  subscription('A2', 'S-3', '2031-12-01', '3.00'),
  subscription('A,3', 'S-4', '2032-01-01', '4.00'),
  subscription('A2', 'S-5', null, '5.00'),
])
const invoice = (description: string, issueDate: string, dueDate: string) =>
  sampleInvoice('A1', publicationId, { invoiceDescription: description, issueDate, dueDate, status: 'open', isOpen: 1 })
await tenant.add('invoices', [
  invoice('The Herald, instalment 1 of 2', '2026-01-01', '2026-01-31'),
  invoice('The Herald, instalment 2 of 2', '2026-06-01', '2099-01-31'),
])
await tenant.add(
  'contacts',
  Array.from({ length: 60 }, (_, index) => sampleContact('A1', { name: `Person ${String(index).padStart(2, '0')}` })),
)

const crowd = await service.newTenant('Crowd')
const inCrowd = await newPerson('Ada Lovelace', [crowd, 'viewer'])
await crowd.add('accounts', [sampleAccount('A1')])
await crowd.add(
  'contacts',
  Array.from({ length: 201 }, () => sampleContact('A1', { name: 'One of a crowd' })),
)

/** The file that a click makes the browser save. */
const savedBy = async (page: Page, click: () => Promise<void>): Promise<{ name: string; lines: string[] }> => {
  const [download] = await Promise.all([page.waitForEvent('download'), click()])
  const file = await download.createReadStream()
  const text = await readText(file)
  return { name: download.suggestedFilename(), lines: text.trim().split(/\r?\n/) }
}

visit('finds whose subscription ends in December and exports them', person, async (page) => {
  await page.goto('/subscriptions')
  await requireRows(page, ['S-1', 'S-2', 'S-3', 'S-4', 'S-5'])
  await page.getByLabel('Expire date').selectOption('From … to …')
  await page.getByLabel('From', { exact: true }).fill('2031-12-01')
  await page.getByLabel('To', { exact: true }).fill('2031-12-31')
  await requireRows(page, ['S-2', 'S-3'])
  await page.getByRole('link', { name: 'Harbour Books A1' }).waitFor()
  await page.getByRole('link', { name: 'Valley Library A2' }).waitFor()
  await requireNoHindrance(page)
  const { name, lines } = await savedBy(page, () => button(page, 'Export CSV').click())
  assert.match(name, /^subscriptions-\d{4}-\d\d-\d\d\.csv$/)
  assert.equal(lines.length, 3)
  assert.ok(lines.some((line) => line.includes('S-2')) && lines.some((line) => line.includes('S-3')))
  await page.getByText('2 subscriptions are in').waitFor()
  await requireNoHindrance(page)
})

visit('exports what a search finds', person, async (page) => {
  await page.goto('/accounts?search=library')
  await requireRows(page, ['Valley Library'])
  const { lines } = await savedBy(page, () => button(page, 'Export CSV').click())
  assert.equal(lines.length, 2)
  assert.match(lines[1] ?? '', /Valley Library/)
  await page.getByText('1 account is in').waitFor()
})

visit('searches for too many to export them, and is told what to do', inCrowd, async (page) => {
  await page.goto('/contacts?search=crowd')
  await page.getByText('1 to 50 of 201').waitFor()
  await button(page, 'Export CSV').click()
  await page.getByText('A search that finds more than 200 contacts cannot be exported.').waitFor()
})

visit('sorts by a heading, turns the order around, and gives it up', person, async (page) => {
  await page.goto('/subscriptions')
  const amount = page.getByRole('columnheader', { name: 'Total due' })
  await amount.getByRole('link').click()
  await requireRows(page, ['S-2', 'S-5', 'S-4', 'S-3', 'S-1'])
  await requireSoon(() => amount.getAttribute('aria-sort'), 'descending')
  await page.waitForURL(({ searchParams }) => searchParams.get('sort') === '-totalDue')
  await amount.getByRole('link').click()
  await requireRows(page, ['S-1', 'S-3', 'S-4', 'S-5', 'S-2'])
  await page.reload()
  await requireRows(page, ['S-1', 'S-3', 'S-4', 'S-5', 'S-2'])
  await amount.getByRole('link').click()
  await requireRows(page, ['S-1', 'S-2', 'S-3', 'S-4', 'S-5'])
  await page.waitForURL(({ search }) => search === '')
})

visit(
  'sees the newest invoices first, each instalment by its end, and only those that are overdue',
  person,
  async (page) => {
    await page.goto('/invoices')
    await requireRows(page, ['The Herald, instalment 2 of 2', 'The Herald, instalment 1 of 2'])
    await page.getByLabel('Due date').selectOption('Overdue')
    await requireRows(page, ['The Herald, instalment 1 of 2'])
    await page.waitForURL(({ search }) => search === '?overdue=true')
  },
)

visit('walks a sorted list by the links of the service, there and back', person, async (page) => {
  await page.goto('/contacts?sort=-name&pageSize=25')
  await page.getByText('1 to 25 of 60').waitFor()
  await page.keyboard.press('n')
  await page.getByText('26 to 50 of 60').waitFor()
  await page.waitForURL(({ searchParams }) => searchParams.has('cursor'))
  await page.reload()
  await page.getByText('26 to 50 of 60').waitFor()
  await page.getByRole('link', { name: 'Next page' }).click()
  await page.getByText('51 to 60 of 60').waitFor()
  await page.getByRole('link', { name: 'Previous page' }).click()
  await page.getByText('26 to 50 of 60').waitFor()
  await page.goto('/contacts?sort=-name&cursor=made-up')
  await page.getByRole('link', { name: 'Go to the first page' }).click()
  await page.getByText('1 to 50 of 60').waitFor()
})

visit('saves a view, finds it again after a reload, and deletes it', person, async (page) => {
  await page.goto('/subscriptions?expireDateFrom=2031-12-01&sort=-expireDate')
  await requireRows(page, ['S-4', 'S-2', 'S-3'])
  await button(page, 'Views').click()
  await page.getByLabel('Save what you see as').fill('Ends in December or later')
  await page.getByText('Kept in this browser').waitFor()
  await requireNoHindrance(page)
  await button(page, 'Save').click()
  await page.goto('/subscriptions')
  await requireRows(page, ['S-1', 'S-2', 'S-3', 'S-4', 'S-5'])
  await button(page, 'Views').click()
  await page.getByRole('link', { name: 'Ends in December or later' }).click()
  await requireRows(page, ['S-4', 'S-2', 'S-3'])
  await button(page, 'Ends in December or later').click()
  await button(page, 'Delete the view Ends in December or later').click()
  await page.getByText('No views yet').waitFor()
})

visit('comes back to the row that was left', person, async (page) => {
  await page.goto('/contacts?sort=name')
  await page.getByRole('link', { name: 'Person 44' }).click()
  await heading(page, 'Person 44').waitFor()
  await page.goBack()
  await heading(page, 'Contacts').waitFor()
  const row = page.getByRole('link', { name: 'Person 44' })
  await row.waitFor()
  await page.locator('.title-link:focus').waitFor()
  await requireSoon(() => page.locator(':focus').innerText(), 'Person 44')
  const box = await row.boundingBox()
  assert.ok(box && box.y > 0 && box.y < 720, JSON.stringify(box))
  // A list that is opened anew begins at its top.
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Contacts' }).click()
  await requireSoon(() => page.locator('.title-link:focus').count(), 0)
})
