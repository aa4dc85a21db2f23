import { writeFile } from 'node:fs/promises'
import { licencesPage } from './licences.ts'

/** Writes the list of licences, which is committed; a test holds it against the lock file. */
await writeFile(new URL('../docs/licences.md', import.meta.url), licencesPage())
