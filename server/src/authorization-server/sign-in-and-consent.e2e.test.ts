import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, describe, test } from 'node:test'
import { basePath, type Role, type Scope, scopePrefix, scopes as scopeWords } from '@masthead/contract'
import * as client from 'openid-client'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { accessibilityFaults } from '../../test/browsers/accessibility.ts'
import { startBrowser } from '../../test/browsers/browser.ts'
import { newUser } from '../../test/browsers/oauth-browser.ts'
import { samplePublication } from '../../test/records/sample-records.ts'
import { freeAddress, startService } from '../../test/service.ts'
import { operator } from '../audit/author.ts'
import { type NewApplication, registerApplication, setApplicationDisabled } from '../identity/people/applications.ts'
import { allScopes } from '../identity/people/roles.ts'
import type { Tenant } from '../identity/people/tenants.ts'

/** What a person can do between an application's request and its response, in a real browser. */

// Another site than the application's, so that cookies and policies meet what they meet in life.
const baseUrl = await freeAddress('localhost')
const service = await startService({ baseUrl })
const { query } = service.database
const browser = await startBrowser()
const password = 'correct horse battery'

const applicationPage = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html').end('<!doctype html><title>Back</title><h1>Back</h1>')
}).listen(0, '127.0.0.1')
await once(applicationPage, 'listening')
after(() => applicationPage.close())
const address = applicationPage.address()
const callback = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/callback`

const newTenant = async (name: string, publication: string) => {
  const tenant = await service.newTenant(name)
  await tenant.add('publications', [samplePublication(publication)])
  return tenant
}
const herald = await newTenant('Herald Press', 'HERALD')
const gazette = await newTenant('Gazette & Sons', 'GAZETTE')

/** With a role in each of these tenants. */
const newPerson = async (name: string, roles: readonly [Tenant, Role][]) => {
  const email = `${name.toLowerCase().replace(' ', '.')}@example.com`
  await newUser(service.database, { name, email, password }, roles)
  return email
}
const ada = await newPerson('Ada Lovelace', [
  [herald, 'admin'],
  [gazette, 'viewer'],
])
const grace = await newPerson('Grace Hopper', [[gazette, 'editor']])

const newApplication = (given: Partial<NewApplication> = {}) =>
  registerApplication(query, operator, {
    name: 'Ledger Sync',
    redirectUris: [callback],
    scopes: allScopes,
    isNative: false,
    mayRefresh: false,
    ...given,
  })
const ledgerSync = await newApplication()

/** What an application does: it asks, and exchanges what comes back. */
const newRequest = async (
  clientId: string,
  scopes: readonly Scope[] = ['publications:read'],
  redirectUri = callback,
) => {
  const configuration = await client.discovery(new URL(baseUrl), clientId, undefined, client.None(), {
    execute: [client.allowInsecureRequests],
  })
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: ['openid', ...scopes.map((scope) => scopePrefix + scope)].join(' '),
    resource: baseUrl + basePath,
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  return {
    url: url.href,
    state: expectedState,
    exchange: async (landed: string): Promise<string> => {
      const checks = { pkceCodeVerifier, expectedState, idTokenExpected: true }
      return (await client.authorizationCodeGrant(configuration, new URL(landed), checks)).access_token
    },
  }
}

const publicationsSeenBy = async (token: string): Promise<string[]> => {
  const { status, body, text } = await service.call('GET', '/publications', { token })
  assert.equal(status, 200, text)
  return body.items.map(({ code }: { code: string }) => code)
}

/**
 * Chromium reports on its console what a policy refused. That a page has a 4xx status is not a fault of it, nor that somebody types before the
 * page has put the focus where it would have gone.
 */
const harmless =
  /^Failed to load resource: the server responded with a status of 4\d\d |^Autofocus processing was blocked/
const newPage = async (options: BrowserContextOptions = {}) => {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(50_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('requestfailed', (request) => complaints.push(`${request.url()} ${request.failure()?.errorText}`))
  page.on('console', (message) => {
    if (!harmless.test(message.text())) complaints.push(message.text())
  })
  return { context, page, complaints }
}

/** A test in a browser of its own, in which nothing may be complained of. */
const person = (does: string, steps: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) =>
  test(does, async () => {
    const { context, page, complaints } = await newPage(options)
    try {
      await steps(page)
      assert.deepEqual(complaints, [])
    } finally {
      await context.close()
    }
  })

const heading = (page: Page, name: string): Locator => page.getByRole('heading', { level: 1, name, exact: true })
const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true })
const asked = 'Allow access to your Masthead data?'
const notYou = 'Not you? Sign in as someone else'

const signIn = async (page: Page, email: string, givenPassword = password): Promise<void> => {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(givenPassword)
  await button(page, 'Sign in').click()
}

/** The address at which the application got its response. */
const landing = async (page: Page): Promise<string> => {
  await page.waitForURL((url) => url.href.startsWith(callback))
  await heading(page, 'Back').waitFor()
  return page.url()
}

const requireDenied = (landed: string, state: string): void => {
  const answer = Object.fromEntries(new URL(landed).searchParams)
  assert.equal(answer.error, 'access_denied')
  assert.equal(answer.state, state)
  assert.equal(answer.code, undefined)
}

describe('signing in', () => {
  person('a wrong password is announced, the e-mail address stays, and the right one goes on', async (page) => {
    await page.goto((await newRequest(ledgerSync.clientId)).url)
    await heading(page, 'Sign in').waitFor()
    assert.match(await page.locator('main').innerText(), /to continue to Ledger Sync/)
    await signIn(page, ada, 'wrong horse battery')
    const alert = page.getByRole('alert')
    assert.equal(await alert.innerText(), 'The e-mail address or the password is not right.')
    assert.match(await page.title(), /there is a problem/)
    const email = page.getByLabel('E-mail address')
    assert.equal(await email.inputValue(), ada)
    assert.equal(await email.getAttribute('aria-describedby'), await alert.getAttribute('id'))
    assert.equal(await page.getByLabel('Password').inputValue(), '')
    assert.equal(await page.locator(':focus').getAttribute('name'), 'password')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await heading(page, asked).waitFor()
  })

  person('an unknown e-mail address reads the same as a wrong password', async (page) => {
    await page.goto((await newRequest(ledgerSync.clientId)).url)
    await signIn(page, 'nobody@example.com')
    assert.equal(await page.getByRole('alert').innerText(), 'The e-mail address or the password is not right.')
  })

  person('cancelling tells the application that access was denied', async (page) => {
    const request = await newRequest(ledgerSync.clientId)
    await page.goto(request.url)
    await button(page, 'Cancel').click()
    requireDenied(await landing(page), request.state)
  })

  person('a user who is signed in is asked for consent again, but not for a password', async (page) => {
    await page.goto((await newRequest(ledgerSync.clientId)).url)
    await signIn(page, grace)
    await button(page, 'Allow').click()
    await landing(page)
    await page.goto((await newRequest(ledgerSync.clientId)).url)
    await heading(page, asked).waitFor()
  })

  person('someone else signs in by "Not you?", and it is them for whom the application acts', async (page) => {
    const request = await newRequest(ledgerSync.clientId)
    await page.goto(request.url)
    await signIn(page, ada)
    await page.getByText('Ada Lovelace').waitFor()
    await button(page, notYou).click()
    await heading(page, 'Sign in').waitFor()
    assert.equal(await page.getByLabel('E-mail address').inputValue(), '')
    await signIn(page, grace)
    await page.getByText(`Grace Hopper <${grace}>`).waitFor()
    assert.equal(await page.getByText('Ada Lovelace').count(), 0)
    await button(page, 'Allow').click()
    assert.deepEqual(await publicationsSeenBy(await request.exchange(await landing(page))), ['GAZETTE'])
  })
})

describe('giving access', () => {
  for (const [tenant, code] of [
    [herald, 'HERALD'],
    [gazette, 'GAZETTE'],
  ] as const) {
    person(`of two organisations ${tenant.name} is chosen, and the application sees its data`, async (page) => {
      const request = await newRequest(ledgerSync.clientId)
      await page.goto(request.url)
      await signIn(page, ada)
      const choice = page.getByRole('group', { name: 'In which organisation?' })
      assert.equal(await choice.getByRole('radio').count(), 2)
      assert.equal(await choice.getByRole('radio', { checked: true }).count(), 0)
      await choice.getByLabel(tenant.name).check()
      await button(page, 'Allow').click()
      const landed = await landing(page)
      assert.equal(new URL(landed).searchParams.get('state'), request.state)
      assert.deepEqual(await publicationsSeenBy(await request.exchange(landed)), [code])
    })
  }

  person('nothing is allowed before an organisation is chosen', async (page) => {
    await page.goto((await newRequest(ledgerSync.clientId)).url)
    await signIn(page, ada)
    await button(page, 'Allow').click()
    assert.equal(await page.locator('input:invalid').count(), 2)
    assert.ok(page.url().startsWith(`${baseUrl}/oauth2/interaction/`), page.url())
  })

  person('each scope stands there in plain words, and what the own role does not include', async (page) => {
    await page.goto((await newRequest(ledgerSync.clientId, allScopes)).url)
    await signIn(page, ada)
    await page.getByText('Ledger Sync').waitFor()
    await page.getByText(new URL(callback).host).waitFor()
    assert.deepEqual(await page.locator('ul.scopes').getByRole('listitem').allInnerTexts(), Object.values(scopeWords))
    const note = page.locator(`#${await page.getByLabel(gazette.name).getAttribute('aria-describedby')}`)
    assert.deepEqual(await note.getByRole('listitem').allInnerTexts(), [
      'Create, change, delete and restore contacts',
      'Create and correct accounts',
      'Create tasks for accounts, change them and mark them as done',
    ])
    assert.equal(await page.getByLabel(herald.name).getAttribute('aria-describedby'), null)
  })

  person('denying tells the application so, whether or not an organisation was chosen', async (page) => {
    for (const chosen of [false, true]) {
      const request = await newRequest(ledgerSync.clientId)
      await page.goto(request.url)
      if (!chosen) await signIn(page, ada)
      else await page.getByLabel(herald.name).check()
      await button(page, 'Deny').click()
      requireDenied(await landing(page), request.state)
    }
  })

  person('a member of one organisation sees it and chooses nothing', async (page) => {
    const request = await newRequest(ledgerSync.clientId)
    await page.goto(request.url)
    await signIn(page, grace)
    await page.getByText(gazette.name).waitFor()
    assert.equal(await page.getByRole('radio').count(), 0)
    await button(page, 'Allow').click()
    assert.deepEqual(await publicationsSeenBy(await request.exchange(await landing(page))), ['GAZETTE'])
  })

  person('an application of one organisation offers that one only', async (page) => {
    const { clientId } = await newApplication({ name: 'Gazette Reports', tenantId: gazette.id })
    const request = await newRequest(clientId)
    await page.goto(request.url)
    await signIn(page, ada)
    await page.getByText(gazette.name).waitFor()
    assert.equal(await page.getByText(herald.name).count(), 0)
    assert.equal(await page.getByRole('radio').count(), 0)
    await button(page, 'Allow').click()
    assert.deepEqual(await publicationsSeenBy(await request.exchange(await landing(page))), ['GAZETTE'])
  })

  person('a member of no organisation that it may use can only deny', async (page) => {
    const { clientId } = await newApplication({ name: 'Herald Reports', tenantId: herald.id })
    const request = await newRequest(clientId)
    await page.goto(request.url)
    await signIn(page, grace)
    await heading(page, 'You have no access to give').waitFor()
    assert.equal(await button(page, 'Allow').count(), 0)
    await button(page, 'Deny').click()
    requireDenied(await landing(page), request.state)
  })

  person('a forged choice of a foreign organisation gives nothing', async (page) => {
    await page.goto((await newRequest(ledgerSync.clientId)).url)
    await signIn(page, grace)
    await heading(page, asked).waitFor()
    await page.evaluate(`document.querySelector('input[name=tenant]').value = '${herald.id}'`)
    await Promise.all([page.waitForEvent('framenavigated'), button(page, 'Allow').click()])
    await heading(page, asked).waitFor()
    assert.ok(page.url().startsWith(`${baseUrl}/oauth2/interaction/`), page.url())
  })
})

