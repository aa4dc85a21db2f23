import assert from 'node:assert/strict'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const token = await tenant.serviceToken()
const editor = await newPerson('Grace Hopper', [tenant, 'editor'])
const viewer = await newPerson('Mary Somerville', [tenant, 'viewer'])
await tenant.add('accounts', [sampleAccount('A1', { company: 'Harbor Books', billingEmail: 'ask the owner' })])

visit('corrects name and address, and is told what is wrong with an e-mail address', editor, async (page) => {
  const sent: unknown[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') sent.push(request.postDataJSON())
  })
  await page.goto('/accounts/A1')
  await page.getByRole('link', { name: 'Edit' }).click()
  await heading(page, 'Edit Harbor Books').waitFor()
  await requireNoHindrance(page)
  await page.getByLabel('Company', { exact: true }).fill('Harbour Books')
  await page.getByLabel('City').fill('Bonn')
  await button(page, 'Save').click()
  await page.getByRole('status').getByText('Harbour Books was saved.').waitFor()
  assert.deepEqual(sent, [{ company: 'Harbour Books', city: 'Bonn' }], 'what an import brought is in nobody’s way')

  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Billing e-mail').fill('zoe@harbour')
  await button(page, 'Save').click()
  await page.getByText('This cannot be an e-mail address: what stands behind its @ is no domain').waitFor()
  await requireSoon(() => page.locator(':focus').inputValue(), 'zoe@harbour')
  await page.getByLabel('Billing e-mail').fill('zoe@harbour.example')
  await button(page, 'Save').click()
  await page.getByRole('region', { name: 'Details' }).getByRole('link', { name: 'zoe@harbour.example' }).waitFor()
})

visit('sees what a colleague has corrected meanwhile, and chooses', editor, async (page) => {
  await page.goto('/accounts/A1/edit')
  await page.getByLabel('Country').fill('Deutschland')
  await page.getByLabel('ZIP').fill('53111')
  assert.equal((await service.call('PATCH', '/accounts/A1', { token, body: { zip: '53113' } })).status, 200)
  await button(page, 'Save').click()
  await page.getByText('somebody else changed this account').waitFor()
  await page.getByRole('group', { name: 'ZIP', exact: true }).getByLabel('Theirs').check()
  await button(page, 'Save what is chosen').click()
  await page.getByRole('region', { name: 'Details' }).getByText('Deutschland').waitFor()
  const { body } = await service.call('GET', '/accounts/A1', { token })
  assert.deepEqual([body.country, body.zip], ['Deutschland', '53113'])
})

visit('may only look', viewer, async (page) => {
  await page.goto('/accounts/A1')
  await page.getByRole('region', { name: 'Details' }).waitFor()
  await requireSoon(() => page.getByRole('link', { name: 'Edit' }).count(), 0)
})
