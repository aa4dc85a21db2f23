import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Where the tools of others are installed that tests use: tools/package.json names them. */
export const toolsFolder = fileURLToPath(new URL('.', import.meta.url))
export const requireTool = createRequire(import.meta.url)

if (!existsSync(new URL('./node_modules', import.meta.url)))
  throw new Error('The tools of the tests are not installed: `npm run tools` installs them')

/** The path of a program that a tool brings. */
export const toolProgram = (name: string): string =>
  fileURLToPath(new URL(`node_modules/.bin/${name}`, import.meta.url))
