import type { Page } from 'playwright-core'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { openConsole, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])
await tenant.add('accounts', [sampleAccount('A1', { company: 'Harbour Books' })])

/** How the parts of a page are laid out. */
const looks = (page: Page) =>
  page.evaluate(`Object.fromEntries([...document.querySelectorAll('main [class]')].map((part) => {
    const { display, padding, gap, border, minHeight } = getComputedStyle(part)
    return [part.localName + '.' + part.getAttribute('class'), [display, padding, gap, border, minHeight].join()]
  }))`)

const overview = (page: Page) => page.getByRole('heading', { name: 'Renewals due' })
const account = (page: Page) => page.getByText('Created by an import')
const errors = (page: Page) => page.getByRole('cell', { name: 'invalid_cursor', exact: true })
const pkce = (page: Page) => page.getByRole('heading', { name: 'Send the user to Masthead' })

visit('comes to pages by way of others, and they look as if opened at once', admin, async (page) => {
  const opened = async (path: string, shown: (page: Page) => ReturnType<Page['getByText']>) => {
    await page.goto(path)
    await shown(page).waitFor()
    await page.waitForLoadState('networkidle')
    return looks(page)
  }
  const atOnce = {
    // The portal learns from the console who is signed in.
    overview: await opened('/', overview),
    account: await opened('/accounts/A1', account),
    errors: await opened('/docs/guides/errors', errors),
    pkce: await opened('/docs/guides/pkce', pkce),
  }
  await page.goto('/')
  const follow = (name: string) => page.getByRole('link', { name, exact: true }).first().click()
  await follow('Imports')
  await follow('Import a file')
  await page.getByRole('heading', { name: 'Templates' }).waitFor()
  await follow('Overview')
  await requireSoon(() => looks(page), atOnce.overview, 'overview')
  await follow('Accounts')
  await follow('Harbour Books')
  await requireSoon(() => looks(page), atOnce.account, 'account')
  await follow('Documentation')
  await follow('Errors')
  await requireSoon(() => looks(page), atOnce.errors, 'errors')
  await follow('Acting for a user')
  await requireSoon(() => looks(page), atOnce.pkce, 'pkce')
})
