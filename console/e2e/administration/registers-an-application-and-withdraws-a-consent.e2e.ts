import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after } from 'node:test'
import type { Page } from 'playwright-core'
import { authorizationRequest, newVerifier, post, prefixed } from '../../../server/test/browsers/oauth-browser.ts'
import { button, openConsole, pressUntilGone } from '../visitor.ts'

const { baseUrl, service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])
const dialog = (page: Page) => page.getByRole('dialog')

/** The page of the application. */
const application = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
after(() => application.close())
await once(application, 'listening')
const address = application.address()
const redirectUri = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/called-back`

/** What the application does when somebody comes to it: sends them to consent, and gets a token. */
const useApplication = async (page: Page, clientId: string): Promise<string> => {
  const verifier = newVerifier()
  const registered = {
    clientId,
    name: '',
    redirectUris: [redirectUri],
    isNative: false,
    mayRefresh: false,
    tenantId: tenant.id,
    scopes: ['contacts:read' as const],
    createdAt: new Date(),
    disabledAt: null,
  }
  const request = { resource: `${baseUrl}/customer-api/v1`, scope: `openid ${prefixed('contacts:read')}` }
  await page.goto(authorizationRequest(registered, verifier, request))
  await button(page, 'Allow').click()
  await page.waitForURL(/called-back\?/)
  const code = new URL(page.url()).searchParams.get('code') ?? assert.fail(page.url())
  const { body } = await post(service.origin, '/oauth2/token', {
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code,
    code_verifier: verifier,
    resource: request.resource,
  })
  return body.access_token
}
const statusWith = async (token: string) => (await service.call('GET', '/contacts', { token })).status

visit('registers, corrects what was refused, allows, disables, enables and withdraws', admin, async (page) => {
  await page.goto('/admin/applications')
  await page.getByRole('heading', { name: 'No application is registered' }).waitFor()
  await button(page, 'Register an application').click()
  await dialog(page).getByLabel('Name').fill('Ledger Sync')
  const uris = dialog(page).getByRole('textbox', { name: 'Redirect URIs' })
  await uris.fill('http://ledger.example/callback')
  await dialog(page).getByLabel('See contacts').check()
  await button(page, 'Register').click()
  await dialog(page).getByText('cannot be a redirect URI: use https').waitFor()
  await uris.fill(`\n${redirectUri}\n`)
  await pressUntilGone(button(page, 'Register'))
  const row = page.getByRole('row', { name: 'Ledger Sync' })
  const clientId = await row.locator('code').first().innerText()
  assert.match(clientId, /^app_/)

  const token = await useApplication(page, clientId)
  assert.equal(await statusWith(token), 200)
  await page.goto('/admin/applications')
  await row.getByRole('cell', { name: '1', exact: true }).waitFor()
  await button(page, 'Disable Ledger Sync').click()
  await button(page, 'Disable the application').click()
  await row.getByText('Disabled').waitFor()
  assert.equal(await statusWith(token), 401)
  await button(page, 'Enable Ledger Sync').click()
  await button(page, 'Enable the application').click()
  await button(page, 'Disable Ledger Sync').waitFor()
  assert.equal(await statusWith(token), 200)

  await page.goto('/settings/applications-allowed')
  await row.getByText('See contacts').waitFor()
  await button(page, 'Withdraw what Ledger Sync may do').click()
  await dialog(page).getByRole('heading', { name: 'Withdraw what you allowed Ledger Sync?' }).waitFor()
  await button(page, 'Withdraw').click()
  await page.getByRole('heading', { name: 'You allowed no application anything' }).waitFor()
  assert.equal(await statusWith(token), 401)
})
