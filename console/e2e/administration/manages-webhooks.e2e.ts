import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { startReceiver, startWorkerFor, subscribe } from '../../../server/test/outside/webhook-receiver.ts'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
startWorkerFor(service)

/** A tenant of its own for each test, with a receiver on a loopback address. */
const newScene = async () => {
  const tenant = await service.newTenant('Herald Press')
  await tenant.add('accounts', [sampleAccount('A1')])
  const token = await tenant.serviceToken()
  return {
    tenant,
    admin: await newPerson('Grace Hopper', [tenant, 'admin']),
    receiver: await startReceiver(),
    addContact: (name: string) => service.call('POST', '/contacts', { token, body: { accountId: 'A1', name } }),
  }
}

const dialog = (page: Page) => page.getByRole('dialog')
const deliveries = (page: Page) => page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr')
const shownSecret = (page: Page) => dialog(page).getByRole('figure', { name: 'Secret' }).locator('pre').innerText()
const choose = async (page: Page, item: string) => {
  await button(page, 'More').click()
  await button(page, item).click()
}

const making = await newScene()
visit('makes an endpoint, sees a test event arrive, and sends it again', making.admin, async (page) => {
  const { receiver } = making
  await page.goto('/admin/webhooks')
  await button(page, 'Make an endpoint').click()
  await dialog(page).getByLabel('Address').fill('example.com/masthead')
  await button(page, 'Make the endpoint').click()
  await dialog(page).getByText('Choose at least one.').waitFor()
  await dialog(page).getByLabel('A contact was created').check()
  await button(page, 'Make the endpoint').click()
  await dialog(page).getByText('This must be an address like https://example.com/masthead.').waitFor()
  await dialog(page).getByLabel('Address').fill(` ${receiver.url} `)
  await dialog(page).getByLabel('Description').fill('Newsletter tool')
  await button(page, 'Make the endpoint').click()
  receiver.trust(await shownSecret(page))
  await dialog(page).getByText('Python', { exact: true }).click()
  await dialog(page).getByText('hmac.compare_digest').waitFor()
  await button(page, 'I have copied it').click()

  await page.getByRole('link', { name: 'Newsletter tool' }).click()
  await page.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor()
  await button(page, 'Send a test event').click()
  await dialog(page).getByText('Delivered').waitFor()
  await dialog(page).getByText('"type": "webhook.test"').waitFor()
  await dialog(page).getByText(`webhook-id: ${receiver.taken[0]?.id}`).waitFor()
  await dialog(page).getByRole('button', { name: 'Send again' }).click()
  await dialog(page).getByText('2, the last').waitFor()
  await dialog(page).getByText('Delivered').waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL(({ search }) => search === '')
  assert.deepEqual(
    receiver.taken.map(({ id, message: { type } }) => [id, type]),
    Array(2).fill([receiver.taken[0]?.id, 'webhook.test']),
  )

  await making.addContact('Ada Byron')
  await deliveries(page).filter({ hasText: 'contact.created' }).getByText('Delivered').waitFor()
  await requireSoon(() => deliveries(page).count(), 2)

  await choose(page, 'Change …')
  await dialog(page).getByLabel('A contact was created').uncheck()
  await dialog(page).getByLabel('An account was created').check()
  await button(page, 'Save').click()
  await page.getByRole('region', { name: 'Details' }).getByText('account.created').waitFor()

  await choose(page, 'Delete …')
  await dialog(page).getByText('This cannot be taken back').waitFor()
  await button(page, 'Delete the endpoint').click()
  await page.getByText('“Newsletter tool” was deleted.').waitFor()
  await page.getByRole('heading', { name: 'Nobody is told of anything yet' }).waitFor()
})

const failing = await newScene()
const failingEndpoint = await subscribe(service, failing.tenant, failing.receiver, ['contact.created'])
visit('sees why an endpoint failed, enables it, and sends again what it missed', failing.admin, async (page) => {
  const { receiver } = failing
  receiver.answer = (_, response) => {
    response.writeHead(410).end('This address has moved to the new shop.')
    return undefined
  }
  await failing.addContact('Ada Byron')
  await page.goto('/admin/webhooks')
  await page.getByText('it answered 410 (Gone)').waitFor()
  await page.getByRole('table', { name: 'Endpoints' }).getByRole('link').click()
  await button(page, 'contact.created').click()
  await dialog(page).getByText('This address has moved to the new shop.').waitFor()
  await page.keyboard.press('Escape')

  receiver.answer = () => 204
  await button(page, 'Enable').click()
  await deliveries(page).getByText('Delivered').waitFor()
  await page.getByText('Enabled').waitFor()
  await requireSoon(() => button(page, 'Enable').count(), 0)

  await page.getByText('Failed', { exact: true }).click()
  await page.getByRole('heading', { name: 'No delivery failed' }).waitFor()
  await service.owner.query(
    'update webhook_deliveries set failed_at = now(), settled_at = null where endpoint_id = $1',
    [failingEndpoint.id],
  )
  await deliveries(page).getByText('Failed').waitFor()
  await button(page, /^Send again/).click()
  await page.getByRole('heading', { name: 'No delivery failed' }).waitFor()
  await page.goto(`/admin/webhooks/${failingEndpoint.id}`)
  await deliveries(page).getByText('Delivered').waitFor()

  await choose(page, 'Send again from a moment on …')
  await dialog(page).getByLabel('From').fill('')
  await dialog(page).getByRole('button', { name: 'Send again' }).click()
  await dialog(page).getByText('Choose a day and a time.').waitFor()
  await dialog(page).getByLabel('From').fill('2026-01-01T00:00')
  await dialog(page).getByRole('button', { name: 'Send again' }).click()
  await page.getByText('1 event is sent again.').waitFor()
  await deliveries(page).getByText('Delivered').waitFor()
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 1)

  await page.goto('/admin/audit?resource=webhook_endpoints')
  await page.getByText('sent events again from a moment on to the webhook endpoint').waitFor()
})

const rotating = await newScene()
const { id: rotatingId } = await subscribe(service, rotating.tenant, rotating.receiver)
visit('rotates the secret, and both sign for a day', rotating.admin, async (page) => {
  const { receiver } = rotating
  await page.goto(`/admin/webhooks/${rotatingId}`)
  await heading(page, new URL(receiver.url).host + new URL(receiver.url).pathname).waitFor()
  await choose(page, 'Rotate the secret …')
  await button(page, 'Rotate the secret').click()
  await dialog(page)
    .getByText(/^Until .* events are signed with the former secret, too\.$/)
    .waitFor()
  const secret = await shownSecret(page)
  await button(page, 'I have copied it').click()
  await page.getByRole('region', { name: 'Details' }).getByText('Signed with the former secret, too').waitFor()
  await button(page, 'Send a test event').click()
  await dialog(page).getByText('Delivered').waitFor()
  receiver.trust(secret)
  await dialog(page).getByRole('button', { name: 'Send again' }).click()
  await dialog(page).getByText('2, the last').waitFor()
  await dialog(page).getByText('Delivered').waitFor()
  assert.deepEqual([receiver.taken.length, receiver.unverified], [2, 0])
})
