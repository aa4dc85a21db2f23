import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@masthead/contract'
import type { Page, Request } from 'playwright-core'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, pressUntilGone, requireNoHindrance, requireSoon, signIn } from '../visitor.ts'

const { service, newPerson, newVisitor, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const token = await tenant.serviceToken()
const editor = await newPerson('Grace Hopper', [tenant, 'editor'])
const viewer = await newPerson('Ada Lovelace', [tenant, 'viewer'])
await tenant.add('accounts', [
  sampleAccount('A1', { company: 'Harbour Books' }),
  sampleAccount('A2', { company: 'Valley Library' }),
  sampleAccount('A3', { company: 'Valley School' }),
])

const account = (page: Page) => page.getByRole('combobox', { name: 'Account' })
const create = (page: Page) => button(page, 'Create')
const requireRowsLoaded = (page: Page) => page.locator('.records[aria-busy="false"], .empty').first().waitFor()
const found = async (search: string) =>
  (await service.call('GET', `/contacts?search=${encodeURIComponent(search)}`, { token })).body.items
const isCreation = (request: Request) => request.method() === 'POST' && request.url().endsWith('/contacts')
/** What is sent when this is done. */
const sentBy = async (page: Page, act: () => Promise<void>): Promise<unknown> => {
  const [request] = await Promise.all([page.waitForRequest(isCreation), act()])
  return request.postDataJSON()
}

visit('confirms characters of another script by Enter, and chooses no account by that', editor, async (page) => {
  await page.goto('/contacts/new')
  await account(page).fill('valley')
  await page.getByRole('option', { name: 'Valley Library' }).waitFor()
  await account(page).dispatchEvent('keydown', { key: 'Enter', isComposing: true })
  // As Safari tells it.
  await account(page).dispatchEvent('keydown', { key: 'Enter', keyCode: 229 })
  await requireSoon(() => account(page).inputValue(), 'valley')
  await account(page).press('Enter')
  await requireSoon(() => account(page).inputValue(), 'Valley Library')
})

visit('begins at the account, fills in what they know, and comes to the contact', editor, async (page) => {
  await page.goto('/accounts/A1')
  await page.getByRole('link', { name: 'New contact' }).click()
  await heading(page, 'New contact').waitFor()
  await page.getByText('· A1').waitFor()
  await requireSoon(() => account(page).inputValue(), 'Harbour Books')
  await page.getByLabel('First name').fill('Zoë')
  await page.getByLabel('Last name').fill('Dupré')
  await page.getByLabel('Do not e-mail').check()
  await page.getByLabel('Notes').fill('Two lines\nof text')
  await page.getByLabel('Hidden').check()
  await page.getByLabel('Hidden').uncheck()
  assert.deepEqual(await sentBy(page, () => create(page).click()), {
    accountId: 'A1',
    firstName: 'Zoë',
    lastName: 'Dupré',
    doNotEmail: true,
    notes: 'Two lines\nof text',
  })
  await heading(page, 'Zoë Dupré').waitFor()
  await page.getByRole('status').getByText('Zoë Dupré was created.').waitFor()
  const [contact] = await found('dupre')
  await page.waitForURL(({ pathname }) => pathname === `/t/${tenant.slug}/contacts/${contact.id}`)
  await page.getByRole('link', { name: 'Harbour Books', exact: true }).click()
  await heading(page, 'Harbour Books').waitFor()
  await page.getByRole('link', { name: 'Zoë Dupré' }).waitFor()
  await requireSoon(() => page.getByText('was created').count(), 0)
  await page.goBack()
  await heading(page, 'Zoë Dupré').waitFor()
  await requireSoon(() => page.getByText('was created').count(), 0)
})

visit('finds the form where contacts are, with all that the API takes', editor, async (page) => {
  await page.goto('/contacts')
  await page.getByRole('link', { name: 'New contact' }).click()
  await heading(page, 'New contact').waitFor()
  const { deletedAt, ...asked } = resources.contacts.operations.CreateContactRecord.body.properties
  await requireSoon(() => page.locator('form').locator('input, textarea, select').count(), Object.keys(asked).length)
  await requireNoHindrance(page)
})

visit('looks for the account by keyboard', editor, async (page) => {
  await page.goto('/contacts/new')
  await account(page).fill('valley')
  const option = (name: string) => page.getByRole('option', { name })
  await option('Valley School').waitFor()
  await requireNoHindrance(page)
  await page.keyboard.press('ArrowDown')
  await requireSoon(() => option('Valley School').getAttribute('aria-selected'), 'true')
  await page.keyboard.press('Enter')
  await option('Valley School').waitFor({ state: 'hidden' })
  await requireSoon(() => account(page).inputValue(), 'Valley School')
  await page.getByText('· A3').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.type('Nora')
  assert.deepEqual(await sentBy(page, () => page.keyboard.press('Enter')), { accountId: 'A3', name: 'Nora' })
  await heading(page, 'Nora').waitFor()
})

visit('is told beside each field what is wrong with it, and mends it', editor, async (page) => {
  await page.goto('/contacts/new')
  await heading(page, 'New contact').waitFor()
  await page.getByLabel('Extension').fill('x'.repeat(21))
  await page.getByText('Too long by 1').waitFor()
  await create(page).click()
  await page.getByText('Account is required.').waitFor()
  await page.getByText('Extension must have at most 20 characters.').waitFor()
  const focused = page.locator(':focus')
  await requireSoon(() => focused.getAttribute('role'), 'combobox')
  await requireSoon(() => focused.getAttribute('aria-invalid'), 'true')
  const described = await focused.getAttribute('aria-describedby')
  assert.match(String(described), /-error$/)
  await requireNoHindrance(page)
  await account(page).fill('nobody')
  await page.getByLabel('Extension').fill('20')
  await requireSoon(() => page.getByText('is required.').count(), 0)
  await create(page).click()
  await page.getByText(/There is no account/).waitFor()
  await account(page).fill('A1')
  await page.getByRole('option', { name: 'Harbour Books' }).click()
  await page
    .getByLabel('Full name', { exact: true })
    .or(page.getByLabel('Name', { exact: true }))
    .fill('Mended')
  await create(page).click()
  await heading(page, 'Mended').waitFor()
})

visit('is told above the form what belongs to no field, and loses nothing', editor, async (page) => {
  await page.goto('/contacts/new?accountId=A1')
  await page.getByLabel('Notes').fill('x'.repeat(300_000))
  await page.getByText('Too long by 290,000').waitFor()
  await create(page).click()
  const alert = page.getByRole('alert')
  await alert.getByText('The body is too large').waitFor()
  assert.match(await alert.innerText(), /Request \w{32}/)
  await page.locator(':focus', { hasText: 'The body is too large' }).waitFor()
  assert.equal((await page.getByLabel('Notes').inputValue()).length, 300_000)
  await requireNoHindrance(page)
})

visit('presses the button twice, and has one contact', editor, async (page) => {
  let sent = 0
  page.on('request', (request) => {
    if (isCreation(request)) sent += 1
  })
  await page.goto('/contacts/new?accountId=A1&name=Twice')
  await page.getByLabel('Name', { exact: true }).waitFor()
  await create(page).dblclick()
  await heading(page, 'Twice').waitFor()
  assert.equal(sent, 1)
})

visit('presses the button until the form is gone, and has one contact', editor, async (page) => {
  let sent = 0
  page.on('request', (request) => {
    if (isCreation(request)) sent += 1
  })
  await page.goto('/contacts/new?accountId=A1&name=Often')
  await page.getByLabel('Name', { exact: true }).waitFor()
  await pressUntilGone(create(page))
  await heading(page, 'Often').waitFor()
  assert.equal(sent, 1)
})

test('hears no answer, tries again, and has one contact', async () => {
  const { context, page } = await newVisitor()
  await page.goto('/contacts/new?accountId=A1&name=Unheard')
  await signIn(page, editor)
  await page.getByLabel('Name', { exact: true }).waitFor()
  await page.route('**/contacts', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await create(page).click()
  const alert = page.getByRole('alert').getByText('The service did not answer')
  await alert.waitFor()
  await page.unroute('**/contacts')
  await create(page).click()
  await heading(page, 'Unheard').waitFor()
  assert.equal((await found('unheard')).length, 1)
  await context.close()
})

visit('is asked before what was typed is lost', editor, async (page) => {
  await page.goto('/contacts')
  await requireRowsLoaded(page)
  await page.getByRole('link', { name: 'New contact' }).click()
  await heading(page, 'New contact').waitFor()
  // Nothing is lost yet.
  await page.getByRole('link', { name: 'Cancel' }).click()
  await heading(page, 'Contacts').waitFor()
  await page.goBack()
  await page.getByLabel('Last name').fill('Half')
  await page.getByRole('link', { name: 'Cancel' }).click()
  const question = page.getByRole('dialog', { name: 'Leave without saving?' })
  await question.waitFor()
  await requireNoHindrance(page)
  await button(page, 'Stay').click()
  await question.waitFor({ state: 'hidden' })
  await requireSoon(() => page.getByLabel('Last name').inputValue(), 'Half')
  await page.goBack()
  await question.waitFor()
  await button(page, 'Leave').click()
  await heading(page, 'Contacts').waitFor()
  assert.deepEqual(await found('half'), [])
})

visit('may only look, and is told so instead of being led astray', viewer, async (page) => {
  await page.goto('/contacts')
  await requireRowsLoaded(page)
  await requireSoon(() => page.getByRole('link', { name: 'New contact' }).count(), 0)
  for (const [path, title] of [
    ['/contacts/new', 'New contact'],
    ['/accounts/new', 'New account'],
    ['/tasks/new', 'New task'],
    ['/contacts/anybody/edit', 'Edit a contact'],
  ] as const) {
    await page.goto(path)
    await heading(page, title).waitFor()
    await page.getByText('In Herald Press you are a viewer').waitFor()
    await requireSoon(() => page.locator('form').count(), 0)
  }
  await requireNoHindrance(page)
})
