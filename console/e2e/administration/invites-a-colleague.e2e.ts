import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { button, heading, openConsole } from '../visitor.ts'

const { service, newPerson, newVisitor, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])
const dialog = (page: Page) => page.getByRole('dialog')

/** As somebody does who was shown the link. */
const invite = async (page: Page, email: string, role: string): Promise<string> => {
  await page.goto('/admin/members')
  await button(page, 'Invite a colleague').click()
  await dialog(page).getByLabel('E-mail address').fill(email)
  await dialog(page).getByRole('radio', { name: role }).check()
  await button(page, 'Invite').click()
  const link = await dialog(page).getByRole('figure', { name: 'Link' }).locator('pre').innerText()
  await button(page, 'I have copied it').click()
  return link
}

visit('passes on a link, by which the colleague chooses a password and is signed in', admin, async (page) => {
  const email = 'katherine@herald.example'
  const link = await invite(page, email, 'Editor')
  const open = page.getByRole('table', { name: 'Open invitations' })
  await open.getByRole('row', { name: email }).getByText('Editor').waitFor()

  const colleague = await newVisitor()
  try {
    const password = 'a long walk to the moon'
    await colleague.page.goto(link)
    await colleague.page.getByLabel('Your name').fill('Katherine Johnson')
    await colleague.page.getByLabel('Password, of 8 characters or more').fill(password)
    await button(colleague.page, 'Join').click()
    // The password was just chosen: nobody is asked for it again.
    await heading(colleague.page, 'Herald Press').waitFor()
    assert.deepEqual(colleague.complaints, [])
  } finally {
    await colleague.context.close()
  }

  await page.reload()
  const member = page.getByRole('table', { name: 'Members' }).getByRole('row', { name: 'Katherine Johnson' })
  await member.getByText('Editor').waitFor()
  await page.getByRole('heading', { name: 'Nobody is invited right now' }).waitFor()
})

visit('withdraws an invitation, and the link is over', admin, async (page) => {
  const email = 'dorothy@herald.example'
  const link = await invite(page, email, 'Viewer')
  await button(page, `Withdraw the invitation of ${email}`).click()
  await button(page, 'Withdraw the invitation').click()
  await page.getByRole('row', { name: email }).waitFor({ state: 'detached' })
  await page.goto(link)
  await page.getByRole('heading', { name: 'This invitation is over' }).waitFor()
})

visit('mistypes an address, then invites somebody who is a member already', admin, async (page) => {
  await page.goto('/admin/members')
  await button(page, 'Invite a colleague').click()
  await dialog(page).getByLabel('E-mail address').fill('nobody')
  await button(page, 'Invite').click()
  await dialog(page).getByText('This is not an e-mail address.').waitFor()
  await dialog(page).getByLabel('E-mail address').fill(admin.email)
  await button(page, 'Invite').click()
  await dialog(page).getByRole('alert').getByText('is already a member: change the role instead').waitFor()
})
