import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { newId } from '../../../server/src/records/identifiers.ts'
import {
  sampleAccount,
  sampleInvoice,
  samplePublication,
  sampleRecord,
  sampleSubscription,
} from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const empty = await service.newTenant('Begun Today')
const person = await newPerson('Grace Hopper', [tenant, 'viewer'])
const admin = await newPerson('Linus Pauling', [tenant, 'admin'])
const beginner = await newPerson('Ada Lovelace', [empty, 'admin'])
const [herald, gazette] = [newId(), newId()]
await tenant.add('accounts', [sampleAccount('A1')])
await tenant.add('publications', [
  samplePublication('HERALD', { id: herald, name: 'The Herald' }),
  samplePublication('GAZETTE', { id: gazette, name: null }),
])

const millisecondsOfADay = 86_400_000
const day = (offset: number): string => new Date(Date.now() + offset * millisecondsOfADay).toISOString().slice(0, 10)
const thisMonth = day(0).slice(0, 7)
const subscription = (publicationId: string, status: string) =>
  sampleSubscription('A1', publicationId, { status, renewalDate: day(0) })
await tenant.add('subscriptions', [
  ...Array.from({ length: 1_234 }, () => subscription(herald, 'active')),
  subscription(herald, 'grace'),
  subscription(gazette, 'past_due'),
  subscription(gazette, 'active'),
])
// Through a number, the sum would lose its cents.
const invoices = (count: number, totalDue: string, dueDate: string) =>
  Array.from({ length: count }, () => sampleInvoice('A1', herald, { totalDue, dueDate }))
await tenant.add('invoices', [
  ...invoices(10, '90071992547409.92', day(7)),
  ...invoices(5, '90071992547409.92', day(-45)),
  ...invoices(1, '100.03', day(-400)),
])

const task = (userId: string, doneAt: string | null) => sampleRecord('tasks', { accountId: 'A1', userId, doneAt })
await tenant.add('tasks', [
  task(person.email, null),
  task(person.email, '2026-03-04T05:06:07.891Z'),
  task('jdoe', null),
  task('jdoe', null),
])

/** The rows of a table as they are read to who does not see it. */
const rowsOf = async (page: Page, name: string): Promise<string[][]> => {
  const table = page.getByRole('table', { name, exact: true })
  await table.waitFor({ state: 'attached' })
  const rows = await table.getByRole('row').all()
  return Promise.all(
    rows.slice(1).map(async (row) => {
      const cells = await row.locator('th, td').allTextContents()
      return cells.map((text) => text.trim())
    }),
  )
}

visit('reads the figures, as in English, and follows a bar, as long as its figure', person, async (page) => {
  await page.goto('/')
  await heading(page, 'Herald Press').waitFor()
  assert.deepEqual(await rowsOf(page, 'Subscriptions by status'), [
    ['active', '1,235'],
    ['grace', '1'],
    ['past due', '1'],
  ])
  assert.deepEqual(await rowsOf(page, 'Subscriptions by title'), [
    ['The Herald', '1,235 1,234 active'],
    ['GAZETTE', '2 1 active'],
  ])
  assert.deepEqual(await rowsOf(page, 'Receivables by age'), [
    ['Not due yet', '900,719,925,474,099.20 10 invoices'],
    ['1 to 30 days late', '0.00 0 invoices'],
    ['31 to 60 days late', '450,359,962,737,049.60 5 invoices'],
    ['61 to 90 days late', '0.00 0 invoices'],
    ['More than 90 days late', '100.03 1 invoice'],
  ])
  await page.getByText('1,351,079,888,211,248.83 in all').waitFor()
  const months = page.getByRole('list', { name: 'Renewals due' }).getByRole('link')
  const name = new Date(`${thisMonth}-01T00:00:00Z`).toLocaleDateString('en-GB', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  })
  await requireSoon(() => months.count(), 12)
  await months.and(page.getByRole('link', { name: `${name}: 1,235`, exact: true })).waitFor()
  const receivables = page.getByRole('table', { name: 'Receivables by age' }).locator('rect')
  const widths = await Promise.all((await receivables.all()).map((bar) => bar.getAttribute('width')))
  assert.deepEqual(widths, ['100%', '0%', '50%', '0%', '0%'])
  const parts = page.getByRole('table', { name: 'Subscriptions by title' }).getByRole('row').nth(1).locator('rect')
  const [all, active] = await Promise.all((await parts.all()).map(async (bar) => (await bar.boundingBox())?.width ?? 0))
  assert.ok(all !== undefined && active !== undefined && active > all * 0.99 && active < all, `${active} of ${all}`)
  await requireNoHindrance(page)
  await page.getByRole('link', { name: 'past due' }).click()
  await heading(page, 'Subscriptions').waitFor()
  await page.getByText('1 to 1 of 1').waitFor()
  await page.waitForURL(({ search }) => search === '?status=past_due')
  await page.goBack()
  await page.getByRole('link', { name: 'The Herald' }).click()
  await page.getByText('1 to 50 of 1,235').waitFor()
  await page.waitForURL(({ search }) => search === `?publicationId=${herald}`)
})

