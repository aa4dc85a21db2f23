import { operator } from '../../src/audit/author.ts'
import { openConfigured } from '../../src/commands/with-database.ts'
import { readConfig } from '../../src/config.ts'
import { createTenant, listTenants } from '../../src/identity/people/tenants.ts'
import { createToken } from '../../src/identity/tokens/access-tokens.ts'
import { insertRecords } from '../../src/records/writes/write.ts'
import { demoData } from '../../src/transfer/demo/demo-data.ts'
import type { DemoAccount, DemoContact } from '../../src/transfer/demo/record.ts'

/**
 * Tenants with so many contacts, for trials: `node server/test/records/seed-contacts.ts <slug>=<contacts> …`. Those that are there
 * already stay as they are. Prints a JSON document: the id of each, and a token that lives for a day.
 */
const batchSize = 5_000
const contactsOfAnAccount = 10
const day = 86_400_000

const { database, close } = await openConfigured(readConfig())
try {
  const known = new Map((await listTenants(database.query)).map(({ slug, id }) => [slug, id]))
  const tenants = []
  for (const [slug = '', count = ''] of process.argv.slice(2).map((word) => word.split('='))) {
    const id = known.get(slug) ?? (await seed(slug, Number(count)))
    await requireWhole(slug, id, Number(count))
    tenants.push({ slug, id, token: await tokenFor(id) })
  }
  process.stdout.write(`${JSON.stringify(tenants)}\n`)
} finally {
  await close()
}

async function seed(slug: string, wanted: number): Promise<string> {
  const { id } = await createTenant(database.query, { slug, name: slug })
  let accounts: DemoAccount[] = []
  let contacts: DemoContact[] = []
  let made = 0
  let account: DemoAccount | null = null
  let ofAccount = 0
  const store = async () => {
    await database.forTenant(id).inBulk(async (_client, query) => {
      await insertRecords(query, 'accounts', accounts)
      await insertRecords(query, 'contacts', contacts)
    })
    accounts = []
    contacts = []
    if (made > 0 && made % 100_000 === 0) process.stderr.write(`${slug}: ${made} contacts\n`)
  }
  for (const { resource, record } of demoData({ accounts: wanted, seed: 1, today: '2026-11-15' })) {
    if (resource === 'accounts' && (account === null || ofAccount >= contactsOfAnAccount)) {
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
  return id
}

/** Of one that was interrupted, the tenant is there and the contacts are not. */
async function requireWhole(slug: string, id: string, wanted: number): Promise<void> {
  const statement = { text: `select last from heads where tenant_id = $1 and resource = 'contacts'` }
  const [head] = await database.forTenant(id).read<{ last: number }>(statement)
  if ((head?.last ?? 0) >= wanted) return
  throw new Error(`the tenant ${slug} has ${head?.last ?? 0} contacts instead of ${wanted}: remove the data folder`)
}

async function tokenFor(tenantId: string): Promise<string> {
  const created = await createToken(database.query, operator, {
    tenantId,
    name: 'trial',
    service: 'trial',
    lifetime: day,
    scopes: ['contacts:read', 'contacts:write', 'accounts:read', 'publications:read'],
  })
  return created.token
}
