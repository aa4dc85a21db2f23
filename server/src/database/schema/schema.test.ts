import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import pg from 'pg'
import { schemaText } from '../../../test/schema-text.ts'
import { cloneTemplate } from '../../../test/service.ts'

test('schema.sql shows the migrated database', async () => {
  const client = new pg.Client(await cloneTemplate())
  await client.connect()
  const migrated = await schemaText(client)
  await client.end()
  const committed = await readFile(new URL('./schema.sql', import.meta.url), 'utf8')
  assert.equal(committed, migrated, 'run `npm run generate`')
})
