import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { button, openConsole } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])

const dialog = (page: Page) => page.getByRole('dialog')
const shownToken = async (page: Page): Promise<string> => {
  const token = await dialog(page).getByRole('figure', { name: 'Token' }).locator('pre').innerText()
  await button(page, 'I have copied it').click()
  return token
}
const statusWith = async (token: string) => (await service.call('GET', '/contacts', { token })).status

visit('makes a service token, rotates it without a gap, and revokes the old one', admin, async (page) => {
  await page.goto('/admin/service-tokens')
  await page.getByRole('heading', { name: 'No integration has a token that works' }).waitFor()
  await button(page, 'Make a service token').click()
  await dialog(page).getByLabel('Integration').fill('Web shop')
  await dialog(page).getByLabel('See contacts').check()
  await dialog(page).getByLabel('Default assignee').fill('U7')
  await button(page, 'Make the token').click()
  const old = await shownToken(page)
  await page.getByText('Its tasks go to U7').waitFor()

  await button(page, 'Rotate Web shop').click()
  await dialog(page).getByLabel('The old one works on for').selectOption('One hour')
  await button(page, 'Rotate the token').click()
  const successor = await shownToken(page)
  assert.notEqual(successor, old)
  assert.deepEqual([await statusWith(old), await statusWith(successor)], [200, 200])
  const leaving = page.getByRole('row', { name: 'Web shop' }).filter({ hasText: 'Ends soon' })
  await leaving.getByText(/in (1 hour|60 minutes)/).waitFor()

  await leaving.getByRole('button', { name: 'Revoke' }).click()
  await dialog(page).getByRole('heading', { name: 'Revoke the token of “Web shop”?' }).waitFor()
  await button(page, 'Revoke the token').click()
  await page.getByText('One that has ended').waitFor()
  assert.deepEqual([await statusWith(old), await statusWith(successor)], [401, 200])
})

visit('rotates a token that somebody else revoked meanwhile, and is told so', admin, async (page) => {
  await page.goto('/admin/service-tokens')
  await button(page, 'Make a service token').click()
  await dialog(page).getByLabel('Integration').fill('Report')
  await dialog(page).getByLabel('See contacts').check()
  await button(page, 'Make the token').click()
  await shownToken(page)
  await button(page, 'Rotate Report').click()
  await service.owner.query(`update access_tokens set revoked_at = now() where service = 'Report'`)
  await button(page, 'Rotate the token').click()
  await dialog(page).getByRole('alert').getByText('This token has ended: make a new one.').waitFor()
  await button(page, 'Cancel').click()
  await button(page, 'Rotate Report').waitFor({ state: 'detached' })
})
