import assert from 'node:assert/strict'
import { attachTo, startReceiver, startWorkerFor } from '../../../server/test/outside/webhook-receiver.ts'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { button, openConsole } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const [tenant, alone] = [await service.newTenant('Herald Press'), await service.newTenant('Valley Press')]
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])
const loner = await newPerson('Alan Loner', [alone, 'admin'])
await tenant.add('accounts', [sampleAccount('A1')])
startWorkerFor(service)
const receiver = await startReceiver()
await attachTo(service, tenant, receiver)

visit('sees that the legacy system refuses, and tries again when it is back', admin, async (page) => {
  await page.goto('/admin/legacy')
  await page.getByText('Everything is delivered').waitFor()
  assert.equal(await button(page, 'Try now').count(), 0)
  receiver.answer = () => 500
  const token = await tenant.serviceToken()
  await service.call('POST', '/contacts', { token, body: { accountId: 'A1', name: 'Ada' } })
  await page.reload()
  await page.getByText('In progress').waitFor()
  await page.getByText(/answered (with )?500/).waitFor()
  receiver.answer = () => 204
  await button(page, 'Try now').click()
  await page.getByText('Everything is delivered').waitFor()
  assert.equal(receiver.taken.length, 1)
})

visit('without a legacy system is told what it would be for', loner, async (page) => {
  await page.goto('/admin/legacy')
  await page.getByRole('heading', { name: 'There is no legacy system' }).waitFor()
})
