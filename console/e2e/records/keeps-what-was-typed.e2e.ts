import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { operator } from '../../../server/src/audit/author.ts'
import { signOutOfConsole } from '../../../server/src/identity/people/consents.ts'
import { findAccounts } from '../../../server/src/identity/people/users.ts'
import { sampleAccount, sampleContact } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, type Person, requireNoHindrance, requireSoon, signIn } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const token = await tenant.serviceToken()
const editor = await newPerson('Grace Hopper', [tenant, 'editor'])
const admin = await newPerson('Ada Lovelace', [tenant, 'admin'])
await tenant.add('accounts', [sampleAccount('A1', { company: 'Harbour Books' })])

const newContact = async (): Promise<string> => {
  const [contact] = await tenant.add('contacts', [sampleContact('A1', { title: 'Countess', phone: '1' })])
  return String(contact?.id)
}
const stored = async (id: string) => (await service.call('GET', `/contacts/${id}`, { token })).body
const restored = (page: Page) => page.getByText('What you typed before is restored')
const drafts = (page: Page) =>
  page.evaluate(`Object.keys(sessionStorage).filter((key) => key.startsWith('masthead.draft:')).length`)

/** As by "Sign out everywhere" in another browser. */
const endSessions = async ({ email }: Person) => {
  const [account] = await findAccounts(service.database.query, email)
  await service.database.transaction((query) => signOutOfConsole(query, operator, account?.id ?? '', null))
}

visit('edits while the session ends and loses nothing', null, async (page) => {
  const id = await newContact()
  await page.goto(`/contacts/${id}/edit`)
  await signIn(page, editor)
  await page.getByLabel('Title').fill('Programmer')
  await page.getByLabel('Second phone').fill('+49 221 1234')
  await endSessions(editor)
  await button(page, 'Save').click()
  await page.getByRole('alert').getByText('Your session has ended').waitFor()
  await signIn(page, editor)
  await heading(page, 'Edit Ada Lovelace').waitFor()
  await restored(page).waitFor()
  await requireNoHindrance(page)
  await requireSoon(() => page.getByLabel('Title').inputValue(), 'Programmer')
  await requireSoon(() => page.getByLabel('Second phone').inputValue(), '+49 221 1234')
  await button(page, 'Save').click()
  await page.getByRole('status').getByText('Ada Lovelace was saved.').waitFor()
  const { title, phone2 } = await stored(id)
  assert.deepEqual([title, phone2], ['Programmer', '+49 221 1234'])
  await requireSoon(() => drafts(page), 0)
})

visit('reloads a form for something new, finds it as it was, and discards it', editor, async (page) => {
  page.on('dialog', (dialog) => dialog.accept())
  await page.goto('/contacts/new?accountId=A1')
  await page.getByLabel('Last name').fill('Hopper')
  await page.reload()
  await restored(page).waitFor()
  await requireSoon(() => page.getByLabel('Last name').inputValue(), 'Hopper')
  await button(page, 'Discard it').click()
  await requireSoon(() => page.getByLabel('Last name').inputValue(), '')
  await requireSoon(() => restored(page).count(), 0)
  await requireSoon(() => drafts(page), 0)
  await page.reload()
  await heading(page, 'New contact').waitFor()
  await requireSoon(() => restored(page).count(), 0)
})

visit('leaves a form without saving, and it is blank the next time', editor, async (page) => {
  await page.goto('/contacts/new')
  await page.getByLabel('Last name').fill('Hopper')
  await page.getByRole('link', { name: 'Cancel' }).click()
  await button(page, 'Leave').click()
  await heading(page, 'Contacts').waitFor()
  await page.getByRole('link', { name: 'New contact' }).first().click()
  await heading(page, 'New contact').waitFor()
  await requireSoon(() => page.getByLabel('Last name').inputValue(), '')
})

visit('comes back to a draft of what a colleague has changed meanwhile, and chooses', editor, async (page) => {
  page.on('dialog', (dialog) => dialog.accept())
  const id = await newContact()
  await page.goto(`/contacts/${id}/edit`)
  await page.getByLabel('Title').fill('Programmer')
  await service.call('PATCH', `/contacts/${id}`, {
    token,
    body: { accountId: 'A1', title: 'Rear admiral', phone: '2' },
  })
  await page.reload()
  await page.getByText('Meanwhile somebody changed the contact').waitFor()
  await requireSoon(() => page.getByLabel('Title').inputValue(), 'Programmer')
  await button(page, 'Save').click()
  await heading(page, 'Ada Lovelace was changed by somebody else').waitFor()
  await page.getByRole('group', { name: 'Title', exact: true }).getByLabel('Yours').check()
  await button(page, 'Save what is chosen').click()
  await page.getByRole('status').getByText('Ada Lovelace was saved.').waitFor()
  const { title, phone } = await stored(id)
  assert.deepEqual([title, phone], ['Programmer', '2'])
})

visit('invites a colleague, reloads on the way, and goes on', admin, async (page) => {
  await page.goto('/admin/members')
  await button(page, 'Invite a colleague').click()
  await page.getByLabel('E-mail address').fill('katherine@herald.example')
  await page.reload()
  await button(page, 'Invite a colleague').click()
  await restored(page).waitFor()
  await requireSoon(() => page.getByLabel('E-mail address').inputValue(), 'katherine@herald.example')
  await button(page, 'Cancel').click()
  await requireSoon(() => drafts(page), 0)
})

visit('types passwords, which are kept nowhere', admin, async (page) => {
  await page.goto('/settings/password')
  await page.getByLabel('Current password').fill('my old password')
  await page.getByLabel('New password', { exact: true }).fill('my new password')
  const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
  assert.doesNotMatch(String(kept), /my (old|new) password/)
})
