import assert from 'node:assert/strict'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireSoon } from '../visitor.ts'

const { baseUrl, service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])

visit('is led through the first steps, each of which is ticked when it is done', admin, async (page) => {
  await page.goto('/')
  const steps = page.getByRole('region', { name: 'First steps' })
  await steps.getByRole('listitem').first().waitFor()
  await requireNoHindrance(page)
  const done = () => steps.locator('[data-done="true"]').allInnerTexts()
  await requireSoon(() => done(), [])
  await steps.getByRole('link', { name: 'Make a token' }).click()
  await button(page, 'Make a token').first().click()
  await page.getByLabel('Name').fill('Nightly report')
  await page.getByRole('checkbox', { name: 'See contacts' }).check()
  await button(page, 'Make the token').click()
  await button(page, 'I have copied it').click()
  await page.getByRole('link', { name: 'Overview' }).click()
  await steps.getByText('(done)').waitFor({ state: 'attached' })
  assert.match((await done()).join(), /^.*Make a token/s)
  await tenant.add('accounts', [sampleAccount('A1')])
  await page.reload()
  await steps.getByText('(done)').nth(1).waitFor({ state: 'attached' })
  await steps.getByRole('link', { name: 'Invite a colleague' }).click()
  await button(page, 'Invite a colleague').click()
  await page.getByLabel('E-mail address').fill('katherine@herald.example')
  await button(page, 'Invite').click()
  await button(page, 'I have copied it').click()
  await page.getByRole('link', { name: 'Overview' }).click()
  await heading(page, 'Herald Press').waitFor()
  await steps.waitFor({ state: 'detached' })
})

visit('chooses the time zone of the organisation', admin, async (page) => {
  await page.goto('/admin/settings')
  await page.getByLabel('Time zone').selectOption('Europe/Berlin')
  await requireNoHindrance(page)
  await button(page, 'Save').click()
  await page.getByText('Saved.').waitFor()
  await page.reload()
  await page.getByLabel('Time zone').waitFor()
  await requireSoon(() => page.getByLabel('Time zone').inputValue(), 'Europe/Berlin')
})

visit(
  'sees the time zone as a colleague has chosen it, and that another is not saved yet',
  admin,
  async (page) => {
    await page.goto('/invoices?dueDate=this-month')
    await page.getByRole('heading', { name: 'No invoices match' }).waitFor()
    const another = await page.context().newPage()
    await another.goto(`${baseUrl}/admin/settings`)
    await another.getByLabel('Time zone').selectOption('Asia/Tokyo')
    await button(another, 'Save').click()
    await another.getByText('Saved.').waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await requireSoon(() => page.getByLabel('Time zone').inputValue(), 'Asia/Tokyo')
    await button(page, 'Save').click()
    await page.getByText('Saved.').waitFor()
    await button(page, /^Take that of this browser/).click()
    await page.getByText('Saved.').waitFor({ state: 'detached' })
  },
  { timezoneId: 'Europe/Berlin' },
)
