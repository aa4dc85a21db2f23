import { writeFile } from 'node:fs/promises'
import { openapi } from './src/openapi.ts'

/** Writes what is derived from the contract and committed; a test holds the files against a fresh generation. */
await writeFile(new URL('./src/openapi.json', import.meta.url), `${JSON.stringify(openapi(), null, 2)}\n`)
