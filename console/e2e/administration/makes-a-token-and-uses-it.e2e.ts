import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { sampleAccount, sampleContact } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const [editor, viewer] = [
  await newPerson('Edgar Editor', [tenant, 'editor']),
  await newPerson('Vera Viewer', [tenant, 'viewer']),
]
await tenant.add('accounts', [sampleAccount('A1')])
await tenant.add('contacts', [sampleContact('A1', { name: 'Zoë Dupré' })])

const dialog = (page: Page) => page.getByRole('dialog')
const copied = (page: Page, label: string) =>
  dialog(page).getByRole('figure', { name: label }).locator('pre').innerText()
const row = (page: Page, name: string) => page.getByRole('row', { name })

const fill = async (page: Page, name: string) => {
  await button(page, 'Make a token').click()
  await dialog(page).getByLabel('Name').fill(name)
  await dialog(page).getByLabel('See contacts').check()
  await button(page, 'Make the token').click()
}

visit(
  'makes a token, pastes the call into a shell, sees the use, and revokes the token',
  editor,
  async (page) => {
    await page.goto('/settings/tokens')
    await page.getByRole('heading', { name: 'You have no token that works' }).waitFor()
    await fill(page, 'Nightly report')
    const [token, curl] = [await copied(page, 'Token'), await copied(page, 'Try it')]
    await button(page, 'Copy: Token').click()
    await requireSoon(() => page.evaluate('navigator.clipboard.readText()'), token)
    const run = async () => JSON.parse((await promisify(execFile)('/bin/sh', ['-c', curl])).stdout)
    assert.equal((await run()).items[0].name, 'Zoë Dupré')
    await button(page, 'I have copied it').click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    assert.ok(!(await page.content()).includes(token), 'it is not shown again')
    await page.reload()
    await row(page, 'Nightly report').getByText('this minute').first().waitFor()
    assert.doesNotMatch(await row(page, 'Nightly report').innerText(), /Never/)

    await button(page, 'Revoke Nightly report').click()
    await dialog(page).getByRole('heading', { name: 'Revoke “Nightly report”?' }).waitFor()
    await button(page, 'Cancel').click()
    assert.equal((await run()).items.length, 1)
    await button(page, 'Revoke Nightly report').click()
    await button(page, 'Revoke the token').click()
    await page.getByText('One that has ended').click()
    await row(page, 'Nightly report').getByText('Revoked').waitFor()
    assert.equal((await run()).code, 'invalid_token')
    await requireSoon(() => button(page, 'Revoke Nightly report').count(), 0)
  },
  { permissions: ['clipboard-read', 'clipboard-write'] },
)

visit('is told beside each field what is wrong with it', editor, async (page) => {
  await page.goto('/settings/tokens')
  await button(page, 'Make a token').click()
  await button(page, 'Make the token').click()
  const name = dialog(page).getByLabel('Name')
  await dialog(page).getByText('This must hold at least 1.').waitFor()
  const describing = (await name.getAttribute('aria-describedby'))?.split(' ') ?? []
  const told = await Promise.all(describing.map((id) => page.locator(`[id="${id}"]`).innerText()))
  assert.ok(told.includes('This must not be empty.'), told.join())
  await name.and(page.locator(':focus')).waitFor()
})

visit('chooses when it ends, by the day', editor, async (page) => {
  await page.goto('/settings/tokens')
  await button(page, 'Make a token').click()
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' }).format(Date.now() + 7 * 86_400_000)
  await dialog(page).getByLabel('Ends after').selectOption(`7 days: ${day}`)
  await dialog(page).getByLabel('Name').fill('For a week')
  await dialog(page).getByLabel('See accounts').check()
  await button(page, 'Make the token').click()
  await button(page, 'I have copied it').click()
  await row(page, 'For a week').getByText('in 7 days').waitFor()
})

visit('sees what the role does not allow', viewer, async (page) => {
  await page.goto('/settings/tokens')
  await button(page, 'Make a token').click()
  const write = dialog(page).getByRole('checkbox', { name: /Create and correct accounts/ })
  await requireSoon(() => write.isDisabled(), true)
  assert.match((await write.locator('..').innerText()) ?? '', /Not for a viewer, which is what you are/)
  assert.equal(
    await dialog(page)
      .getByRole('checkbox', { name: /See accounts/ })
      .isDisabled(),
    false,
  )
})

visit('with a token that may only write, learns by the call what the body lacks', editor, async (page) => {
  await page.goto('/settings/tokens')
  await button(page, 'Make a token').click()
  await dialog(page).getByLabel('Name').fill('Task maker')
  await dialog(page).getByLabel('Create tasks').check()
  await button(page, 'Make the token').click()
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', await copied(page, 'Try it')])
  assert.equal(JSON.parse(stdout).code, 'invalid_body')
})

visit('presses the button twice, and has one token', editor, async (page) => {
  let sent = 0
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/tokens')) sent++
  })
  await page.goto('/settings/tokens')
  await button(page, 'Make a token').click()
  await dialog(page).getByLabel('Name').fill('Pressed twice')
  await dialog(page).getByLabel('See contacts').check()
  // Both before the page is drawn anew.
  await page.evaluate(`for (const _ of [1, 2]) document.querySelector('dialog form').requestSubmit()`)
  assert.match(await copied(page, 'Token'), /^mh_pat_/)
  await button(page, 'I have copied it').click()
  await requireSoon(() => row(page, 'Pressed twice').count(), 1)
  assert.equal(sent, 1)
})

visit('loses the connection when the token comes, and is told what to do about it', editor, async (page) => {
  let lost = 0
  await page.route('**/management-api/v1/tokens', async (route) => {
    if (route.request().method() !== 'POST' || lost > 0) return route.continue()
    lost++
    await route.fetch()
    return route.abort('connectionreset')
  })
  await page.goto('/settings/tokens')
  await fill(page, 'Lost on the way')
  await dialog(page).getByRole('alert').getByText('revoke “Lost on the way” in the list, and make another').waitFor()
  assert.equal(lost, 1)
  await button(page, 'Cancel').click()
  await requireSoon(() => row(page, 'Lost on the way').count(), 1)
  await button(page, 'Revoke Lost on the way').click()
  await button(page, 'Revoke the token').click()
  await fill(page, 'Lost on the way')
  assert.match(await copied(page, 'Token'), /^mh_pat_/)
})

visit('goes on by keyboard where the dialog was opened, or at the top when that is gone', editor, async (page) => {
  const focused = (what: string) => page.evaluate(`document.activeElement.${what}`)
  await page.goto('/settings/tokens')
  await heading(page, 'Access tokens').waitFor()
  await button(page, 'Make a token').press('Enter')
  await dialog(page).getByLabel('Name').and(page.locator(':focus')).waitFor()
  await button(page, 'Cancel').press('Enter')
  await page.locator('dialog').waitFor({ state: 'detached' })
  await requireSoon(() => focused('textContent'), 'Make a token')
  await fill(page, 'Short-lived')
  await button(page, 'I have copied it').press('Enter')
  await button(page, 'Revoke Short-lived').press('Enter')
  await button(page, 'Revoke the token').press('Enter')
  await page.locator('dialog').waitFor({ state: 'detached' })
  await requireSoon(() => focused('id'), 'main')
})