describe('in every way of using a browser', () => {
  const signInChooseAndAllow = async (page: Page) => {
    const request = await newRequest(ledgerSync.clientId)
    await page.goto(request.url)
    await signIn(page, ada, 'wrong horse battery')
    await page.getByRole('alert').waitFor()
    await signIn(page, ada)
    await page.getByLabel(gazette.name).check()
    await button(page, 'Allow').click()
    assert.deepEqual(await publicationsSeenBy(await request.exchange(await landing(page))), ['GAZETTE'])
  }
  person('without JavaScript', signInChooseAndAllow, { javaScriptEnabled: false })
  person(
    'on a narrow screen, where nothing has to be scrolled sideways',
    async (page) => {
      const width = 'document.documentElement.scrollWidth'
      await page.goto((await newRequest(ledgerSync.clientId, allScopes)).url)
      assert.equal(await page.evaluate(width), 320)
      await signIn(page, ada)
      await heading(page, asked).waitFor()
      assert.equal(await page.evaluate(width), 320)
    },
    { viewport: { width: 320, height: 640 } },
  )

  person('by keyboard alone', async (page) => {
    const request = await newRequest(ledgerSync.clientId)
    await page.goto(request.url)
    await heading(page, 'Sign in').waitFor()
    await page.keyboard.type(ada)
    await page.keyboard.press('Tab')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await heading(page, asked).waitFor()
    // A key pressed by habit allows nothing.
    await page.keyboard.press('Enter')
    for (const wanted of [notYou, gazette.name, 'Allow']) {
      await page.keyboard.press('Tab')
      const focused: { text: string; outline: string } = await page.evaluate(`({
        text: document.activeElement.closest('label, button')?.textContent,
        outline: getComputedStyle(document.activeElement).outlineStyle,
      })`)
      assert.ok(focused.text?.includes(wanted), `${focused.text} is where ${wanted} should be`)
      assert.equal(focused.outline, 'solid')
      if (wanted === gazette.name) await page.keyboard.press('ArrowDown')
    }
    await page.keyboard.press('Enter')
    assert.deepEqual(await publicationsSeenBy(await request.exchange(await landing(page))), ['HERALD'])
  })
})

