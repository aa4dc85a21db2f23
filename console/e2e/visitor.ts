import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Role } from '@masthead/contract'
import { type BrowserContext, type BrowserContextOptions, type Locator, type Page, request } from 'playwright-core'
import type { Tenant } from '../../server/src/identity/people/tenants.ts'
import { accessibilityFaults } from '../../server/test/browsers/accessibility.ts'
import { startBrowser } from '../../server/test/browsers/browser.ts'
import { ConsoleBrowser } from '../../server/test/browsers/console-session.ts'
import { actionOf, newUser } from '../../server/test/browsers/oauth-browser.ts'
import { freeAddress, startService } from '../../server/test/service.ts'

/** Whatever is waited for comes, but a machine may be busy. */
const timeoutMilliseconds = 50_000

export type Person = { name: string; email: string; password: string }

/** The service with the console, and a browser: one for all test files of a process, at the top level of each. */
export const openConsole = () => {
  opened ??= open()
  return opened
}

const open = async () => {
  const baseUrl = await freeAddress('localhost')
  const [service, browser] = await Promise.all([startService({ baseUrl }), startBrowser()])

  /** Somebody with a role in each of these tenants. */
  const newPerson = async (name: string, ...memberships: readonly [Tenant, Role][]): Promise<Person> => {
    const person = { name, email: `${randomUUID()}@example.com`, password: 'correct horse battery' }
    await newUser(service.database, person, memberships)
    return person
  }

  const newContext = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      baseURL: baseUrl,
      locale: 'en-GB',
      reducedMotion: 'reduce',
      ...options,
    })
    context.setDefaultTimeout(timeoutMilliseconds)
    return context
  }

  /** Chromium tells on its console what the policy of a page refused; an answer of the API that says no is no fault, nor is a
   * connection that a test breaks, or the machine that gets another address: the console asks again. */
  const newPage = async (context: BrowserContext) => {
    const page = await context.newPage()
    const goto = page.goto.bind(page)
    // The console may leave its first page at once for its right address, which must not count as a failure to open it. It
    // draws nothing before it knows who is signed in.
    page.goto = async (url, options) => {
      if (url.startsWith('/docs')) return goto(url, options)
      const response = await goto(url, { waitUntil: 'commit', ...options })
      await page.locator('#console > *, main, h1').first().waitFor({ state: 'attached' })
      return response
    }
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'info') return
      if (!isHarmless.test(message.text())) complaints.push(message.text())
    })
    return { page, complaints }
  }

  /** Somebody beside the person of a test, with a browser of their own. */
  const newVisitor = async () => {
    const context = await newContext()
    return { context, ...(await newPage(context)) }
  }

  /**
   * One context for all tests with the same options. Its first page stays open, so that the process of the browser that shows
   * the pages stays too, with the console already compiled: a new one for each test takes half as much processor time again.
   */
  const contexts = new Map<string, Promise<{ context: BrowserContext; firstPage: Page }>>()
  const openContext = async (options: BrowserContextOptions) => {
    const context = await newContext(options)
    const firstPage = await context.newPage()
    await firstPage.goto('/healthz')
    return { context, firstPage }
  }
  const contextWith = (options: BrowserContextOptions) => {
    const key = JSON.stringify(options)
    const context = contexts.get(key) ?? openContext(options)
    contexts.set(key, context)
    return context
  }

  /** The cookies of who signed in, once for all tests and without a page: one test looks at how it is done. */
  const signedIn = new Map<Person, Promise<Cookies>>()
  const cookiesOf = async ({ email, password }: Person): Promise<Cookies> => {
    const session = await request.newContext({ baseURL: baseUrl })
    const asked = await session.get(new ConsoleBrowser(baseUrl, baseUrl).addressOf().address)
    const form = actionOf({ page: await asked.text() }, 'sign-in') ?? assert.fail('no password is asked for')
    const headers = { 'sec-fetch-site': 'same-origin' }
    const answered = await session.post(form, { form: { email, password }, headers })
    assert.match(answered.url(), /\/signed-in\?code=/)
    const { cookies } = await session.storageState()
    await session.dispose()
    return cookies
  }

  /**
   * A test in a browser in which nothing is left of the tests before, and nothing may be complained of; of somebody who is
   * signed in, or nobody.
   */
  const visit = (
    does: string,
    person: Person | null,
    steps: (page: Page) => Promise<void>,
    options: BrowserContextOptions = {},
  ) =>
    test(does, async () => {
      const { context, firstPage } = await contextWith(options)
      const { page, complaints } = await newPage(context)
      try {
        if (person) {
          const cookies = signedIn.get(person) ?? cookiesOf(person)
          signedIn.set(person, cookies)
          await context.addCookies(await cookies)
        }
        await steps(page)
        assert.deepEqual(complaints, [])
      } finally {
        await Promise.all([context.setOffline(false), context.unrouteAll({ behavior: 'ignoreErrors' })])
        await Promise.all(context.pages().map((opened) => opened !== firstPage && opened.close()))
        await context.clearCookies()
        await firstPage.evaluate('localStorage.clear()')
      }
    })

  return { baseUrl, service, newPerson, newVisitor, visit }
}

let opened: ReturnType<typeof open> | undefined

const isHarmless =
  /^Failed to load resource: (the server responded with a status of (4\d\d|502) |net::ERR_(CONNECTION_RE(SET|FUSED)|FAILED|INTERNET_DISCONNECTED|NETWORK_CHANGED)$)/

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>

export const heading = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('heading', { level: 1, name, exact: true })

export const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name, exact: true })

/** Presses a button again and again, faster than anybody can, as long as it is shown. */
export const pressUntilGone = (button: Locator): Promise<void> =>
  button.evaluate((element: { isConnected: boolean; click: () => void }) => {
    const pressing = setInterval(() => (element.isConnected ? element.click() : clearInterval(pressing)))
  })

/** From the page of the console that asks for it, through the page of the service that does it, and back. */
export const signIn = async (page: Page, { email, password }: Person): Promise<void> => {
  await button(page, 'Sign in').click()
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(password)
  await button(page, 'Sign in').click()
  await page.getByText(email).first().waitFor({ state: 'attached' })
}

/** The page as it stands hinders nobody. */
export const requireNoHindrance = async (page: Page): Promise<void> =>
  assert.deepEqual(await accessibilityFaults(page), [], page.url())

/** The names of the records in the table of a page, from top to bottom. */
export const rows = (page: Page): Promise<string[]> => page.locator('tbody .title-link').allInnerTexts()

/** Waits until the table of a page shows these records, in this order. */
export const requireRows = async (page: Page, wanted: readonly string[]): Promise<void> => {
  await page.locator('.records[aria-busy], .empty').first().waitFor()
  await requireSoon(() => rows(page), wanted)
}

/** Waits until a page shows this: it may still be drawing. The policy of the page forbids to wait inside of it. */
export const requireSoon = async <T>(shown: () => Promise<T>, wanted: unknown, message?: string): Promise<void> => {
  const until = Date.now() + timeoutMilliseconds
  let seen = await shown()
  // It looks less often as time passes, because to look takes the time of what it waits for.
  for (let pause = 10; !isDeepStrictEqual(seen, wanted) && Date.now() < until; pause = Math.min(1.5 * pause, 60)) {
    await setTimeout(pause)
    seen = await shown()
  }
  assert.deepEqual(seen, wanted, message)
}
