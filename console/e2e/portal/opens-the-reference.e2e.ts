import assert from 'node:assert/strict'
import { samplePublication } from '../../../server/test/records/sample-records.ts'
import { openConsole } from '../visitor.ts'

/** The library's page under our policy: `visit` fails when Chromium complains of anything that it refused. */

const { baseUrl, service, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
await tenant.add('publications', [samplePublication('HERALD')])

visit('comes from the portal, reads of an operation, calls it, and goes back', null, async (page) => {
  const outside: string[] = []
  page.on('request', (request) => {
    if (/^https?:/.test(request.url()) && !request.url().startsWith(baseUrl)) outside.push(request.url())
  })
  // It is large, and drawn piece by piece.
  page.setDefaultTimeout(50_000)
  await page.goto('/docs')
  await page.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name: 'Reference' }).click()
  await page
    .getByLabel('Bearer Token')
    .first()
    .fill(await tenant.serviceToken(['publications:read']))
  await page
    .getByRole('link', { name: /^publications/ })
    .first()
    .click()
  await page.getByRole('heading', { name: 'List publications' }).first().waitFor()
  await page
    .getByRole('button', { name: /^Test Request.*publications\)/ })
    .first()
    .click()
  await page.getByRole('button', { name: /^Send/ }).first().click()
  await page.getByText('"HERALD"').waitFor()
  await page.keyboard.press('Escape')
  assert.deepEqual(outside, [])
  await page.getByRole('link', { name: 'Developer portal' }).click()
  await page.getByRole('heading', { name: 'Build with Masthead' }).waitFor()
})
