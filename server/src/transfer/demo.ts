import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Query } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { createToken } from '../identity/access-tokens.ts'
import { Principals } from '../identity/principal.ts'
import { allScopes } from '../identity/roles.ts'
import { createTenant, listTenants, type Tenant } from '../identity/tenants.ts'
import { newId } from '../records/identifiers.ts'
import { type Fields, insertRecords } from '../records/write.ts'
import { demoData } from './demo-data.ts'
import type { DemoRecord } from './demo-record.ts'

export type Demo = { tenant: string; token: string }

const slug = 'demo'
const batchSize = 1_000

/** A tenant to try things on: made at the first start, kept as it is afterwards. */
export const prepareDemo = async (
  database: Database,
  dataDirectory: string,
  say: (line: string) => void,
): Promise<Demo> => {
  const tenant = (await findDemo(database.query)) ?? (await makeDemo(database, say))
  return { tenant: slug, token: await keptToken(database, tenant, dataDirectory) }
}

const findDemo = async (query: Query): Promise<Tenant | undefined> =>
  (await listTenants(query)).find((tenant) => tenant.slug === slug)

/** In one transaction: an interrupted start leaves nothing behind, and of two starts at once the second finds it made. */
const makeDemo = async (database: Database, say: (line: string) => void): Promise<Tenant> => {
  say('Making demo data …')
  const id = newId()
  const today = new Date().toISOString().slice(0, 10)
  return database.forTenant(id).transaction(async (query) => {
    await query({ text: `select pg_advisory_xact_lock(hashtext('masthead demo'))` })
    const made = await findDemo(query)
    if (made) return made
    const tenant = await createTenant(query, { id, slug, name: 'Demo Publishing' })
    for (const batch of batches(demoData({ accounts: 500, seed: 1, today }))) {
      for (const resource of order) await insertRecords(query, resource, batch[resource] ?? [])
    }
    return tenant
  })
}

/** Records that others refer to come first in a batch. */
const order = ['publications', 'accounts', 'contacts', 'subscriptions', 'invoices'] as const

function* batches(records: Iterable<DemoRecord>): Generator<Partial<Record<DemoRecord['resource'], Fields[]>>> {
  let batch: Partial<Record<DemoRecord['resource'], Fields[]>> = {}
  let size = 0
  for (const { resource, record } of records) {
    const { balanceCents: _derived, ...stored } = record as Fields // the database derives it from totalDue
    batch[resource] ??= []
    batch[resource]?.push(stored)
    if (++size < batchSize) continue
    yield batch
    batch = {}
    size = 0
  }
  yield batch
}

/** Tokens are shown once, but a second start should not leave the reader without one: this one is kept in a file. */
const keptToken = async (database: Database, tenant: Tenant, dataDirectory: string): Promise<string> => {
  const file = join(dataDirectory, 'demo-token')
  const kept = await readFile(file, 'utf8').catch(() => '')
  const holder = await new Principals(database, null).authenticate(kept).catch(() => null)
  if (holder?.tenantId === tenant.id) return kept
  const { token } = await createToken(database.query, {
    tenantId: tenant.id,
    name: 'demo',
    service: 'demo',
    scopes: allScopes,
  })
  await mkdir(dataDirectory, { recursive: true })
  await writeFile(file, token, { mode: 0o600 })
  return token
}
