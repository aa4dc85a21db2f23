import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { openConsole, requireRows } from '../visitor.ts'

/** What a first visit costs, over the wire. */

const { baseUrl, service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const person = await newPerson('Grace Hopper', [tenant, 'viewer'])
await tenant.add('accounts', [sampleAccount('A1', { company: 'Harbour Books' })])

const mostKibibytes = 200

/** Of all files of the console that the page asks for, with their heads, each as often as it comes. */
const weigh = (page: Page) => {
  const weights: Promise<number>[] = []
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url())
    const isFile = pathname.startsWith('/assets/') || request.resourceType() === 'document'
    if (isFile) weights.push(request.sizes().then((sizes) => sizes.responseBodySize + sizes.responseHeadersSize))
  })
  return async () => (await Promise.all(weights)).reduce((sum, weight) => sum + weight, 0) / 1_024
}

visit(
  'a first page is less than 200 KiB, compressed by gzip',
  person,
  async (page) => {
    const weighed = weigh(page)
    await page.goto('/accounts')
    await requireRows(page, ['Harbour Books'])
    const kibibytes = await weighed()
    assert.ok(kibibytes > 50 && kibibytes < mostKibibytes, `${kibibytes.toFixed(1)} KiB`)
  },
  { extraHTTPHeaders: { 'accept-encoding': 'gzip' } },
)

visit(
  'a second one takes files from the browser, and asks only whether the page is still the same',
  person,
  async (page) => {
    await page.goto('/accounts')
    await requireRows(page, ['Harbour Books'])
    const weighed = weigh(page)
    await page.goto(`${baseUrl}/accounts?search=harbour`)
    await requireRows(page, ['Harbour Books'])
    const kibibytes = await weighed()
    assert.ok(kibibytes < 10, `${kibibytes.toFixed(1)} KiB`)
  },
)

visit('a page is loaded once: who is signed in is asked without leaving it', person, async (page) => {
  const documents: string[] = []
  page.on('request', (request) => {
    if (request.isNavigationRequest()) documents.push(new URL(request.url()).pathname)
  })
  await page.goto('/accounts')
  await requireRows(page, ['Harbour Books'])
  assert.deepEqual(documents, ['/accounts'])
})
