import { fileURLToPath } from 'node:url'
import { type BrowserContextOptions, chromium } from 'playwright-core'
import { launchOptions } from '../../server/test/browsers/browser.ts'
import { startServing, temporaryDataDirectory } from '../../server/test/processes/masthead-process.ts'
import { signIn } from './visitor.ts'

/** Pictures of the main pages for the documentation, on demo data: `npm run screenshots`. */

const desk = { viewport: { width: 1280, height: 800 } }
const phone = { viewport: { width: 390, height: 800 }, isMobile: true }
const pictures: Record<string, { path: string; of: BrowserContextOptions }> = {
  'console-overview': { path: '/', of: desk },
  'console-subscriptions': { path: '/subscriptions?status=active&sort=-totalDue', of: desk },
  'console-account': { path: '/accounts/C-10006', of: { ...desk, colorScheme: 'dark' } },
  'console-phone': { path: '/contacts', of: phone },
  'console-service-tokens': { path: '/admin/service-tokens', of: desk },
  'portal-paging': { path: '/docs/guides/paging', of: desk },
}

const folder = fileURLToPath(new URL('../../docs/images/', import.meta.url))
const { env = {}, ...launch } = await launchOptions()
// With the fonts of the machine: those that come with the browser lack Japanese and fixed widths.
const browser = await chromium.launch({ ...launch, env: { ...env, FONTCONFIG_FILE: '/etc/fonts/fonts.conf' } })
const { announced, stop } = await startServing(['--demo', '--port', '0'], {
  MASTHEAD_DATA_DIR: await temporaryDataDirectory(),
})
const { url, email = '', password = '' } = announced
for (const [name, { path, of }] of Object.entries(pictures)) {
  const context = await browser.newContext({ baseURL: url, locale: 'en-GB', reducedMotion: 'reduce', ...of })
  const page = await context.newPage()
  await page.goto(path)
  // The portal asks nobody.
  if (!path.startsWith('/docs')) await signIn(page, { name: 'Demo', email, password })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
  await page.screenshot({ path: `${folder}${name}.png` })
  await context.close()
}
await Promise.all([stop(), browser.close()])
