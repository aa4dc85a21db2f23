import assert from 'node:assert/strict'
import { samplePublication } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole } from '../visitor.ts'

/** The library's page under our policy: `visit` fails when Chromium complains of anything that it refused. */

const { baseUrl, service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const person = await newPerson('Grace Hopper', [tenant, 'viewer'])
await tenant.add('publications', [samplePublication('HERALD')])

visit('makes a token in the portal, calls an operation in the reference with it, and goes on', person, async (page) => {
  const outside: string[] = []
  page.on('request', (request) => {
    if (/^https?:/.test(request.url()) && !request.url().startsWith(baseUrl)) outside.push(request.url())
  })
  // It is large, and drawn piece by piece.
  page.setDefaultTimeout(50_000)
  await page.goto('/docs')
  await button(page, 'Sign in').click()
  await button(page, 'Make a token').click()
  await page.getByText('Every example holds your token now').waitFor()
  const contents = page.getByRole('navigation', { name: 'Portal' })
  await contents.getByRole('link', { name: 'Reference' }).click()
  await heading(page, 'Reference').waitFor()
  const frame = page.frameLocator('iframe[title="Reference of the API"]')
  await frame
    .getByRole('link', { name: /^publications/ })
    .first()
    .click()
  await frame.getByRole('heading', { name: 'List publications' }).first().waitFor()
  await page.waitForURL(/#tag\/publications/)
  await frame
    .getByRole('button', { name: /^Test Request.*publications\)/ })
    .first()
    .click()
  await frame.getByRole('button', { name: /^Send/ }).first().click()
  await frame.getByText('"HERALD"').waitFor()
  assert.deepEqual(outside, [])
  await contents.getByRole('link', { name: 'Start' }).click()
  await heading(page, 'Build with Masthead').waitFor()
  await page.getByText('Every example holds your token now').waitFor()
})
