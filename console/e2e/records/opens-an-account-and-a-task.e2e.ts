import assert from 'node:assert/strict'
import { newId } from '../../../server/src/records/identifiers.ts'
import { samplePublication } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireSoon } from '../visitor.ts'

/** What a person does when a new customer calls. */

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const editor = await newPerson('Grace Hopper', [tenant, 'editor'])
const publicationId = newId()
await tenant.add('publications', [samplePublication('HERALD', { id: publicationId, name: 'The Herald' })])

visit('opens an account with its first contact, and notes what is to be done', editor, async (page) => {
  await page.goto('/accounts')
  await page.getByRole('link', { name: 'New account' }).click()
  await heading(page, 'New account').waitFor()
  await page.getByLabel('Main publication').selectOption('The Herald')
  await requireNoHindrance(page)
  await button(page, 'Create').click()
  await page.getByText('Company is required.').waitFor()
  await requireSoon(() => page.locator(':focus').getAttribute('required'), '')
  await page.getByLabel('Company', { exact: true }).fill('Harbour Books')
  await page.getByLabel('Last name').fill('Dupré')
  await page.getByLabel('E-mail').fill('zoe@harbour.example')
  const [creation] = await Promise.all([
    page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/accounts')),
    button(page, 'Create').click(),
  ])
  assert.deepEqual(creation.postDataJSON(), {
    company: 'Harbour Books',
    lastName: 'Dupré',
    email: 'zoe@harbour.example',
    primaryPublicationId: publicationId,
  })
  await heading(page, 'Harbour Books').waitFor()
  await page.getByRole('status').getByText('Harbour Books was created as account A1.').waitFor()
  await page.getByRole('table', { name: 'Contacts' }).getByRole('link', { name: 'Dupré' }).waitFor()

  await page.getByRole('link', { name: 'All tasks' }).click()
  await page.getByRole('link', { name: 'New task' }).click()
  await heading(page, 'New task').waitFor()
  await page.getByText('A1', { exact: true }).waitFor()
  await requireSoon(() => page.getByRole('combobox', { name: 'Account' }).inputValue(), 'Harbour Books')
  await button(page, 'Create').click()
  await page.getByText('Title is required.').waitFor()
  await page.getByText('Due date is required.').waitFor()
  await requireNoHindrance(page)
  await page.getByLabel('Title').fill('Send the media kit')
  await page.getByLabel('Due date').fill('2026-12-24')
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST' && response.url().endsWith('/tasks')),
    button(page, 'Create').click(),
  ])
  const { accountId, title, dueDate } = await answer.json()
  assert.deepEqual([accountId, title, dueDate], ['A1', 'Send the media kit', '2026-12-24'])
  await heading(page, 'Harbour Books').waitFor()
  const told = 'The task “Send the media kit” was created, to be done by 24 Dec 2026.'
  await page.getByRole('status').getByText(told).waitFor()
  await page.getByRole('region', { name: 'Tasks' }).getByRole('link', { name: 'Send the media kit' }).waitFor()
  await requireNoHindrance(page)
})
