import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { accessibilityFaults } from '../../../server/test/browsers/accessibility.ts'
import { newApplication } from '../../../server/test/browsers/oauth-browser.ts'
import { attachTo, startReceiver } from '../../../server/test/outside/webhook-receiver.ts'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { button, openConsole, requireSoon } from '../visitor.ts'

/** Whatever the light, however one sees, hears or moves, and on a phone. */

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])
const viewer = await newPerson('Vera Viewer', [tenant, 'viewer'])
await tenant.add('accounts', [sampleAccount('A1')])
await attachTo(service, tenant, await startReceiver())
await newApplication(service, { tenantId: tenant.id })
const token = await tenant.serviceToken()
await service.call('POST', '/contacts', { token, body: { accountId: 'A1', name: 'Ada Byron' } })

const dialog = (page: Page) => page.getByRole('dialog')

/** Every page of access and administration, and what opens on them. */
const tour = async (page: Page, look: (name: string) => Promise<void>) => {
  await page.goto('/settings/tokens')
  await button(page, 'Make a token').click()
  await button(page, 'Make the token').click()
  await dialog(page).locator('.field-error').first().waitFor()
  await look('what is wrong with a token')
  await dialog(page).getByLabel('Name').fill('Nightly report')
  await dialog(page).getByLabel('See contacts').check()
  await button(page, 'Make the token').click()
  await button(page, 'I have copied it').waitFor()
  await look('a token, once')
  await button(page, 'I have copied it').click()
  await button(page, 'Revoke Nightly report').click()
  await look('whether to revoke')
  await button(page, 'Revoke the token').click()
  await page.locator('summary').click()
  await look('tokens that have ended')
  await page.goto('/settings/applications-allowed')
  await page.locator('.empty').waitFor()
  await look('consents')
  await page.goto('/admin/members')
  await page.getByRole('row', { name: 'Vera Viewer' }).waitFor()
  await look('members')
  await button(page, 'Invite a colleague').click()
  await look('an invitation')
  await page.goto('/admin/service-tokens')
  await page.getByRole('row', { name: 'test' }).waitFor()
  await look('service tokens')
  await page.goto('/admin/applications')
  await page.getByRole('row', { name: 'Test application' }).waitFor()
  await look('applications')
  await button(page, 'Register an application').click()
  await look('a new application')
  await page.goto('/admin/webhooks')
  await button(page, 'Make an endpoint').click()
  await button(page, 'Make the endpoint').click()
  await dialog(page).locator('.field-error').first().waitFor()
  await look('what is wrong with an endpoint')
  await dialog(page).getByLabel('Address').fill('http://127.0.0.1:9/masthead')
  await dialog(page).getByLabel('A contact was created').check()
  await button(page, 'Make the endpoint').click()
  await button(page, 'I have copied it').waitFor()
  await look('the secret of an endpoint, once')
  await button(page, 'I have copied it').click()
  await page.getByRole('link', { name: 'Legacy system' }).waitFor()
  await look('webhook endpoints')
  await page.getByRole('link', { name: '127.0.0.1:9/masthead' }).first().click()
  await button(page, 'Send a test event').click()
  await dialog(page).getByText('Request body').waitFor()
  await look('a delivery')
  await page.keyboard.press('Escape')
  await button(page, 'More').click()
  await look('what can be done with an endpoint')
  await button(page, 'Send again from a moment on …').click()
  await look('what is sent again')
  await page.keyboard.press('Escape')
  await button(page, 'More').click()
  await button(page, 'Disable …').click()
  await button(page, 'Disable the endpoint').click()
  await button(page, 'Enable').waitFor()
  await look('a disabled endpoint')
  await page.goto('/admin/imports')
  await page.getByRole('link', { name: 'Import a file' }).click()
  await page.getByRole('heading', { name: 'Templates' }).waitFor()
  await look('a file')
  const rows = `Kundennr;Firma;Status;Wer\nI1;Imported;aktiv;Ada\n${'x'.repeat(70)};Refused;active;Bob\n`
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name: 'accounts.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) })
  await page.getByLabel('Field of Wer').waitFor()
  await look('the columns of a file')
  await page.getByLabel('Field of Wer').selectOption('quality')
  await page.locator('button:text-is("Check the file"):not([aria-disabled=true])').click()
  await page.getByText('This is what the import would do').waitFor()
  await look('what an import would do')
  await page.goto('/admin/audit?resource=contacts')
  await page.getByRole('listitem').getByText('Details').click()
  await look('audit trail')
}

const phone = { width: 360, height: 740 }
const desk = { width: 1280, height: 720 }

visit(
  'no page of the administration hinders anybody, in light and in dark, nor has to be scrolled sideways on a phone',
  admin,
  async (page) => {
    const found: Record<string, string[]> = {}
    await tour(page, async (name) => {
      await requireSoon(() => page.evaluate('document.documentElement.scrollWidth'), 360, name)
      const wide = `[...document.querySelectorAll('dialog *')].filter((one) => one.scrollWidth > 360).length`
      await requireSoon(() => page.evaluate(wide), 0, name)
      await page.setViewportSize(desk)
      found[name] = await accessibilityFaults(page)
      await page.setViewportSize(phone)
    })
    assert.deepEqual(
      Object.entries(found).filter(([, faults]) => faults.length > 0),
      [],
    )
  },
  { viewport: phone, isMobile: true, hasTouch: true },
)

visit('who is no admin is not hindered either', viewer, async (page) => {
  await page.goto('/admin/audit')
  await page.getByRole('heading', { name: 'This page is for admins' }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
})
