import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What on the page hinders people who see, hear or move otherwise. */
export const accessibilityFaults = async (page: Page): Promise<string[]> => {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe)
  const { passes, violations }: AxeResults = await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(tags)} })`,
  )
  assert.ok(
    passes.some(({ id }) => id === 'color-contrast'),
    'contrast was looked at',
  )
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}
