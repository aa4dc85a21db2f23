import assert from 'node:assert/strict'
import { accessibilityFaults } from '../../../server/test/browsers/accessibility.ts'
import { populatedTenant } from '../../../server/test/records/populated-tenant.ts'
import { button, heading, openConsole, requireSoon } from '../visitor.ts'

/** Whatever the light, and however one sees, hears or moves. */

const { service, newPerson, visit } = await openConsole()
const { tenant, records } = await populatedTenant(service)
const person = await newPerson('Grace Hopper', [tenant, 'viewer'])

visit(
  'no page hinders anybody, in light and in dark',
  person,
  async (page) => {
    const found: Record<string, string[]> = {}
    const look = async (name: string) => {
      found[name] = await accessibilityFaults(page)
    }
    await page.goto('/')
    await heading(page, tenant.name).waitFor()
    await look('overview')
    for (const name of ['Accounts', 'Contacts', 'Publications', 'Subscriptions', 'Invoices']) {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click()
      await page.getByRole('table', { name }).getByRole('link').first().waitFor()
      await look(name)
      await page.locator('tbody .title-link').first().click()
      await page.getByRole('region', { name: 'Details' }).waitFor()
      await look(`one of ${name}`)
    }
    await page.goto('/contacts?search=nobody&includeDeleted=true')
    await page.getByRole('heading', { name: 'No contacts match' }).waitFor()
    await look('nothing found')
    await page.getByRole('link', { name: 'show all' }).click()
    await page.getByLabel('Deleted').check()
    await page.locator('tbody').getByText('Deleted').first().waitFor()
    await look('deleted ones')
    await button(page, /settings and sign out/).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await look('keys')
    await page.goto(`/contacts/${records.account.id}`)
    await page.getByRole('alert').waitFor()
    await look('a problem')
    await page.goto('/docs')
    await heading(page, 'Build with Masthead').waitFor()
    await look('portal')
    assert.deepEqual(
      Object.entries(found).filter(([, faults]) => faults.length > 0),
      [],
    )
  },
  // What the edge of the window cuts off would count as too small to hit.
  { viewport: { width: 1280, height: 1600 } },
)

visit('nobody is hindered before signing in, nor on a phone', null, async (page) => {
  await page.goto('/accounts')
  await button(page, 'Sign in').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
})

visit('the theme is chosen, and stays', person, async (page) => {
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  await page.goto('/')
  await button(page, /settings and sign out/).click()
  const light = await ground()
  await page.getByRole('radio', { name: 'Dark' }).check()
  const dark = await ground()
  assert.notEqual(dark, light)
  await page.reload()
  await heading(page, tenant.name).waitFor()
  await requireSoon(() => ground(), dark)
})
