import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { sampleAccount, sampleContact } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireSoon, signIn } from '../visitor.ts'

const { service, newPerson, newVisitor, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const token = await tenant.serviceToken()
const editor = await newPerson('Grace Hopper', [tenant, 'editor'])
const colleague = await newPerson('Mary Somerville', [tenant, 'admin'])
await tenant.add('accounts', [
  sampleAccount('A1', { company: 'Harbour Books' }),
  sampleAccount('A2', { company: 'Valley Library' }),
])

const newContact = async (): Promise<string> => {
  const [contact] = await tenant.add('contacts', [sampleContact('A1', { title: 'Countess', phone: '1', email: 'a@b' })])
  return String(contact?.id)
}
const stored = async (id: string) => (await service.call('GET', `/contacts/${id}`, { token })).body
const openForm = async (page: Page, id: string) => {
  await page.goto(`/contacts/${id}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await heading(page, 'Edit Ada Lovelace').waitFor()
}
/** Somebody else, in a browser of their own. */
const asColleague = async (id: string, act: (page: Page) => Promise<void>) => {
  const { context, page } = await newVisitor()
  await page.goto(`/contacts/${id}`)
  await signIn(page, colleague)
  await heading(page, 'Ada Lovelace').waitFor()
  await act(page)
  await context.close()
}
const sentUpdates = (page: Page): unknown[] => {
  const sent: unknown[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') sent.push(request.postDataJSON())
  })
  return sent
}
const conflict = (page: Page) => heading(page, 'Ada Lovelace was changed by somebody else')
const choice = (page: Page, field: string) => page.getByRole('group', { name: field, exact: true })

visit('changes a few fields, and only those are sent', editor, async (page) => {
  const id = await newContact()
  const sent = sentUpdates(page)
  await openForm(page, id)
  await requireNoHindrance(page)
  await page.getByLabel('Title').fill('')
  await page.getByLabel('Second phone').fill('+49 221 1234')
  await page.getByLabel('Do not e-mail').check()
  await button(page, 'Save').click()
  await page.getByRole('status').getByText('Ada Lovelace was saved.').waitFor()
  await heading(page, 'Ada Lovelace').waitFor()
  await page.getByRole('region', { name: 'Details' }).getByText('+49 221 1234').waitFor()
  assert.deepEqual(sent, [{ accountId: 'A1', title: null, phone2: '+49 221 1234', doNotEmail: true }])
  const { title, phone2, doNotEmail, subsOnly, hideContact } = await stored(id)
  assert.deepEqual([title, phone2, doNotEmail, subsOnly, hideContact], [null, '+49 221 1234', true, false, null])
})

visit('moves a contact to another account', editor, async (page) => {
  const id = await newContact()
  await openForm(page, id)
  await page.getByRole('combobox', { name: 'Account' }).fill('valley')
  await page.getByRole('option', { name: 'Valley Library' }).click()
  await button(page, 'Save').click()
  await page.getByRole('link', { name: 'Valley Library' }).first().waitFor()
  assert.equal((await stored(id)).accountId, 'A2')
})

visit('saves nothing when nothing was changed', editor, async (page) => {
  const id = await newContact()
  const sent = sentUpdates(page)
  const before = await stored(id)
  await openForm(page, id)
  await page.getByLabel('Title').fill('Duchess')
  await page.getByLabel('Title').fill('Countess')
  await button(page, 'Save').click()
  await heading(page, 'Ada Lovelace').waitFor()
  assert.deepEqual(sent, [])
  assert.deepEqual(await stored(id), before)
})

visit('sees both versions, chooses field by field, and overwrites nobody', editor, async (page) => {
  const id = await newContact()
  await openForm(page, id)
  await page.getByLabel('E-mail', { exact: true }).fill('mine@example.com')
  await page.getByLabel('Phone', { exact: true }).fill('2')
  await asColleague(id, async (other) => {
    await other.getByRole('link', { name: 'Edit' }).click()
    await other.getByLabel('E-mail', { exact: true }).fill('theirs@example.com')
    await other.getByLabel('Title').fill('Duchess')
    await button(other, 'Save').click()
    await other.getByText('was saved.').waitFor()
  })
  const sent = sentUpdates(page)
  await button(page, 'Save').click()
  await conflict(page).waitFor()
  assert.equal((await stored(id)).email, 'theirs@example.com')
  const shown = async (field: string) => (await choice(page, field).innerText()).split('\n').filter(Boolean)
  const texts = ['E-mail', 'It was', 'a@b', 'Yours', 'mine@example.com', 'Theirs', 'theirs@example.com']
  await requireSoon(() => shown('E-mail'), texts)
  await requireSoon(() => page.getByRole('group').count(), 3)
  // What only one of the two changed is chosen already.
  await requireSoon(() => choice(page, 'Phone').getByLabel('Yours').isChecked(), true)
  await requireSoon(() => choice(page, 'Title').getByLabel('Theirs').isChecked(), true)
  await requireNoHindrance(page)
  await button(page, 'Save what is chosen').click()
  await choice(page, 'E-mail').getByText('You both changed it: choose one.').waitFor()
  await choice(page, 'E-mail').getByLabel('Theirs').check()
  await button(page, 'Save what is chosen').click()
  await page.getByRole('status').getByText('Ada Lovelace was saved.').waitFor()
  const { email, phone, title } = await stored(id)
  assert.deepEqual([email, phone, title], ['theirs@example.com', '2', 'Duchess'])
  assert.deepEqual(sent.at(-1), { accountId: 'A1', phone: '2' })
})

visit('meets a third version while choosing, and is asked again', editor, async (page) => {
  const id = await newContact()
  const change = (body: object) =>
    service.call('PATCH', `/contacts/${id}`, { token, body: { accountId: 'A1', ...body } })
  await openForm(page, id)
  await page.getByLabel('Title').fill('Mine')
  await change({ title: 'Theirs' })
  await button(page, 'Save').click()
  await conflict(page).waitFor()
  await change({ title: 'A third' })
  await button(page, 'Take all of mine').click()
  await button(page, 'Save what is chosen').click()
  await choice(page, 'Title').getByText('A third').waitFor()
  assert.equal((await stored(id)).title, 'A third')
  await button(page, 'Take all of theirs').click()
  await button(page, 'Save what is chosen').click()
  await heading(page, 'Ada Lovelace').waitFor()
  assert.equal((await stored(id)).title, 'A third')
})

visit('edits what a colleague deleted meanwhile, and brings it back', editor, async (page) => {
  const id = await newContact()
  await openForm(page, id)
  await page.getByLabel('Title').fill('Duchess')
  await asColleague(id, async (other) => {
    await button(other, 'Delete').click()
    await other.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await other.getByText('was deleted.').waitFor()
  })
  await button(page, 'Save').click()
  await page.getByText('somebody else deleted this contact').waitFor()
  await button(page, 'Restore, and save what is chosen').click()
  await page.getByRole('status').getByText('Ada Lovelace was saved.').waitFor()
  const { title, deletedAt } = await stored(id)
  assert.deepEqual([title, deletedAt], ['Duchess', null])
})

visit('gives up a change to what a colleague deleted, and brings it back all the same', editor, async (page) => {
  const id = await newContact()
  await openForm(page, id)
  await page.getByLabel('Title').fill('Duchess')
  await service.call('DELETE', `/contacts/${id}`, { token })
  await button(page, 'Save').click()
  await page.getByText('somebody else deleted this contact').waitFor()
  await button(page, 'Take all of theirs').click()
  await button(page, 'Restore, and save what is chosen').click()
  await page.getByRole('status').getByText('Ada Lovelace was saved.').waitFor()
  const { title, deletedAt } = await stored(id)
  assert.deepEqual([title, deletedAt], ['Countess', null])
})
