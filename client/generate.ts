import { writeFile } from 'node:fs/promises'
import { generatedFiles } from './generator.ts'

/** Writes what the client takes from the contract and is committed; a test holds the files against a fresh generation. */
for (const [path, text] of Object.entries(generatedFiles())) await writeFile(new URL(path, import.meta.url), text)
