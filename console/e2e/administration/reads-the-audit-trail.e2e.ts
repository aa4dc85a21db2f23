import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { heading, openConsole, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])
await tenant.add('accounts', [sampleAccount('A1')])
const token = await tenant.serviceToken()
const created = await service.call('POST', '/contacts', { token, body: { accountId: 'A1', name: 'Ada Byron' } })
const path = `/contacts/${created.body.id}`
await service.call('PATCH', path, { token, body: { accountId: 'A1', name: 'Ada Lovelace', phone: '+44 20 1' } })

const lines = (page: Page) => page.getByRole('list', { name: 'Audit trail' }).getByRole('listitem')

visit('finds who changed a contact, and what it was before', admin, async (page) => {
  await page.goto('/admin/audit')
  await page.getByLabel('Done to').selectOption('Contacts')
  await lines(page).filter({ hasText: 'updated the contact' }).waitFor()
  // Until they have come, those of before are shown.
  await lines(page).nth(2).waitFor({ state: 'detached' })
  await page.waitForURL(({ search }) => search === '?resource=contacts')
  await requireSoon(() => lines(page).count(), 2)
  const changed = lines(page).first()
  assert.match(await changed.innerText(), /^test\s+updated the contact\s+Ada Lovelace/)
  await changed.getByText('Details').click()
  const cells = async (field: string) => (await changed.getByRole('row', { name: field }).innerText()).split('\t')
  await requireSoon(() => cells('Name'), ['Name', 'Ada Byron', 'Ada Lovelace'])
  await requireSoon(() => cells('Phone'), ['Phone', '–', '+44 20 1'])
  await requireSoon(() => changed.getByRole('row', { name: 'Account' }).count(), 0, 'what stayed is not told')
  await changed.getByText('By a service token').waitFor()
  await changed.getByRole('link', { name: 'Ada Lovelace' }).click()
  await heading(page, 'Ada Lovelace').waitFor()
  await page.goBack()
  await requireSoon(() => page.getByLabel('Done to').inputValue(), 'contacts')
})

visit('reads all that was done to one thing', admin, async (page) => {
  await page.goto('/admin/audit?resource=members')
  const line = lines(page).filter({ hasText: `added the member ${admin.email}` })
  await line.getByText('Details').click()
  await line.getByRole('link', { name: 'All that was done to it' }).click()
  await page.waitForURL(/recordId=/)
  await requireSoon(() => page.getByLabel('Identifier').inputValue(), new URL(page.url()).searchParams.get('recordId'))
  await page.getByLabel('Identifier').fill('nobody')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Nothing of this was done' }).waitFor()
  await requireSoon(() => page.getByLabel('Identifier').evaluate((box) => box.matches(':focus')), true)
  await page.getByRole('link', { name: 'Show all' }).click()
  await lines(page).first().waitFor()
})

visit('sees the tokens of applications only when asked for', admin, async (page) => {
  await page.goto('/admin/audit?resource=consents')
  await page.getByLabel('Tokens handed to applications').waitFor()
  await requireSoon(() => lines(page).filter({ hasText: 'got a token for' }).count(), 0)
  await page.getByLabel('Tokens handed to applications').check()
  await lines(page).filter({ hasText: 'got a token for Masthead Console' }).first().waitFor()
})

visit('goes back to what is older, and forth to the newest', admin, async (page) => {
  for (let number = 0; number < 55; number++)
    await service.call('POST', '/contacts', { token, body: { accountId: 'A1', name: `Contact ${number}` } })
  await page.goto('/admin/audit?resource=contacts')
  await lines(page).filter({ hasText: 'Contact 54' }).waitFor()
  await requireSoon(() => lines(page).count(), 50)
  await page.getByRole('link', { name: 'Older' }).click()
  await lines(page).filter({ hasText: 'Contact 0' }).waitFor()
  await requireSoon(() => lines(page).count(), 7)
  await page.waitForURL(/before=\d+/)
  await requireSoon(() => page.getByRole('main').locator('[aria-current]').count(), 0, 'no link leads to where one is')
  await page.getByRole('link', { name: 'Newest' }).click()
  await lines(page).filter({ hasText: 'Contact 54' }).waitFor()
  await requireSoon(() => page.getByRole('link', { name: 'Newest' }).count(), 0)
})
