import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const all = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What on the page hinders people who see, hear or move otherwise; by all rules, or by some. */
export const accessibilityFaults = async (page: Page, rules: readonly string[] = all): Promise<string[]> => {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe)
  const { passes, violations }: AxeResults = await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(rules)} })`,
  )
  assert.ok(
    passes.some(({ id }) => id === 'color-contrast'),
    'contrast was looked at',
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} (${failureSummary})`),
  )
}
