import assert from 'node:assert/strict'
import { sampleAccount, sampleContact } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireRows, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const token = await tenant.serviceToken()
const editor = await newPerson('Grace Hopper', [tenant, 'editor'])
const viewer = await newPerson('Ada Lovelace', [tenant, 'viewer'])
await tenant.add('accounts', [sampleAccount('A1', { company: 'Harbour Books' })])

const newContact = async (name: string, more = {}): Promise<string> => {
  const [contact] = await tenant.add('contacts', [sampleContact('A1', { name, ...more })])
  return String(contact?.id)
}
const isDeleted = async (id: string): Promise<boolean> =>
  (await service.call('GET', `/contacts/${id}`, { token })).body.deletedAt !== null

visit('is asked, thinks better of it, deletes after all, and takes it back', editor, async (page) => {
  const id = await newContact('Zoë Dupré')
  await page.goto(`/contacts/${id}`)
  await heading(page, 'Zoë Dupré').waitFor()
  await requireNoHindrance(page)
  const question = page.getByRole('dialog', { name: 'Delete Zoë Dupré?' })
  await button(page, 'Delete').click()
  await requireNoHindrance(page)
  await question.getByRole('button', { name: 'Keep' }).click()
  await question.waitFor({ state: 'hidden' })
  assert.equal(await isDeleted(id), false)
  await button(page, 'Delete').click()
  await question.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('status').getByText('Zoë Dupré was deleted.').waitFor()
  await page.locator('.page-head').getByText('Deleted', { exact: true }).waitFor()
  assert.equal(await isDeleted(id), true)
  await requireSoon(() => page.getByRole('link', { name: 'Edit' }).count(), 0)
  await requireNoHindrance(page)
  await page.goto('/contacts')
  await page.getByRole('heading', { name: 'There are no contacts yet' }).waitFor()
  await page.goto(`/contacts/${id}/edit`)
  await page.getByRole('heading', { name: 'Zoë Dupré is deleted' }).waitFor()
  await page.getByRole('link', { name: 'Restore it first' }).click()
  await button(page, 'Restore').click()
  await page.getByRole('status').getByText('Zoë Dupré was restored.').waitFor()
  await page.getByRole('link', { name: 'Edit' }).waitFor()
  assert.equal(await isDeleted(id), false)
  await page.getByRole('link', { name: 'Contacts' }).first().click()
  await requireRows(page, ['Zoë Dupré'])
})

visit('looks again at what changed meanwhile, before it is deleted', editor, async (page) => {
  const id = await newContact('Carla Old')
  await page.goto(`/contacts/${id}`)
  await button(page, 'Delete').click()
  await service.call('PATCH', `/contacts/${id}`, { token, body: { accountId: 'A1', name: 'Carla New' } })
  const deletes = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
  await deletes.click()
  await page.getByRole('dialog').getByText('Somebody else has changed this contact').waitFor()
  await page.getByRole('dialog', { name: 'Delete Carla New?' }).waitFor()
  assert.equal(await isDeleted(id), false)
  await deletes.click()
  await page.getByText('Carla New was deleted.').waitFor()
  assert.equal(await isDeleted(id), true)
})

visit('takes a deletion back at once', editor, async (page) => {
  const id = await newContact('Undine Undo')
  await page.goto(`/contacts/${id}`)
  await button(page, 'Delete').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await button(page, 'Restore').click()
  await page.getByRole('status').getByText('Undine Undo was restored.').waitFor()
  await page.getByRole('link', { name: 'Edit' }).waitFor()
  await requireSoon(() => page.getByRole('dialog').count(), 0)
  assert.equal(await isDeleted(id), false)
})

visit('may only look, and sees no buttons', viewer, async (page) => {
  const live = await newContact('Lena Live')
  const gone = await newContact('Gregor Gone', { deletedAt: '2026-03-04T05:06:07.891Z' })
  for (const [id, name] of [
    [live, 'Lena Live'],
    [gone, 'Gregor Gone'],
  ] as const) {
    await page.goto(`/contacts/${id}`)
    await heading(page, name).waitFor()
    await requireSoon(() => page.locator('.page-head').locator('button, .button').count(), 0)
  }
})
