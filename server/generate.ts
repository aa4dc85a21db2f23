import { mkdir, writeFile } from 'node:fs/promises'
import pg from 'pg'
import { folder, referencePages } from './reference/pages.ts'
import { globalSetup, globalTeardown, templateUrl } from './test/database-server.ts'
import { schemaText } from './test/schema-text.ts'

/** Writes the reference and the schema, which are committed; tests hold them against a fresh generation. */
await mkdir(folder, { recursive: true })
for (const [name, text] of Object.entries(await referencePages())) await writeFile(new URL(name, folder), text)

await globalSetup()
try {
  const client = new pg.Client(templateUrl())
  await client.connect()
  await writeFile(new URL('./src/database/schema/schema.sql', import.meta.url), await schemaText(client))
  await client.end()
} finally {
  await globalTeardown()
}
