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
import { button, heading, openConsole, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const person = await newPerson('Grace Hopper', [tenant, 'viewer'])
const publicationId = newId()
await tenant.add('publications', [samplePublication('HERALD', { id: publicationId })])
await tenant.add('accounts', [
  sampleAccount('A1', { company: 'A company with a name that is a good deal longer than a telephone is wide' }),
])
await tenant.add('contacts', [sampleContact('A1', { email: `${'a-very-long-address'.repeat(4)}@example.com` })])
await tenant.add('subscriptions', [sampleSubscription('A1', publicationId)])
await tenant.add('invoices', [sampleInvoice('A1', publicationId)])

const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
const requireNoSideways = async (page: Page) => {
  const tooWide = await page.evaluate(`[document.documentElement, ...document.querySelectorAll('.table-frame, .card')]
    .filter((element) => element.scrollWidth > Math.min(element.clientWidth, 360)).map(({ outerHTML }) => outerHTML.slice(0, 200))`)
  assert.deepEqual(tooWide, [], page.url())
}

visit(
  'opens the navigation, chooses a list, and reads a record',
  person,
  async (page) => {
    await page.goto('/')
    await heading(page, 'Herald Press').waitFor()
    const navigation = page.getByRole('navigation', { name: 'Main' })
    await requireSoon(() => navigation.isVisible(), false)
    await button(page, 'Navigation').tap()
    await navigation.getByRole('link', { name: 'Contacts' }).tap()
    await heading(page, 'Contacts').waitFor()
    await navigation.waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: 'Ada Lovelace' }).tap()
    await heading(page, 'Ada Lovelace').waitFor()
  },
  phone,
)

visit(
  'never has to scroll sideways',
  person,
  async (page) => {
    for (const path of ['accounts', 'contacts', 'publications', 'subscriptions', 'invoices']) {
      await page.goto(`/${path}`)
      await page.locator('tbody .title-link').first().waitFor()
      await requireNoSideways(page)
      await page.locator('tbody .title-link').first().tap()
      await page.getByRole('region', { name: 'Details' }).waitFor()
      await requireNoSideways(page)
    }
  },
  phone,
)