describe('when something is wrong', () => {
  const requireError = async (page: Page, says: RegExp): Promise<void> => {
    await page.getByRole('heading', { level: 1 }).waitFor()
    assert.match(await page.locator('main').innerText(), says)
    assert.equal(await page.getByRole('textbox').count(), 0)
    assert.equal(new URL(page.url()).origin, baseUrl)
  }

  person('a redirect URI that is not registered is not followed', async (page) => {
    const answer = await page.goto((await newRequest(ledgerSync.clientId, [], `${callback}/other`)).url)
    assert.equal(answer?.status(), 400)
    await requireError(page, /has shared nothing.*\n.*redirect_uri did not match/s)
  })

  person('a disabled application gets nobody to sign in', async (page) => {
    const { clientId } = await newApplication({ name: 'Retired' })
    await setApplicationDisabled(query, operator, clientId, true)
    const answer = await page.goto((await newRequest(clientId)).url)
    assert.equal(answer?.status(), 400)
    await requireError(page, /has shared nothing.*\n.*client is invalid/s)
  })

  person('an application that is disabled meanwhile gets no access', async (page) => {
    const { clientId } = await newApplication({ name: 'Retiring' })
    await page.goto((await newRequest(clientId)).url)
    await signIn(page, grace)
    await heading(page, asked).waitFor()
    await setApplicationDisabled(query, operator, clientId, true)
    await button(page, 'Allow').click()
    await heading(page, 'This did not work').waitFor()
    await requireError(page, /not registered, or disabled/)
  })

  person('a page that was left open for too long says where to start again', async (page) => {
    await page.goto((await newRequest(ledgerSync.clientId)).url)
    await service.owner.query(`update authorization_state set expires_at = now() where model = 'Interaction'`)
    await signIn(page, ada)
    await heading(page, 'This did not work').waitFor()
    await requireError(page, /This page has expired.*Go back to the application and start again\./)
  })

  person('the back button after the response does not give access twice', async (page) => {
    await page.goto((await newRequest(ledgerSync.clientId)).url)
    await signIn(page, grace)
    await button(page, 'Allow').click()
    await landing(page)
    await page.goBack()
    await requireError(page, /expired/)
  })

  test('what the policy of a page forbids is refused, and seen by these tests', async () => {
    const { context, page, complaints } = await newPage()
    await page.goto((await newRequest(ledgerSync.clientId)).url)
    for (const [directive, attempt] of Object.entries({
      'form-action': `Object.assign(document.forms[0], { action: 'http://127.0.0.2:9/' }).submit()`,
      'default-src': `document.body.append(Object.assign(document.createElement('img'), { src: '/x' }))`,
    })) {
      const refusal = page.waitForEvent('console', (message) => message.text().includes(directive))
      await page.evaluate(attempt)
      await refusal
    }
    assert.ok(complaints.length >= 2, complaints.join())
    await context.close()
  })
})

