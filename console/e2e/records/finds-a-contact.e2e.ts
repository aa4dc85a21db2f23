import assert from 'node:assert/strict'
import { until } from '../../../server/test/processes/masthead-process.ts'
import { sampleAccount, sampleContact } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireRows, requireSoon } from '../visitor.ts'

/** What a person does who knows a name, or a part of it. */

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const person = await newPerson('Grace Hopper', [tenant, 'viewer'])
await tenant.add('accounts', [
  sampleAccount('A1', { company: 'Harbour Books' }),
  sampleAccount('A2', { company: 'Valley Library' }),
])
await tenant.add('contacts', [
  sampleContact('A1', { name: 'Zoë Dupré', email: 'zoe@harbour.example' }),
  sampleContact('A1', { name: 'Bruno Hidden', hideContact: true }),
  sampleContact('A2', { name: 'Carla Gone', deletedAt: '2026-03-04T05:06:07.891Z' }),
  sampleContact('A2', { name: 'Dana Subscriber', subsOnly: true }),
  sampleContact('A2', { name: 'Zoë Abel', email: 'abel@valley.example' }),
])

visit('types words, and finds them in any field, without accents', person, async (page) => {
  await page.goto('/contacts')
  await requireRows(page, ['Zoë Dupré', 'Zoë Abel'])
  await page.getByRole('searchbox', { name: 'Search' }).fill('zoe harbour')
  await requireRows(page, ['Zoë Dupré'])
  await page.waitForURL(({ search }) => search === '?search=zoe+harbour')
  await page.getByRole('link', { name: 'Zoë Dupré' }).click()
  await heading(page, 'Zoë Dupré').waitFor()
  assert.equal(await page.title(), 'Zoë Dupré · Masthead')
  await page.getByRole('link', { name: 'Harbour Books', exact: true }).click()
  await heading(page, 'Harbour Books').waitFor()
  await page.goBack()
  await page.goBack()
  await requireRows(page, ['Zoë Dupré'])
  await requireSoon(() => page.getByRole('searchbox', { name: 'Search' }).inputValue(), 'zoe harbour')
})

visit('sends the address of what was found to a colleague', person, async (page) => {
  await page.goto('/contacts?search=zoe&accountId=A2')
  await requireRows(page, ['Zoë Abel'])
  await until('the account is named', async () => {
    return (await page.getByRole('combobox', { name: 'Account' }).inputValue()) === 'Valley Library'
  })
})

visit('looks also among the hidden and the deleted, which are marked', person, async (page) => {
  await page.goto('/contacts')
  await requireRows(page, ['Zoë Dupré', 'Zoë Abel'])
  await page.getByLabel('Hidden').check()
  await requireRows(page, ['Zoë Dupré', 'Bruno Hidden', 'Zoë Abel'])
  await page.getByLabel('Deleted').check()
  await page.getByLabel('For subscriptions only').check()
  await requireRows(page, ['Zoë Dupré', 'Bruno Hidden', 'Carla Gone', 'Dana Subscriber', 'Zoë Abel'])
  const marksOf = (name: string) => page.getByRole('row', { name }).locator('.badge').allInnerTexts()
  await requireSoon(() => marksOf('Bruno Hidden'), ['Hidden'])
  await requireSoon(() => marksOf('Carla Gone'), ['Deleted'])
  await requireSoon(() => marksOf('Dana Subscriber'), ['Subscriptions only'])
  await page.getByRole('link', { name: 'Carla Gone' }).click()
  await heading(page, 'Carla Gone').waitFor()
  await requireSoon(() => page.locator('.page-head .badge').allInnerTexts(), ['Deleted'])
})

visit('picks an account by its company, its city or its number, and nothing else', person, async (page) => {
  const account = page.getByRole('combobox', { name: 'Account' })
  const isAsked = () => new URL(page.url()).searchParams.get('accountId')
  await page.goto('/contacts')
  await requireRows(page, ['Zoë Dupré', 'Zoë Abel'])
  await account.fill('valley')
  await page.getByRole('option', { name: /^Valley Library.*A2$/ }).click()
  await requireRows(page, ['Zoë Abel'])
  await requireSoon(() => account.inputValue(), 'Valley Library')
  await account.fill('nothing of the kind')
  await page.getByText('No account matches').waitFor()
  await account.press('Tab')
  // What is no account filters nothing.
  assert.deepEqual([await account.inputValue(), isAsked()], ['Valley Library', 'A2'])
  await account.fill('')
  await requireRows(page, ['Zoë Dupré', 'Zoë Abel'])
  await account.fill('A1')
  await page.getByRole('option', { name: /A1$/ }).waitFor()
  await account.press('Tab')
  await requireRows(page, ['Zoë Dupré'])
  await page.goto('/contacts?accountId=A99')
  await page.getByText('There is no account “A99”.').waitFor()
})

visit('finds nobody, is told so, and goes back to all', person, async (page) => {
  await page.goto('/contacts?search=nobody')
  await page.getByRole('heading', { name: 'No contacts match' }).waitFor()
  await page.getByRole('link', { name: 'show all' }).click()
  await requireRows(page, ['Zoë Dupré', 'Zoë Abel'])
  await requireSoon(() => page.getByRole('searchbox', { name: 'Search' }).inputValue(), '')
})

visit('chooses the columns, and finds them again in the address', person, async (page) => {
  await page.goto('/contacts')
  await button(page, 'Columns').click()
  await page.getByRole('group', { name: 'Columns' }).getByLabel('First name').check()
  await page.getByRole('columnheader', { name: 'First name' }).waitFor()
  await page.reload()
  await page.getByRole('columnheader', { name: 'First name' }).waitFor()
})

visit('follows an address that leads nowhere, and is told what the service says', person, async (page) => {
  await page.goto('/contacts/nobody')
  await heading(page, 'This contact cannot be shown').waitFor()
  const alert = page.getByRole('alert')
  await alert.getByText('There is no such thing here').waitFor()
  assert.match(await alert.innerText(), /Request \w{32}/)
  await button(page, 'Try again').waitFor()
})
