import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { button, heading, openConsole } from '../visitor.ts'

/** What an admin does who has records in a file. */

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])
const viewer = await newPerson('Ada Lovelace', [tenant, 'viewer'])

const accounts = `accountId,company
H1,Harbour Books
H2,Valley Library
${'x'.repeat(70)},Nobody
`

const choose = async (page: Page, name: string, text: string) => {
  await page.goto('/admin/imports')
  await heading(page, 'Imports').waitFor()
  await button(page, 'Import a file').click()
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
}
const figures = (page: Page) => page.getByRole('dialog').locator('dd').allInnerTexts()
const total = async () => {
  const headers = { 'cache-control': 'no-cache' }
  return (await service.call('GET', '/accounts', { token: await tenant.serviceToken(), headers })).body.total
}

visit('checks a file, imports it, saves the refused rows, and takes it back', admin, async (page) => {
  await choose(page, 'accounts of today.csv', accounts)
  assert.equal(await page.getByLabel('What it holds').inputValue(), 'accounts')
  await button(page, 'Check the file').click()
  await page.getByText('Nothing is written yet').waitFor()
  assert.deepEqual(await figures(page), ['2', '0', '0', '1'])
  await page.getByRole('cell', { name: 'accountId' }).waitFor()
  assert.equal(await total(), 0)

  await button(page, 'Import 2 records').click()
  await page.getByText('imported.').waitFor()
  assert.equal(await total(), 2)
  const download = page.waitForEvent('download')
  await button(page, 'Save the refused rows').click()
  const saved = await download
  assert.equal(saved.suggestedFilename(), 'accounts of today.csv.rejected.csv')
  assert.match(await text(await saved.createReadStream()), /^rejected_line,.*\n4,accountId,/)
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()

  const row = page.getByRole('row', { name: /accounts of today\.csv/ })
  await row.getByText('done', { exact: true }).waitFor()
  await row.getByRole('button', { name: /^Show/ }).click()
  await button(page, 'Save the refused rows').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await row.getByRole('button', { name: /^Undo/ }).click()
  await button(page, 'Take it back').click()
  await page.getByText('2 records were removed').waitFor()
  await row.getByText('undone', { exact: true }).waitFor()
  assert.equal(await total(), 0)
})

visit('chooses a file that holds nothing of use, is told so, and chooses another', admin, async (page) => {
  await choose(page, 'accounts.csv', 'nonsense\n1\n')
  await button(page, 'Check the file').click()
  const alert = page.getByRole('alert')
  await alert.getByRole('heading', { name: 'This file cannot be imported' }).waitFor()
  assert.doesNotMatch(await alert.innerText(), /\/tmp|--map/)
  await button(page, 'Choose another file').click()
  await page.getByLabel('File', { exact: true }).waitFor()
})

visit('is told, as a viewer, that it takes an admin', viewer, async (page) => {
  await page.goto('/admin/imports')
  await page.getByRole('heading', { name: 'This page is for admins' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'Imports' }).count(), 0)
})
