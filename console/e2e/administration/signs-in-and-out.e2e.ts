import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { operator } from '../../../server/src/audit/author.ts'
import { removeMember } from '../../../server/src/identity/people/members.ts'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireRows, requireSoon, signIn } from '../visitor.ts'

const { baseUrl, service, newPerson, newVisitor, visit } = await openConsole()
const herald = await service.newTenant('Herald Press')
const gazette = await service.newTenant('Gazette & Sons')
await herald.add('accounts', [sampleAccount('A1', { company: 'Harbour Books' })])
await gazette.add('accounts', [sampleAccount('A1', { company: 'Valley Library' })])
const ada = await newPerson('Ada Lovelace', [herald, 'admin'], [gazette, 'viewer'])
const grace = await newPerson('Grace Hopper', [herald, 'editor'])

const menu = (page: Page) => button(page, /settings and sign out/)
const signOut = async (page: Page, how: 'Sign out' | 'Sign out everywhere') => {
  await menu(page).click()
  if (how === 'Sign out everywhere') await button(page, `${how} …`).click()
  await button(page, how).click()
  await heading(page, 'You are signed out').waitFor()
}

visit('signs in, and is where they wanted to be', null, async (page) => {
  await page.goto('/accounts?search=harbour')
  await heading(page, 'Sign in to the console').waitFor()
  await signIn(page, grace)
  await requireRows(page, ['Harbour Books'])
  await page.waitForURL(({ href }) => href === `${baseUrl}/t/${herald.slug}/accounts?search=harbour`)
  await page.getByText('Herald Press').first().waitFor()
})

visit('reloads the page, opens another, stays signed in, and keeps no token in the browser', grace, async (page) => {
  await page.goto('/accounts')
  await requireRows(page, ['Harbour Books'])
  await page.reload()
  await requireRows(page, ['Harbour Books'])
  const stored = await page.evaluate(
    `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state])`,
  )
  assert.doesNotMatch(String(stored), /ey[\w-]+\.ey|token|verifier/i)
  const second = await page.context().newPage()
  await second.goto(`${baseUrl}/accounts/A1`)
  await heading(second, 'Harbour Books').waitFor()
})

visit('opens the address that ends a sign-in by hand, and comes to the start', grace, async (page) => {
  await page.goto('/signed-in?code=x&state=y')
  await heading(page, 'Herald Press').waitFor()
  await page.waitForURL(({ pathname }) => pathname === `/t/${herald.slug}/`)
})

visit('comes by another name of the machine, and is led to the right one', grace, async (page) => {
  await page.goto(`${baseUrl.replace('localhost', '127.0.0.1')}/accounts`)
  await requireRows(page, ['Harbour Books'])
  await page.waitForURL(({ href }) => href === `${baseUrl}/t/${herald.slug}/accounts`)
})

visit('changes the mind on the way, and can begin again', null, async (page) => {
  await page.goto('/accounts')
  await button(page, 'Sign in').click()
  await button(page, 'Cancel').click()
  await heading(page, 'Sign in to the console').waitFor()
  await requireSoon(() => page.getByRole('alert').count(), 0)
  await signIn(page, grace)
  await requireRows(page, ['Harbour Books'])
})

visit('signs out, and nothing is left to see', null, async (page) => {
  await page.goto('/accounts')
  await signIn(page, grace)
  await requireRows(page, ['Harbour Books'])
  await signOut(page, 'Sign out')
  await page.goBack()
  await heading(page, 'Sign in to the console').waitFor()
  await requireSoon(() => page.getByText('Harbour Books').count(), 0)
  await signIn(page, ada)
  await menu(page).waitFor()
})

/** The same person, signed in with two browsers. */
const twoBrowsers = async () => {
  const [here, there] = await Promise.all([newVisitor(), newVisitor()])
  for (const { page } of [here, there]) {
    await page.goto('/accounts')
    await signIn(page, grace)
    await requireRows(page, ['Harbour Books'])
  }
  return { here, there }
}

test('signs out everywhere: another browser is told so, and goes on in the same place', async () => {
  const { here, there } = await twoBrowsers()
  await signOut(here.page, 'Sign out everywhere')
  await there.page.getByRole('searchbox', { name: 'Search' }).fill('harbour')
  await there.page.getByRole('alert').getByText('Your session has ended').waitFor()
  await signIn(there.page, grace)
  await requireRows(there.page, ['Harbour Books'])
  await there.page.waitForURL(({ href }) => href === `${baseUrl}/t/${herald.slug}/accounts?search=harbour`)
  await Promise.all([here.context.close(), there.context.close()])
})

