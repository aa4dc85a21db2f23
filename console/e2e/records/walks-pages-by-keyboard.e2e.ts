import type { Page } from 'playwright-core'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { heading, openConsole, requireRows, requireSoon } from '../visitor.ts'

/** What a person does who leaves the mouse alone. */

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const person = await newPerson('Grace Hopper', [tenant, 'viewer'])
const names = Array.from({ length: 60 }, (_, index) => `Company ${String(index + 1).padStart(2, '0')}`)
await tenant.add(
  'accounts',
  names.map((company, index) => sampleAccount(`A${index + 1}`, { company })),
)
const focused = (page: Page) => page.locator(':focus')

visit('goes through rows and pages, and opens one', person, async (page) => {
  await page.goto('/accounts?pageSize=25')
  await requireRows(page, names.slice(0, 25))
  await page.keyboard.press('n')
  await requireRows(page, names.slice(25, 50))
  await page.waitForURL(({ search }) => search === '?pageSize=25&page=2')
  await page.getByText('26 to 50 of 60').waitFor()
  const current = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current=page]')
  await requireSoon(() => current.allInnerTexts(), ['2'])
  await page.keyboard.press('n')
  await requireRows(page, names.slice(50))
  // There is no page after the last.
  await page.keyboard.press('n')
  await page.keyboard.press('p')
  await requireRows(page, names.slice(25, 50))
  for (const key of ['j', 'ArrowDown', 'j', 'k']) await page.keyboard.press(key)
  await requireSoon(() => focused(page).innerText(), 'Company 27')
  await page.keyboard.press('Enter')
  await heading(page, 'Company 27').waitFor()
  await page.goBack()
  await requireRows(page, names.slice(25, 50))
})

visit('types into the search of a list, where a letter is a letter', person, async (page) => {
  await page.goto('/accounts')
  await requireRows(page, names.slice(0, 50))
  await page.getByRole('searchbox', { name: 'Search' }).focus()
  await page.keyboard.type('company 5')
  await requireRows(page, [
    'Company 05',
    'Company 15',
    'Company 25',
    'Company 35',
    'Company 45',
    ...names.slice(49, 59),
  ])
  // Once to empty it, once to leave it.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await requireRows(page, names.slice(0, 50))
  await page.keyboard.press('j')
  await requireSoon(() => focused(page).innerText(), 'Company 01')
})

visit('asks for the keys, and turns off those of a single letter', person, async (page) => {
  await page.goto('/accounts?pageSize=25')
  await requireRows(page, names.slice(0, 25))
  await page.keyboard.press('?')
  const dialog = page.getByRole('dialog', { name: 'Keys' })
  await dialog.getByLabel('Use keys of a single letter').uncheck()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await page.keyboard.press('n')
  await page.keyboard.press('ArrowDown')
  await requireSoon(() => focused(page).innerText(), 'Company 01')
  await page.waitForURL(({ search }) => search === '?pageSize=25')
})

visit('chooses from a menu, and goes on where it was opened', person, async (page) => {
  await page.goto('/accounts')
  await heading(page, 'Accounts').waitFor()
  await page.getByRole('button', { name: 'Views' }).press('Enter')
  await page.getByLabel('Save what you see as').fill('All of them')
  await page.keyboard.press('Enter')
  await requireSoon(() => focused(page).innerText(), 'All of them')
  const menu = page.getByRole('button', { name: /settings and sign out/ })
  await menu.press('Enter')
  await page.getByRole('button', { name: 'Keys' }).press('Enter')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await requireSoon(() => menu.evaluate((button) => button.matches(':focus')), true)
})

visit('goes through the boxes of a menu, which stays open, and the rows stay where they are', person, async (page) => {
  await page.goto('/accounts')
  await requireRows(page, names.slice(0, 50))
  await page.getByRole('button', { name: 'Columns' }).press('Enter')
  const box = page.getByRole('group', { name: 'Columns' }).getByRole('checkbox').first()
  await box.focus()
  for (const key of ['ArrowDown', 'j', 'n']) await page.keyboard.press(key)
  await requireSoon(() => box.evaluate((one) => one.matches(':focus')), true)
  await requireRows(page, names.slice(0, 50))
})

visit('skips what every page begins with', person, async (page) => {
  await page.goto('/accounts')
  await heading(page, 'Accounts').waitFor()
  await page.keyboard.press('Tab')
  await requireSoon(() => focused(page).innerText(), 'Skip to the content')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await requireSoon(() => focused(page).getAttribute('aria-label'), 'Search')
})

visit('opens a page past the end, and is led back', person, async (page) => {
  await page.goto('/accounts?page=9')
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  await page.getByRole('link', { name: 'Go to the first page' }).click()
  await requireRows(page, names.slice(0, 50))
})
