import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { button, heading, openConsole, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])
const editor = await newPerson('Edgar Editor', [tenant, 'editor'])
const leaver = await newPerson('Lena Leaver', [tenant, 'viewer'])
const dialog = (page: Page) => page.getByRole('dialog')
const row = (page: Page, name: string) => page.getByRole('table', { name: 'Members' }).getByRole('row', { name })

visit('makes a viewer of an editor, with a user in the legacy system', admin, async (page) => {
  await page.goto('/admin/members')
  await button(page, 'Change Edgar Editor').click()
  await dialog(page).getByRole('radio', { name: 'Viewer' }).check()
  await dialog(page).getByLabel('In the legacy system').fill('U9')
  await button(page, 'Save').click()
  await page.locator('dialog').waitFor({ state: 'detached' })
  await row(page, 'Edgar Editor')
    .filter({ hasText: /Viewer\s*U9/ })
    .waitFor()
})

visit('cannot take the last admin away, and is told what to do first', admin, async (page) => {
  await page.goto('/admin/members')
  await button(page, 'Change Grace Hopper').click()
  await dialog(page).getByRole('radio', { name: 'Editor' }).check()
  await dialog(page).getByText('This is you').waitFor()
  await button(page, 'Save').click()
  const advice = 'This is the last admin of the tenant: make somebody else an admin first.'
  await dialog(page).getByRole('alert').getByText(advice).waitFor()
  await button(page, 'Cancel').click()
  await button(page, 'Remove Grace Hopper').click()
  await button(page, 'Remove the member').click()
  await dialog(page).getByRole('alert').getByText(advice).waitFor()
  await button(page, 'Cancel').click()
  assert.match(await row(page, 'Grace Hopper').innerText(), /Admin/)
})

visit('removes a member who leaves', admin, async (page) => {
  await page.goto('/admin/members')
  await button(page, 'Remove Lena Leaver').click()
  await dialog(page).getByText(`${leaver.email} can no longer use Herald Press`).waitFor()
  await button(page, 'Remove the member').click()
  await row(page, 'Lena Leaver').waitFor({ state: 'detached' })
  await row(page, 'Grace Hopper').waitFor()
})

for (const [path, title] of [
  ['members', 'Members'],
  ['service-tokens', 'Service tokens'],
  ['applications', 'Applications'],
  ['webhooks', 'Webhooks'],
  ['audit', 'Audit trail'],
])
  visit(`without being an admin, is told why /admin/${path} shows nothing and who could help`, editor, async (page) => {
    await page.goto(`/admin/${path}`)
    await heading(page, title ?? '').waitFor()
    await page.getByRole('heading', { name: 'This page is for admins' }).waitFor()
    await page.getByRole('link', { name: admin.email }).waitFor()
    await requireSoon(() => page.getByRole('navigation').getByText('Administration').count(), 0)
  })