test('signs out where the session has ended already', async () => {
  const { here, there } = await twoBrowsers()
  await signOut(here.page, 'Sign out everywhere')
  await signOut(there.page, 'Sign out')
  assert.deepEqual(there.complaints, [])
  await Promise.all([here.context.close(), there.context.close()])
})

/** The same person in another tab of the same browser. */
const secondTab = async (page: Page) => {
  const tab = await page.context().newPage()
  await tab.goto(`${baseUrl}/accounts`)
  await requireRows(tab, ['Harbour Books'])
  return tab
}

test('signs out everywhere in a tab whose session has ended, and is told that it did not happen', async () => {
  const { here, there } = await twoBrowsers()
  const tab = await secondTab(here.page)
  await signOut(here.page, 'Sign out')
  await menu(tab).click()
  await button(tab, 'Sign out everywhere …').click()
  await button(tab, 'Sign out everywhere').click()
  const question = tab.getByRole('dialog', { name: 'Sign out everywhere?' })
  await question.getByText('You are not signed out in other browsers').waitFor()
  await there.page.reload()
  await requireRows(there.page, ['Harbour Books'])
  await signIn(tab, grace)
  await signOut(tab, 'Sign out everywhere')
  await there.page.reload()
  await heading(there.page, 'Sign in to the console').waitFor()
  await Promise.all([here.context.close(), there.context.close()])
})

test('signs out everywhere in a tab whose session has ended, while another tab has signed in again', async () => {
  const { here, there } = await twoBrowsers()
  const tab = await secondTab(here.page)
  await signOut(here.page, 'Sign out')
  await signIn(here.page, grace)
  await signOut(tab, 'Sign out everywhere')
  for (const { page } of [here, there]) {
    await page.reload()
    await button(page, 'Sign in').waitFor()
  }
  await Promise.all([here.context.close(), there.context.close()])
})

visit('signs out everywhere where somebody else has signed in meanwhile, who stays signed in', null, async (page) => {
  await page.goto('/accounts')
  await signIn(page, grace)
  const tab = await secondTab(page)
  await signOut(page, 'Sign out')
  await signIn(page, ada)
  await menu(tab).click()
  await button(tab, 'Sign out everywhere …').click()
  await button(tab, 'Sign out everywhere').click()
  await tab.getByRole('dialog').getByText('You are not signed out in other browsers').waitFor()
  await page.reload()
  await button(page, /^Ada Lovelace/).waitFor()
})

visit('signs out where they were removed from the tenant, and is not let into another', null, async (page) => {
  const katherine = await newPerson('Katherine Johnson', [herald, 'viewer'], [gazette, 'viewer'])
  await page.goto(`/t/${herald.slug}/accounts`)
  await signIn(page, katherine)
  await requireRows(page, ['Harbour Books'])
  await service.database.transaction((query) => removeMember(query, operator, herald.id, katherine.email))
  await signOut(page, 'Sign out')
  await page.goto('/')
  await heading(page, 'Sign in to the console').waitFor()
})

visit('signs out with a form that is not saved, and is not asked on an empty page', null, async (page) => {
  await page.goto('/contacts/new')
  await signIn(page, grace)
  await page.getByLabel('Last name').fill('Hopper')
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    dialog.accept()
  })
  await signOut(page, 'Sign out')
  assert.deepEqual(asked, [])
})

visit('is told that nobody could be signed out while the service is away', null, async (page) => {
  await page.goto('/accounts')
  await signIn(page, grace)
  await requireRows(page, ['Harbour Books'])
  await page.route('**/management-api/**', (route) => route.abort('connectionrefused'))
  await menu(page).click()
  await button(page, 'Sign out').click()
  await page.getByRole('alert').getByText('The service did not answer').waitFor()
  // What went wrong is not told again where nothing was tried again.
  await page.keyboard.press('Escape')
  await menu(page).click()
  await button(page, 'Sign out').waitFor()
  await requireSoon(() => page.getByRole('alert').count(), 0)
  await button(page, 'Sign out everywhere …').click()
  await button(page, 'Sign out everywhere').click()
  await page.getByRole('alert').getByText('The service did not answer').waitFor()
  await page.getByRole('link', { name: 'Change it' }).click()
  await heading(page, 'Password').waitFor()
  await menu(page).click()
  await button(page, 'Sign out everywhere …').click()
  await button(page, 'Sign out everywhere').waitFor()
  await requireSoon(() => page.getByRole('alert').count(), 0)
})

visit('switches between organisations, and stays in the one that was chosen', ada, async (page) => {
  await page.goto('/accounts')
  await requireRows(page, ['Valley Library'])
  await button(page, 'Organisation: Gazette & Sons').click()
  await page.getByRole('link', { name: 'Herald Press' }).click()
  await heading(page, 'Herald Press').waitFor()
  await page.goto('/accounts')
  await requireRows(page, ['Harbour Books'])
})
