import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { button, heading, openConsole, requireSoon } from '../visitor.ts'

const { visit } = await openConsole()
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
const paths: string[] = JSON.parse(await readFile(new URL('../../dist/paths.json', import.meta.url), 'utf8'))

visit(
  'opens the contents, chooses a guide, and reads it',
  null,
  async (page) => {
    await page.goto('/docs')
    await heading(page, 'Build with Masthead').waitFor()
    const contents = page.getByRole('navigation', { name: 'Portal' })
    await requireSoon(() => contents.isVisible(), false)
    await button(page, 'Navigation').tap()
    await contents.getByRole('link', { name: 'Retries' }).tap()
    await heading(page, 'Retries').waitFor()
    await contents.waitFor({ state: 'hidden' })
    await page.getByRole('figure', { name: 'Create a contact, once' }).getByText('fetch', { exact: true }).tap()
    await page.getByText('made once, sent with every attempt').waitFor()
  },
  phone,
)

visit(
  'never has to scroll sideways',
  null,
  async (page) => {
    const portal = paths.filter((path) => path.startsWith('/docs'))
    assert.ok(portal.length > 5)
    for (const path of portal) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await requireSoon(() => page.evaluate('document.documentElement.scrollWidth'), 360, path)
    }
  },
  phone,
)
