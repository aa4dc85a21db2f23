import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Page } from 'playwright-core'
import { accessibilityFaults } from '../../../server/test/browsers/accessibility.ts'
import { sampleAccount, sampleContact } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, type Person, requireSoon } from '../visitor.ts'

/** Somebody who wants to see how an application gets access, before they build one. */

const { baseUrl, service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const admin = await newPerson('Grace Hopper', [tenant, 'admin'])
const viewer = await newPerson('Ada Lovelace', [tenant, 'viewer'])
await tenant.add('accounts', [sampleAccount('A1')])
await tenant.add('contacts', [sampleContact('A1', { name: 'Zoë Dupré' })])

const guide = '/docs/guides/pkce'
const clientId = (page: Page) => page.getByLabel('Client ID').inputValue()
const codeOf = async (page: Page, name: string): Promise<string> =>
  (await page.getByRole('region', { name, exact: true }).innerText()).trim()
/** The answer in the step of this number. */
const answerOf = async (page: Page, step: number, status: number): Promise<string> =>
  page
    .locator(`#step-${step}`)
    .getByRole('region', { name: `Answer ${status}` })
    .innerText()

/** Consent renews the session of a browser, so nobody shares one here. */
const enter = async (page: Page, { email, password }: Person): Promise<void> => {
  await page.goto(guide)
  await button(page, 'sign in').click()
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(password)
  await button(page, 'Sign in').click()
  await heading(page, 'Acting for a user').waitFor()
}

const registerIt = async (page: Page): Promise<string> => {
  await button(page, 'Register it').click()
  await button(page, 'Registered').waitFor()
  return clientId(page)
}

visit('registers an application, allows it, and goes through every step', null, async (page) => {
  await enter(page, admin)
  const application = await registerIt(page)
  await button(page, 'Make them').click()
  const [, verifier = '', challenge = '', state = ''] =
    /^code_verifier +(\S+)\s+code_challenge +(\S+)\s+state +(\S+)$/.exec(
      await codeOf(page, 'Verifier, challenge and state'),
    ) ?? []
  assert.equal(createHash('sha256').update(verifier).digest('base64url'), challenge)
  assert.match(await codeOf(page, 'Authorization address'), new RegExp(`&code_challenge=${challenge}`))
  assert.deepEqual(await accessibilityFaults(page), [])
  await button(page, 'Go to the consent page').click()
  await page.getByText('Developer portal: PKCE trial').first().waitFor()
  await button(page, 'Allow').click()

  await heading(page, 'Acting for a user').waitFor()
  await page.getByText('The state is the one that was kept.').waitFor()
  await page.waitForURL(({ href }) => href === baseUrl + guide)
  await requireSoon(() => page.evaluate(`Object.keys(sessionStorage).filter((key) => key.startsWith('masthead'))`), [])
  assert.ok((await codeOf(page, 'What came back')).endsWith(`state ${state}`))

  await button(page, 'Exchange the code').click()
  assert.match(await answerOf(page, 5, 200), /"token_type": "Bearer"/)
  assert.ok((await codeOf(page, 'Request: Exchange the code for tokens')).includes(`code_verifier=${verifier}`))
  const claims = await codeOf(page, 'Header and claims of the access token')
  assert.match(claims, /"typ": "at\+jwt"/)
  assert.ok(claims.includes(`"client_id": "${application}"`) && claims.includes(`"tenant": "${tenant.id}"`), claims)

  await button(page, 'Call').click()
  assert.match(await answerOf(page, 7, 200), /"name": "Zoë Dupré"/)
  await button(page, 'Refresh the tokens').click()
  assert.match(await answerOf(page, 8, 200), /"refresh_token": /)
  await button(page, 'Revoke the access').click()
  await answerOf(page, 9, 200)
  await button(page, 'Call once more').click()
  assert.match(await answerOf(page, 10, 401), /"code": "invalid_token"/)
  assert.deepEqual(await accessibilityFaults(page), [])
})

visit('tries again with the same application, and denies it', null, async (page) => {
  await enter(page, admin)
  const before = await registerIt(page)
  await page.reload()
  assert.equal(await registerIt(page), before)
  await button(page, 'Make them').click()
  await button(page, 'Go to the consent page').click()
  await button(page, 'Deny').click()
  await page.getByText('Access was not granted').waitFor()
  await requireSoon(() => button(page, 'Exchange the code').count(), 0)
  await button(page, 'Start again').click()
  await page.getByLabel('Client ID').waitFor()
})

visit('is told whom to ask when they may not register one, and uses the one they were given', null, async (page) => {
  await enter(page, viewer)
  await page.getByText('Registering takes an administrator of Herald Press').waitFor()
  await requireSoon(() => button(page, 'Register it').count(), 0)
  await requireSoon(() => button(page, 'Make them').isDisabled(), true)
  const { body } = await service.call('GET', '//console.json')
  await page.getByLabel('Client ID').fill(body.clientId)
  await button(page, 'Make them').click()
  await button(page, 'Go to the consent page').click()
  // The console's own application may not be sent here: exactly what was registered, or nothing.
  await page.getByRole('heading', { name: 'This did not work' }).waitFor()
})

visit('does not take an answer that was meant for another', null, async (page) => {
  await page.goto(`${guide}?code=stolen&state=other`)
  await page.getByLabel('Client ID').waitFor()
  await requireSoon(() => button(page, 'Exchange the code').count(), 0)
  await page.waitForURL(({ href }) => href === baseUrl + guide)
  const pending = { clientId: 'a', state: 'kept', codeVerifier: 'v', codeChallenge: 'c' }
  await page.evaluate(`sessionStorage.setItem('masthead.pkce-trial', '${JSON.stringify(pending)}')`)
  await page.goto(`${guide}?code=stolen&state=other`)
  await page.getByText('The state is another one: this answer is not for us.').waitFor()
  await requireSoon(() => button(page, 'Exchange the code').count(), 0)
})
