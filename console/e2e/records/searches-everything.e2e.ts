import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { newId } from '../../../server/src/records/identifiers.ts'
import {
  sampleAccount,
  sampleContact,
  sampleInvoice,
  samplePublication,
  sampleSubscription,
} from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireSoon } from '../visitor.ts'

/** What a person does whose telephone rings. */

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const other = await service.newTenant('Begun Today')
const person = await newPerson('Grace Hopper', [tenant, 'viewer'])
const publicationId = newId()
const invoiceId = newId()
await tenant.add('publications', [samplePublication('HERALD', { id: publicationId, name: 'The Herald' })])
await tenant.add('accounts', [
  sampleAccount('C-1', { company: 'Harbour Books', city: 'Hamburg' }),
  sampleAccount('C-2', { company: 'Valley Library' }),
  ...Array.from({ length: 7 }, (_, index) => sampleAccount(`K-${index}`, { company: `Kiosk ${index}` })),
])
await tenant.add('contacts', [
  sampleContact('C-1', { name: 'Zoë Dupré', email: 'zoe@harbour.example' }),
  sampleContact('C-2', { name: 'Carla Gone', deletedAt: '2026-03-04T05:06:07.891Z' }),
])
await tenant.add('subscriptions', [
  sampleSubscription('C-1', publicationId, { subscriptionId: 'S-100', subscriptionNumber: 'HE-7713' }),
])
await tenant.add('invoices', [
  sampleInvoice('C-1', publicationId, {
    id: invoiceId,
    externalId: 'R-2026-7',
    invoiceDescription: 'The Herald, 2026',
  }),
])
await other.add('accounts', [sampleAccount('C-1', { company: 'Harbour of Others' })])

const box = (page: Page) => page.getByRole('combobox', { name: 'Search everything' })
const search = async (page: Page, words: string) => {
  await page.keyboard.press('Control+k')
  await box(page).fill(words)
}
const found = (page: Page, name: string) => page.getByRole('listbox', { name: 'Found' }).getByRole('option', { name })

visit('finds a customer with all that belongs to them, and opens one by the keyboard alone', person, async (page) => {
  await page.goto('/')
  await heading(page, 'Herald Press').waitFor()
  await Promise.all([page.keyboard.press('/'), page.keyboard.type('harbour')])
  await requireSoon(() => box(page).inputValue(), 'harbour')
  await found(page, 'subscription S-100').waitFor()
  await found(page, 'invoice The Herald, 2026').waitFor()
  const options = page.getByRole('listbox', { name: 'Found' }).getByRole('option')
  await requireSoon(
    () => options.locator('strong').allInnerTexts(),
    ['Harbour Books', 'Zoë Dupré', 'S-100', 'The Herald, 2026'],
  )
  assert.match(await options.first().innerText(), /C-1\s*Hamburg/)
  await requireNoHindrance(page)
  await page.keyboard.press('ArrowDown')
  await requireSoon(() => options.nth(1).getAttribute('aria-selected'), 'true')
  await page.keyboard.press('Enter')
  await heading(page, 'Zoë Dupré').waitFor()
})

visit('finds by e-mail address and number, wherever one is, and among the deleted', person, async (page) => {
  await page.goto('/invoices')
  await heading(page, 'Invoices').waitFor()
  for (const [words, name] of [
    ['zoe@harbour.example', 'Zoë Dupré'],
    ['S-100', 'S-100'],
    ['HE-7713', 'S-100'],
    ['R-2026-7', 'The Herald, 2026'],
    [invoiceId, 'The Herald, 2026'],
    ['C-2', 'Valley Library'],
    ['carla', 'Carla Gone'],
  ] as const) {
    await search(page, words)
    await found(page, name).first().waitFor()
    await page.keyboard.press('Escape')
    await box(page).waitFor({ state: 'detached' })
  }
  await search(page, 'nobody at all')
  await page.getByText('Nothing matches.').waitFor()
})

visit('opens as often as it is asked for, however soon after it was closed', person, async (page) => {
  await page.goto('/accounts')
  await heading(page, 'Accounts').waitFor()
  await page.keyboard.press('Control+k')
  await box(page).waitFor()
  for (let time = 0; time < 20; time++) {
    await Promise.all([page.keyboard.press('Escape'), page.keyboard.press('Control+k')])
    await box(page).waitFor()
  }
})

visit('is offered what was opened last', person, async (page) => {
  await page.goto('/accounts/C-2')
  await heading(page, 'Valley Library').waitFor()
  await page.goto('/accounts/C-1')
  await heading(page, 'Harbour Books').waitFor()
  await page.keyboard.press('Control+k')
  await found(page, 'Valley Library').waitFor()
  const recent = page.getByRole('listbox', { name: 'Found' }).getByRole('option').locator('strong')
  await requireSoon(() => recent.allInnerTexts(), ['Harbour Books', 'Valley Library'])
  await found(page, 'Valley Library').click()
  await heading(page, 'Valley Library').waitFor()
})

visit('is offered all that was opened last, of whichever kind, the latest first', person, async (page) => {
  const names: string[] = []
  for (let index = 0; index < 7; index++) {
    await page.goto(`/accounts/K-${index}`)
    await heading(page, `Kiosk ${index}`).waitFor()
    names.unshift(`Kiosk ${index}`)
  }
  await page.keyboard.press('Control+k')
  const recent = page.getByRole('listbox', { name: 'Found' }).getByRole('option').locator('strong')
  await requireSoon(() => recent.allInnerTexts(), names)
})

const isSearch = ({ searchParams }: URL) => searchParams.has('search')

visit('presses Enter before anything is found, and opens nothing else', person, async (page) => {
  await page.goto('/accounts/C-2')
  await heading(page, 'Valley Library').waitFor()
  await page.getByRole('link', { name: 'Invoices', exact: true }).click()
  await heading(page, 'Invoices').waitFor()
  await page.keyboard.press('Control+k')
  await found(page, 'Valley Library').waitFor()
  const typeAndEnter = async (words: string) => {
    const pressed = Promise.withResolvers<void>()
    await page.route(isSearch, async (route) => {
      await pressed.promise
      await route.continue()
    })
    await page.keyboard.insertText(words)
    await page.keyboard.press('Enter')
    pressed.resolve()
  }
  await typeAndEnter('harbour')
  await found(page, 'Harbour Books').first().waitFor()
  await typeAndEnter(' of nobody')
  await page.getByText('Nothing matches.').waitFor()
  await heading(page, 'Invoices').waitFor()
})

visit('confirms characters of another script by Enter, and opens nothing by that', person, async (page) => {
  await page.goto('/invoices')
  await heading(page, 'Invoices').waitFor()
  await search(page, 'harbour')
  await found(page, 'Harbour Books').first().waitFor()
  await box(page).dispatchEvent('keydown', { key: 'Enter', isComposing: true })
  // As Safari tells it.
  await box(page).dispatchEvent('keydown', { key: 'Enter', keyCode: 229 })
  await heading(page, 'Invoices').waitFor()
  await requireSoon(() => box(page).isVisible(), true)
})

visit(
  'searches on a phone',
  person,
  async (page) => {
    await page.goto('/accounts')
    await button(page, 'Search everything').tap()
    await box(page).fill('zoe')
    await found(page, 'Zoë Dupré').tap()
    await heading(page, 'Zoë Dupré').waitFor()
  },
  { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
)
