import assert from 'node:assert/strict'
import { attachTo, startReceiver, startWorkerFor } from '../../../server/test/outside/webhook-receiver.ts'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const [tenant, alone] = [await service.newTenant('Herald Press'), await service.newTenant('Valley Press')]
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])
const loner = await newPerson('Alan Loner', [alone, 'admin'])
await tenant.add('accounts', [sampleAccount('A1')])
startWorkerFor(service)
const receiver = await startReceiver()
await attachTo(service, tenant, receiver)

visit('sees that the legacy system refuses, and tries again when it is back', admin, async (page) => {
  await page.goto('/admin/webhooks')
  await page.getByRole('link', { name: 'Legacy system' }).click()
  await heading(page, 'Legacy system').waitFor()
  await page.getByText('Nothing was sent yet').waitFor()
  await requireSoon(() => button(page, 'Try now').count(), 0)
  receiver.answer = () => 500
  const token = await tenant.serviceToken()
  await service.call('POST', '/contacts', { token, body: { accountId: 'A1', name: 'Ada' } })
  // The page keeps itself up to date.
  await page.getByRole('heading', { name: 'Failing since' }).waitFor()
  await page.getByText('What the last failed attempt met').waitFor()
  const delivery = page.getByRole('row', { name: 'contact.created' })
  await delivery.getByText('answered 500').waitFor()
  receiver.answer = () => 204
  await button(page, 'Try now').click()
  await delivery.getByText('Delivered').waitFor()
  await page.getByText('Enabled').waitFor()
  assert.equal(receiver.taken.length, 1)
  await requireSoon(() => button(page, /^(More|Send a test event|Send again)/).count(), 0, 'it cannot be changed here')
})

visit('without a legacy system is told what it would be for', loner, async (page) => {
  await page.goto('/admin/webhooks')
  await page.getByRole('heading', { name: 'Nobody is told of anything yet' }).waitFor()
  await page.getByText('masthead legacy attach').waitFor()
})
