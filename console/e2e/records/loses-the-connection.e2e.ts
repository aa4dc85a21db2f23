import assert from 'node:assert/strict'
import type { Page, Route } from 'playwright-core'
import { sampleAccount, sampleContact } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireRows, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const grace = await newPerson('Grace Hopper', [tenant, 'admin'])
await tenant.add('accounts', [sampleAccount('A1', { company: 'Harbour Books' })])

const away = (page: Page) => page.getByRole('status').getByText('The service does not answer')
const offline = (page: Page) => page.getByRole('status').getByText('You are offline')
/** The service is gone for this browser, which itself is online. */
const breakOff = (page: Page) => page.context().route('**/*', (route) => route.abort('connectionrefused'))
/** These options are those of every test, but stand for a context of its own, which has kept no page. */
const freshBrowser = { offline: false }
const answerAgain = (page: Page) => page.context().unroute('**/*')

visit(
  'goes offline, opens pages that were not loaded yet, and is where they wanted when back',
  grace,
  async (page) => {
    await page.goto('/accounts')
    await requireRows(page, ['Harbour Books'])
    await page.context().setOffline(true)
    await offline(page).waitFor()
    await requireNoHindrance(page)
    await page.getByRole('link', { name: 'Members' }).click()
    await page.getByText('Loading the page').waitFor()
    await requireSoon(() => offline(page).isVisible(), true)
    await page.context().setOffline(false)
    await heading(page, 'Members').waitFor()
    await page.getByRole('row', { name: 'Grace Hopper' }).waitFor()
    await offline(page).waitFor({ state: 'detached' })
  },
  freshBrowser,
)

visit(
  'opens a page whose part is lost on the way, and comes to it',
  grace,
  async (page) => {
    let lost = 0
    await page
      .context()
      .route('**/assets/members-*', (route) => (lost++ < 1 ? route.abort('failed') : route.continue()))
    await page.goto('/accounts')
    await requireRows(page, ['Harbour Books'])
    await page.getByRole('link', { name: 'Members' }).click()
    await page.getByRole('row', { name: 'Grace Hopper' }).waitFor()
    assert.equal(lost, 2)
  },
  freshBrowser,
)

visit('searches while the service is away, and sees what was found when it is back', grace, async (page) => {
  await page.goto('/accounts')
  await requireRows(page, ['Harbour Books'])
  await breakOff(page)
  await page.getByRole('searchbox', { name: 'Search' }).fill('nobody')
  await away(page).waitFor()
  await answerAgain(page)
  await requireRows(page, [])
  await away(page).waitFor({ state: 'detached' })
})

visit('saves while the service is away for a moment, and it is saved once', grace, async (page) => {
  await page.goto('/contacts/new?accountId=A1')
  await page.getByLabel('Last name').fill('Hopper')
  await breakOff(page)
  await button(page, 'Create').click()
  await away(page).waitFor()
  await answerAgain(page)
  await heading(page, 'Hopper').waitFor()
  await away(page).waitFor({ state: 'detached' })
  assert.equal((await service.call('GET', '/contacts', { token: await tenant.serviceToken() })).body.total, 1)
})

for (const [how, fail] of [
  ['loses the connection', (route: Route) => route.abort('connectionrefused')],
  ['is answered by a proxy', (route: Route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' })],
] as const)
  visit(`${how} while a page is read again, and nothing on it is lost`, grace, async (page) => {
    const [contact] = await tenant.add('contacts', [sampleContact('A1', { name: 'Zoë Dupré' })])
    const path = `/contacts/${contact?.id}`
    await page.goto(path)
    await heading(page, 'Zoë Dupré').waitFor()
    await button(page, 'Add a task').click()
    const title = page.getByRole('form', { name: 'New task' }).getByLabel('Title')
    await title.fill('Write to them')
    let attempts = 0
    let asked = 0
    await page.context().route('**/*', (route) => {
      const url = route.request().url()
      if (route.request().method() === 'DELETE') return route.continue()
      if (url.endsWith(`/customer-api/v1${path}`)) attempts++
      // The client gives up after four attempts, and the console then goes on asking whether the service is back.
      else if (url.endsWith('/console.json') && attempts >= 4) asked++
      return fail(route)
    })
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await away(page).waitFor()
    await requireSoon(async () => asked > 0, true)
    await requireSoon(() => heading(page, 'Zoë Dupré').isVisible(), true)
    const readAgain = page.waitForResponse(
      (response) => response.url().endsWith(`/customer-api/v1${path}`) && response.request().method() === 'GET',
    )
    await answerAgain(page)
    await readAgain
    await away(page).waitFor({ state: 'detached' })
    await requireSoon(() => title.inputValue(), 'Write to them')
  })
