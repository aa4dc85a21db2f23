import { mkdir, writeFile } from 'node:fs/promises'
import { folder, referencePages } from './reference/pages.ts'

/** Writes the reference, which is committed; a test holds its pages against a fresh generation. */
await mkdir(folder, { recursive: true })
for (const [name, text] of Object.entries(await referencePages())) await writeFile(new URL(name, folder), text)