describe('for people who see, hear or move otherwise', () => {
  person('no page hinders them, in light and in dark', async (page) => {
    const found: Record<string, string[]> = {}
    await page.goto((await newRequest(ledgerSync.clientId, allScopes)).url)
    found['sign-in'] = await accessibilityFaults(page)
    await signIn(page, ada, 'wrong horse battery')
    await page.getByRole('alert').waitFor()
    found['sign-in after a problem'] = await accessibilityFaults(page)
    await signIn(page, ada)
    await heading(page, asked).waitFor()
    found['consent with a choice'] = await accessibilityFaults(page)
    await button(page, notYou).click()
    await signIn(page, grace)
    await heading(page, asked).waitFor()
    found['consent without a choice'] = await accessibilityFaults(page)
    await page.goto((await newRequest('nobody')).url)
    await heading(page, 'This did not work').waitFor()
    found.error = await accessibilityFaults(page)
    await page.goto(`${baseUrl}/oauth2/logout`)
    await heading(page, 'Sign out of Masthead?').waitFor()
    found['sign-out'] = await accessibilityFaults(page)
    await button(page, 'Sign out').click()
    await heading(page, 'You are signed out').waitFor()
    found['signed out'] = await accessibilityFaults(page)
    assert.deepEqual(
      Object.entries(found).filter(([, faults]) => faults.length > 0),
      [],
    )
  })
})
