import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { codeOf } from '../error-message.ts'
import { Refusal } from '../refusal.ts'
import { type Program, quoted, settingsFile, unitFile } from './unit.ts'

export const ownProgram: Program = {
  node: process.execPath,
  main: fileURLToPath(new URL('../main.js', import.meta.url)),
}

/** True for the program that the service runs; a checkout beside it is another one. */
export const isService = (): boolean => {
  try {
    return readFileSync(unitFile, 'utf8').includes(` ${quoted(ownProgram.main)} serve\n`)
  } catch {
    return false
  }
}

/** Reads the variables of the service; there are none where it has no settings. */
export const readServiceSettings = (): Record<string, string | undefined> => {
  try {
    return parseEnv(readFileSync(settingsFile, 'utf8'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {}
    throw new Refusal(
      `only root may read ${settingsFile}, the settings of the service: run \`sudo masthead …\`, or name another database by MASTHEAD_DATA_DIR, DATABASE_URL or, where there is one, --data-dir`,
      { cause: error },
    )
  }
}
