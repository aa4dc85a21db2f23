import assert from 'node:assert/strict'
import { problems } from '@masthead/contract'
import type { Page } from 'playwright-core'
import { accessibilityFaults } from '../../../server/test/browsers/accessibility.ts'
import { sampleAccount, sampleContact } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireSoon } from '../visitor.ts'

/** Somebody who wants to build with the API. */

const { baseUrl, service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const person = await newPerson('Grace Hopper', [tenant, 'viewer'])
await tenant.add('accounts', [sampleAccount('A1')])
await tenant.add('contacts', [sampleContact('A1', { name: 'Zoë Dupré' })])

const example = (page: Page, name: string) => page.getByRole('figure', { name })
const contents = (page: Page) => page.getByRole('navigation', { name: 'Portal' })
const stored = '[{ ...localStorage }, { ...sessionStorage }]'
const exists = (token: string) => service.call('GET', '/contacts', { token }).then(({ status }) => status === 200)

visit('reads without signing in, from the first page to the last', null, async (page) => {
  await page.goto('/docs')
  await heading(page, 'Build with Masthead').waitFor()
  assert.match(await example(page, 'Two contacts').innerText(), /Bearer YOUR_TOKEN/)
  await requireSoon(() => button(page, /^Run/).count(), 0)
  const titles = []
  for (;;) {
    const next = page.locator('.next-page a')
    if ((await next.count()) === 0) break
    const label = await next.innerText()
    await next.click()
    await heading(page, label).waitFor()
    titles.push(await page.title())
    await requireSoon(() => contents(page).locator('[aria-current="page"]').allInnerTexts(), [label])
  }
  assert.deepEqual(
    titles.map((title) => title.replace(' · Masthead', '')),
    [
      'Paging and walking',
      'Keep a copy current',
      'Search and filters',
      'Retries',
      'Errors',
      'Acting for a user',
      'Changelog',
    ],
  )
  await page.getByText('Idempotency-Key').first().waitFor()
})

visit('signs in where they read, makes a token, and makes the first call', person, async (page) => {
  await page.goto('/docs/guides/search')
  await button(page, 'Sign in').click()
  await heading(page, 'Search and filters').waitFor()
  await page.waitForURL(({ pathname }) => pathname === '/docs/guides/search')
  await contents(page).getByRole('link', { name: 'Start' }).click()
  await page.getByText('It may read all records, nothing else, and ends after 7 days').waitFor()
  await button(page, 'Make a token').click()
  const shown = page.getByRole('region', { name: 'Your token' }).locator('code')
  const token = await shown.innerText()
  assert.match(token, /^mh_pat_\w{38}$/)
  assert.equal((await service.call('GET', '/invoices', { token })).status, 200)
  assert.equal((await service.call('POST', '/tasks', { token, body: {} })).body.code, 'insufficient_scope')

  const first = example(page, 'Two contacts')
  for (const language of ['curl', 'fetch', '@masthead/client']) {
    await first.getByText(language, { exact: true }).click()
    const code = await first.locator('pre').innerText()
    assert.ok(code.includes(token) && code.includes(baseUrl), code)
  }
  await button(page, 'Run: Two contacts').click()
  const answer = first.getByRole('region', { name: 'Answer 200' })
  await answer.waitFor()
  const text = await answer.innerText()
  assert.match(text, /^etag: /m)
  assert.match(text, /^ratelimit: /m)
  assert.match(text, /"name": "Zoë Dupré"/)

  await contents(page).getByRole('link', { name: 'Errors' }).click()
  await button(page, 'Run: A misspelt parameter').click()
  await page.getByRole('region', { name: 'Answer 400' }).waitFor()
  await contents(page).getByRole('link', { name: 'Retries' }).click()
  await heading(page, 'Retries').waitFor()
  const update = await example(page, 'Change only what I have seen').locator('pre').innerText()
  assert.match(update, /contacts\.get\('[\w-]{36}'\)/)

  assert.ok(!JSON.stringify(await page.evaluate(stored)).includes(token))
  assert.equal(await exists(token), true)
  await button(page, 'Revoke it').click()
  await button(page, 'Make a token').waitFor()
  assert.equal(await exists(token), false)
})

visit('comes from the console, is known in the portal, and loses a token with the page', person, async (page) => {
  await page.goto('/')
  await page.getByRole('link', { name: 'Documentation' }).click()
  await button(page, 'Make a token').click()
  await button(page, 'Run: Two contacts').waitFor()
  await page.reload()
  await button(page, 'Make a token').waitFor()
  const foot = page.getByRole('complementary', { name: 'Contents' })
  await foot.getByText('Grace Hopper').waitFor()
  await foot.getByText('Herald Press').waitFor()
  assert.match(await example(page, 'Two contacts').innerText(), /Bearer YOUR_TOKEN/)
})

visit('finds a guide, an operation and a problem by their words, without leaving the keyboard', null, async (page) => {
  await page.goto('/docs')
  await heading(page, 'Build with Masthead').waitFor()
  const box = page.getByRole('combobox', { name: 'Search' })
  const find = async (words: string) => {
    await page.locator('h1').first().click()
    await page.keyboard.press('/')
    await page.keyboard.type(words)
    await page.getByRole('option').first().waitFor()
  }
  await find('cursor refused')
  await accessibilityFaults(page).then((faults) => assert.deepEqual(faults, []))
  await page.keyboard.press('Enter')
  await heading(page, 'Keep a copy current').waitFor()
  await page.waitForURL(/#when-a-cursor-is-refused$/)
  await requireSoon(() => box.inputValue(), '')
  await find('precondition_failed')
  await page.keyboard.press('Enter')
  await page.locator('tr#precondition_failed[aria-current]').waitFor()
  await find('restore a deleted contact')
  await page.keyboard.press('Enter')
  await heading(page, 'Reference').waitFor()
  await page.waitForURL(({ href }) => href.endsWith('/docs/reference#tag/contacts/POST/contacts/{contactId}/restore'))
})

visit('follows the address of a problem to what cures it', null, async (page) => {
  await page.goto('/problems/precondition_failed')
  await page.getByRole('link', { name: 'All problems' }).click()
  await heading(page, 'Errors').waitFor()
  const line = page.locator('tr[aria-current]')
  await line.waitFor()
  assert.match(await line.innerText(), /412\s+precondition_failed\s+The record has changed/)
  const { y = Number.NaN } = (await line.boundingBox()) ?? {}
  assert.ok(y >= 0 && y < 720, `${y}`)
  const codes = await page.locator('tbody tr td:nth-child(2)').allInnerTexts()
  assert.deepEqual(codes, Object.keys(problems))
})

visit('no page of the portal hinders anybody, in light and in dark', person, async (page) => {
  const found: Record<string, string[]> = {}
  const look = async (name: string) => {
    found[name] = await accessibilityFaults(page)
  }
  await page.goto('/docs')
  await button(page, 'Sign in').waitFor()
  await look('before signing in')
  await button(page, 'Sign in').click()
  await button(page, 'Make a token').click()
  await button(page, 'Run: Two contacts').click()
  await page.getByRole('region', { name: 'Answer 200' }).waitFor()
  await look('start')
  for (const link of await contents(page).locator('a[href^="/docs/"]:not([href$="reference"])').all()) {
    await link.click()
    await heading(page, await link.innerText()).waitFor()
    await look(page.url())
  }
  assert.equal(Object.keys(found).length, 9)
  assert.deepEqual(
    Object.entries(found).filter(([, faults]) => faults.length > 0),
    [],
  )
})
