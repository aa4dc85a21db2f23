import assert from 'node:assert/strict'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireRows, requireSoon, signIn } from '../visitor.ts'

const { baseUrl, service, newPerson, visit } = await openConsole()
const herald = await service.newTenant('Herald Press')
const gazette = await service.newTenant('Gazette & Sons')
await herald.add('accounts', [sampleAccount('A1', { company: 'Harbour Books' })])
await gazette.add('accounts', [sampleAccount('A1', { company: 'Valley Library' })])
const ada = await newPerson('Ada Lovelace', [herald, 'admin'], [gazette, 'viewer'])
const grace = await newPerson('Grace Hopper', [herald, 'editor'])

const addressIn = ({ slug }: { slug: string }, path: string) => `${baseUrl}/t/${slug}${path}`

visit('has a tab for each of two tenants, which keep theirs over reloads', ada, async (page) => {
  await page.goto(addressIn(herald, '/accounts'))
  await requireRows(page, ['Harbour Books'])
  const second = await page.context().newPage()
  await second.goto(addressIn(gazette, '/accounts'))
  await requireRows(second, ['Valley Library'])
  for (const [tab, company] of [
    [page, 'Harbour Books'],
    [second, 'Valley Library'],
  ] as const) {
    await tab.getByRole('link', { name: company }).click()
    await heading(tab, company).waitFor()
    await tab.reload()
    await heading(tab, company).waitFor()
    await tab.goBack()
    await requireRows(tab, [company])
  }
  await page.waitForURL(({ href }) => href === addressIn(herald, '/accounts'))
  assert.equal(second.url(), addressIn(gazette, '/accounts'))
})

visit('opens an address from before tenants were in it, and is led to the new one', grace, async (page) => {
  await page.goto('/accounts?search=harbour')
  await requireRows(page, ['Harbour Books'])
  await page.waitForURL(({ href }) => href === addressIn(herald, '/accounts?search=harbour'))
  await page.goto('/')
  await heading(page, 'Herald Press').waitFor()
  await page.waitForURL(({ href }) => href === addressIn(herald, '/'))
})

visit('opens an address of a tenant of others, is told so, and goes to their own', grace, async (page) => {
  for (const slug of [gazette.slug, 'no-such-tenant']) {
    await page.goto(addressIn({ slug }, '/accounts'))
    await heading(page, `You are not a member of “${slug}”`).waitFor()
    await requireSoon(() => page.getByText('Valley Library').count(), 0)
    await requireNoHindrance(page)
  }
  await page.getByRole('link', { name: 'Go to Herald Press' }).click()
  await heading(page, 'Herald Press').waitFor()
})

visit('signs in with another account, because the address is of its tenant', grace, async (page) => {
  await page.goto(addressIn(gazette, '/accounts'))
  await button(page, 'Sign in with another account').click()
  await page.getByLabel('E-mail address').fill(ada.email)
  await page.getByLabel('Password').fill(ada.password)
  await button(page, 'Sign in').click()
  await requireRows(page, ['Valley Library'])
  await page.waitForURL(({ href }) => href === addressIn(gazette, '/accounts'))
})

visit('signs in at the address of a tenant, and is in that one', null, async (page) => {
  await page.goto(addressIn(herald, '/accounts'))
  await signIn(page, ada)
  await requireRows(page, ['Harbour Books'])
})
