import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

type Violations = AxeResults['violations']

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const all = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What on the page hinders people who see, hear or move otherwise, in light and in dark. */
export const accessibilityFaults = async (page: Page): Promise<string[]> => {
  const inLight = await faultsIn(page, 'light', all)
  const inDark = await faultsIn(page, 'dark', rulesOfColour)
  await page.emulateMedia({ colorScheme: null })
  return [...inLight, ...inDark]
}

/** Nothing but the colours differs in the dark. */
const rulesOfColour = ['color-contrast', 'link-in-text-block']

const faultsIn = async (page: Page, colorScheme: 'light' | 'dark', rules: readonly string[]): Promise<string[]> => {
  // A colour that is still changing would be taken for another one.
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe)
  // Of what passes, axe describes one node for each rule: to describe them all takes as long as to judge them.
  const options = JSON.stringify({ runOnly: rules, resultTypes: ['violations'] })
  const { passed, violations }: { passed: string[]; violations: Violations } = await page.evaluate(
    `axe.run(document, ${options}).then(({ passes, violations }) => ({ passed: passes.map(({ id }) => id), violations }))`,
  )
  assert.ok(passed.includes('color-contrast'), 'contrast was looked at')
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${colorScheme}: ${id}: ${html} (${failureSummary})`),
  )
}
