import assert from 'node:assert/strict'
import { operator } from '../../../server/src/audit/author.ts'
import { findProvenUser } from '../../../server/src/identity/people/users.ts'
import { createToken } from '../../../server/src/identity/tokens/access-tokens.ts'
import { button, heading, openConsole, requireNoHindrance, signIn } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const grace = await newPerson('Grace Hopper', [tenant, 'editor'])
const { query } = service.database
const user = await findProvenUser(query, grace.email)
const tokenNamed = async (name: string) => {
  const given = { tenantId: tenant.id, userId: user?.id ?? '', name, scopes: ['contacts:read' as const] }
  return (await createToken(query, operator, given)).token
}
const [nightly, forgotten] = [await tokenNamed('Nightly report'), await tokenNamed('Forgotten')]
const statusOf = async (token: string) =>
  (await service.call('GET', '/contacts', { token, headers: { 'cache-control': 'no-cache' } })).status

visit(
  'changes the password, mistyped at first, keeps one token, and signs in with the new one',
  grace,
  async (page) => {
    await page.goto('/settings/password')
    await heading(page, 'Password').waitFor()
    await page.getByRole('checkbox', { name: 'Keep “Nightly report”, in Herald Press' }).check()
    await requireNoHindrance(page)
    const fill = async (current: string, next: string, again: string) => {
      await page.getByLabel('Current password').fill(current)
      await page.getByLabel('New password', { exact: true }).fill(next)
      await page.getByLabel('New password, again').fill(again)
      await button(page, 'Change the password').click()
    }
    const password = 'a long walk to the moon'
    await fill(grace.password, password, 'a long walk to the mall')
    await page.getByText('This is not the same as the new password.').waitFor()
    await fill('not my password', password, password)
    await page.getByText('This is not your current password.').waitFor()
    await fill(grace.password, 'short', 'short')
    await page.getByText('This must have at least 8 characters.').waitFor()
    await fill(grace.password, password, password)
    await page.getByText('Your password is changed. Sign in with the new one.').waitFor()
    assert.deepEqual([await statusOf(nightly), await statusOf(forgotten)], [200, 401])
    await signIn(page, { ...grace, password })
    await heading(page, 'Herald Press').waitFor()
  },
)
