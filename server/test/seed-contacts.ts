import { openConfigured } from '../src/commands/with-database.ts'
import { readConfig } from '../src/config.ts'
import { createTenant, listTenants } from '../src/identity/tenants.ts'
import { insertRecords } from '../src/records/write.ts'
import { demoData } from '../src/transfer/demo/demo-data.ts'
import type { DemoAccount, DemoContact } from '../src/transfer/demo/record.ts'

/**
 * A tenant with so many contacts, for trials: `node server/test/seed-contacts.ts <slug> <contacts> [<contacts an account>]`.
 * Does nothing when the tenant is there already.
 */
const [slug = '', count = '0', perAccount = '10'] = process.argv.slice(2)
const wanted = Number(count)
const batchSize = 2_000

const { database, close } = await openConfigured(readConfig())
const known = await listTenants(database.query)
if (!known.some((tenant) => tenant.slug === slug)) await seed()
await close()

async function seed(): Promise<void> {
  const { id } = await createTenant(database.query, { slug, name: slug })
  let accounts: DemoAccount[] = []
  let contacts: DemoContact[] = []
  let made = 0
  let account: DemoAccount | null = null
  let ofAccount = 0
  const store = async () => {
    await database.forTenant(id).transaction(async (query) => {
      await insertRecords(query, 'accounts', accounts)
      await insertRecords(query, 'contacts', contacts)
    })
    accounts = []
    contacts = []
    if (made % 100_000 < batchSize) process.stderr.write(`${slug}: ${made} contacts\n`)
  }
  for (const { resource, record } of demoData({ accounts: wanted, seed: 1, today: '2026-11-15' })) {
    if (resource === 'accounts' && (account === null || ofAccount >= Number(perAccount))) {
      account = record
      ofAccount = 0
      accounts.push(record)
    }
    if (resource !== 'contacts' || account === null) continue
    ofAccount++
    contacts.push({ ...record, accountId: account.accountId })
    if (++made % batchSize === 0) await store()
    if (made >= wanted) break
  }
  await store()
}