visit('follows every kind of bar and every work item to a list that is as long as they say', person, async (page) => {
  const follow = async (link: Locator, list: string, count: string, search?: string) => {
    await link.click()
    await heading(page, list).waitFor()
    await page.getByText(`of ${count}`, { exact: false }).first().waitFor()
    if (search !== undefined) await page.waitForURL((url) => url.search === search)
    await page.goBack()
    await heading(page, 'Herald Press').waitFor()
  }
  await page.goto('/')
  const bars = page.getByRole('table', { name: 'Receivables by age' })
  await follow(bars.getByRole('link', { name: 'Not due yet' }), 'Invoices', '10')
  await follow(bars.getByRole('link', { name: '31 to 60 days late' }), 'Invoices', '5')
  await follow(bars.getByRole('link', { name: 'More than 90 days late' }), 'Invoices', '1')
  const months = page.getByRole('list', { name: 'Renewals due' }).getByRole('link')
  await follow(months.first(), 'Subscriptions', '1,235')
  const work = (name: RegExp) => page.getByRole('region', { name: 'To do' }).getByRole('link', { name })
  await follow(work(/^Overdue invoices 6$/), 'Invoices', '6', '?overdue=true&sort=dueDate')
  await follow(work(/^Renewals in the next 30 days 1,235$/), 'Subscriptions', '1,235')
  await follow(work(/^Subscriptions in grace 1$/), 'Subscriptions', '1')
  await follow(work(/^My open tasks 1$/), 'Tasks', '1')
  await button(page, 'Not yours?').click()
  await page.getByLabel('User').fill('jdoe')
  await button(page, 'Keep').click()
  await work(/^My open tasks 2$/).click()
  await page.getByText('1 to 2 of 2').waitFor()
})

visit('administers, and sees what failed', admin, async (page) => {
  await page.goto('/')
  const work = page.getByRole('region', { name: 'To do' })
  await work.getByRole('link', { name: 'Interrupted imports 0' }).click()
  await heading(page, 'Imports').waitFor()
  await page.goBack()
  await work.getByRole('link', { name: 'Failed deliveries 0' }).click()
  await heading(page, 'Webhooks').waitFor()
})

visit(
  'reads the figures as in German',
  person,
  async (page) => {
    await page.goto('/')
    await page.getByText('1.351.079.888.211.248,83 in all').waitFor()
    assert.deepEqual((await rowsOf(page, 'Subscriptions by status'))[0], ['active', '1.235'])
  },
  { locale: 'de-DE' },
)

visit(
  'reads them on a phone, without scrolling sideways',
  person,
  async (page) => {
    await page.goto('/')
    await page.getByText('in all').first().waitFor()
    await requireSoon(() => page.evaluate('document.documentElement.scrollWidth'), 360)
  },
  { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
)

visit('begins today, and has nothing to see but the way to begin', beginner, async (page) => {
  await page.goto('/')
  await heading(page, 'Begun Today').waitFor()
  await page.getByText('There are none yet.').first().waitFor()
  await requireNoHindrance(page)
  await page.getByRole('link', { name: 'New account' }).click()
  await heading(page, 'New account').waitFor()
})
