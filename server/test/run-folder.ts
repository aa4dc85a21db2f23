import { globSync } from 'node:fs'
import { test } from 'node:test'

/**
 * Runs the test files below a folder one after another in this process, because to load and warm up the service takes a
 * second of processor time. Each file is a test of its name, and the service that it starts ends with it.
 */
export const runFolder = async (folder: URL, pattern = '**/*.test.ts'): Promise<void> => {
  const files = globSync(pattern, { cwd: folder }).sort()
  if (files.length === 0) throw new Error(`there is no test in ${folder}`)
  for (const file of files) await test(file, () => import(new URL(file, folder).href))
}
