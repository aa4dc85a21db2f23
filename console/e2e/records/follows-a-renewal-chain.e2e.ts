import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { newId } from '../../../server/src/records/identifiers.ts'
import {
  sampleAccount,
  sampleInvoice,
  samplePublication,
  sampleSubscription,
} from '../../../server/test/records/sample-records.ts'
import { heading, openConsole, requireSoon } from '../visitor.ts'

/** What a person does who wants to know how long a customer has been reading. */

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const person = await newPerson('Grace Hopper', [tenant, 'viewer'])
await tenant.add('accounts', [sampleAccount('A1', { company: 'Harbour Books' })])
const publicationId = newId()
await tenant.add('publications', [samplePublication('HERALD', { id: publicationId, name: 'The Herald' })])
const terms = [2023, 2024, 2025, 2026].map((year) => ({
  id: newId(),
  subscriptionId: `S-${year}`,
  startDate: `${year}-01-01`,
  expireDate: `${year}-12-31`,
  status: year === 2026 ? 'active' : 'expired',
}))
await tenant.add(
  'subscriptions',
  terms.map((term, index) =>
    sampleSubscription('A1', publicationId, {
      ...term,
      renewedFromSubsId: terms[index - 1]?.id ?? null,
      deletedAt: index === 1 ? '2026-03-04T05:06:07.891Z' : null,
    }),
  ),
)
await tenant.add('subscriptions', [sampleSubscription('A1', publicationId, { subscriptionId: 'S-OTHER' })])
await tenant.add('invoices', [
  sampleInvoice('A1', publicationId, { total: '12345678901234.56', invoiceDescription: 'One year' }),
])

const chain = (page: Page) => page.getByRole('list').filter({ hasText: 'S-2023' }).getByRole('listitem')

visit('opens an account, sees all that belongs to it, and goes from term to term', person, async (page) => {
  await page.goto('/accounts/A1')
  await heading(page, 'Harbour Books').waitFor()
  const table = page.getByRole('table', { name: 'Subscriptions' })
  await table.getByRole('link', { name: 'S-2025' }).waitFor()
  await requireSoon(() => table.getByRole('row', { name: /S-2024.*Deleted/ }).count(), 1)
  await table.getByRole('link', { name: 'S-2025' }).click()
  await heading(page, 'S-2025').waitFor()
  await chain(page).first().waitFor()
  await requireSoon(
    async () => (await chain(page).allInnerTexts()).map((text) => text.split('\n')),
    [
      ['S-2023', 'No. 42', 'expired', '1 Jan 2023 to 31 Dec 2023'],
      ['S-2024', 'No. 42', 'expired', 'Deleted', '1 Jan 2024 to 31 Dec 2024'],
      ['S-2025', 'No. 42', 'expired', '1 Jan 2025 to 31 Dec 2025'],
      ['S-2026', 'No. 42', 'active', '1 Jan 2026 to 31 Dec 2026'],
    ],
  )
  await chain(page).getByRole('link', { name: 'S-2023' }).click()
  await heading(page, 'S-2023').waitFor()
  await chain(page).nth(3).waitFor()
  await page.getByRole('link', { name: 'The Herald' }).click()
  await heading(page, 'The Herald').waitFor()
})

visit('opens a subscription that stands alone', person, async (page) => {
  await page.goto('/subscriptions/S-OTHER')
  await heading(page, 'S-OTHER').waitFor()
  await page.getByText('It renewed no other, and was not renewed.').waitFor()
})

visit('narrows subscriptions by title and status', person, async (page) => {
  await page.goto('/subscriptions')
  await page.getByLabel('Publication').selectOption('The Herald')
  await page.getByLabel('Status').selectOption('active')
  await page.getByText('1 to 2 of 2').waitFor()
  const { searchParams } = new URL(page.url())
  assert.deepEqual(Object.fromEntries(searchParams), { publicationId, status: 'active' })
  await page.getByLabel('Status').selectOption('Other …')
  await page.getByLabel('Status').fill('EXPIRED')
  await page.getByText('1 to 2 of 2').waitFor()
})

for (const [locale, amount, day] of [
  ['en-US', '12,345,678,901,234.56', 'Jan 1, 2026'],
  ['de-DE', '12.345.678.901.234,56', '01.01.2026'],
] as const) {
  visit(
    `reads amounts and dates as in ${locale}`,
    person,
    async (page) => {
      await page.goto('/invoices')
      await page.getByRole('cell', { name: amount, exact: true }).waitFor()
      await page.goto('/subscriptions/S-2026')
      await page.getByText(day, { exact: true }).first().waitFor()
    },
    { locale },
  )
}
