import assert from 'node:assert/strict'
import { newId } from '../../../server/src/records/identifiers.ts'
import { sampleAccount, sampleContact } from '../../../server/test/records/sample-records.ts'
import { button, openConsole, requireNoHindrance, requireRows, requireSoon } from '../visitor.ts'

/** What a person does who tidies up. */

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const editor = await newPerson('Grace Hopper', [tenant, 'editor'])
const viewer = await newPerson('Ada Lovelace', [tenant, 'viewer'])
const gone = newId()
await tenant.add('accounts', [sampleAccount('A1')])
await tenant.add('contacts', [
  sampleContact('A1', { name: 'Ann' }),
  sampleContact('A1', { name: 'Bob' }),
  sampleContact('A1', { name: 'Cid', id: gone }),
  sampleContact('A1', { name: 'Dan' }),
])

visit('deletes several contacts, restores them, and is told what failed', editor, async (page) => {
  await page.goto('/contacts?sort=name')
  await requireRows(page, ['Ann', 'Bob', 'Cid', 'Dan'])
  await page.getByLabel('Choose all on this page').check()
  await page.getByLabel('Choose Dan').uncheck()
  await page.getByText('3 chosen').waitFor()
  await requireNoHindrance(page)
  // A connection breaks for one of them.
  await page.route(`**/contacts/${gone}`, (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 404, contentType: 'application/problem+json', body: notFound })
      : route.continue(),
  )
  await button(page, 'Delete').click()
  const question = page.getByRole('dialog', { name: 'Delete 3 contacts?' })
  await question.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('2 contacts were deleted.').waitFor()
  const failure = page.getByRole('alert')
  assert.match(await failure.innerText(), /One contact was not:\s*Cid: It was removed\./)
  await requireNoHindrance(page)
  await page.getByRole('dialog').getByText('Close', { exact: true }).click()
  await requireRows(page, ['Cid', 'Dan'])
  await page.getByLabel('Deleted').check()
  await requireRows(page, ['Ann', 'Bob', 'Cid', 'Dan'])
  await page.getByLabel('Choose all on this page').check()
  await button(page, 'Restore (2)').click()
  await page.getByText('2 contacts were restored.').waitFor()
})

const notFound = JSON.stringify({
  type: 'about:blank',
  title: 'There is no such thing here',
  status: 404,
  code: 'not_found',
  detail: 'It was removed.',
  requestId: 'a'.repeat(32),
})

visit('hides contacts and marks them “do not e-mail”, and takes it back', editor, async (page) => {
  await page.goto('/contacts?sort=name&includeHidden=true')
  await page.getByLabel('Choose Dan').check()
  await button(page, 'Hide').click()
  await page.getByText('One contact was hidden.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('row', { name: 'Dan' }).getByText('Hidden').waitFor()
  await page.getByLabel('Choose Dan').check()
  await button(page, 'Do not e-mail').click()
  await page.getByText('One contact was marked “do not e-mail”.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('Choose Dan').check()
  await button(page, 'Show again').click()
  await page.getByText('One contact was shown again.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('row', { name: 'Dan' }).getByText('No e-mail').waitFor()
  await requireSoon(() => page.getByRole('row', { name: 'Dan' }).getByText('Hidden').count(), 0)
})

visit('chooses one contact by the keyboard, goes on to the next, and deletes the first', editor, async (page) => {
  await page.goto('/contacts?sort=name')
  await page.getByLabel('Choose Cid').press('Space')
  await page.keyboard.press('j')
  await requireSoon(() => page.locator(':focus').innerText(), 'Dan')
  await button(page, 'Delete').click()
  const question = page.getByRole('dialog', { name: 'Delete one contact?', exact: true })
  await question.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('One contact was deleted.').waitFor()
})

visit('may only look, and is offered nothing to choose', viewer, async (page) => {
  await page.goto('/contacts')
  await page.locator('.title-link').first().waitFor()
  await requireSoon(() => page.getByRole('checkbox', { name: /^Choose/ }).count(), 0)
})
