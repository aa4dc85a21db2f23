import { randomBytes } from 'node:crypto'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ResourceName, resourceNames, storedFieldsOf } from '@masthead/contract'
import { operator } from '../../audit/author.ts'
import { openDataFolder } from '../../data-folder.ts'
import type { Query } from '../../database/connections/statement.ts'
import type { Database } from '../../database/database.ts'
import { versionsFrom } from '../../database/versions.ts'
import { createMember, findMember, isMember } from '../../identity/people/members.ts'
import { allScopes } from '../../identity/people/roles.ts'
import { createTenant, listTenants, type Tenant } from '../../identity/people/tenants.ts'
import { findUser, hashPasswordOf, setPassword } from '../../identity/people/users.ts'
import { presented, principalsOf } from '../../identity/principal.ts'
import { createToken } from '../../identity/tokens/access-tokens.ts'
import { newId } from '../../records/identifiers.ts'
import type { Fields } from '../../records/stored-record.ts'
import { insertRecords } from '../../records/writes/write.ts'
import { Refusal } from '../../refusal.ts'
import { importFiles } from '../import/import.ts'
import type { FileSummary } from '../import/journal.ts'
import { demoData } from './demo-data.ts'
import { writeDemoFiles } from './demo-files.ts'
import type { DemoRecord } from './record.ts'

export type Demo = { tenant: string; token: string }
/** `email` and `password` sign in to the console. */
export type InhabitedDemo = Demo & { email: string; password: string }

export const demoSlug = 'demo'
const demoName = 'Demo Publishing'
const demoEmail = 'demo@masthead.example'
const batchSize = 1_000

/** The demo tenant is created at the first start and left as it is afterwards. */
export const prepareDemo = async (database: Database, dataDirectory: string, say: (line: string) => void) => {
  const tenant = (await findDemo(database.query, demoSlug)) ?? (await makeDemo(database, say))
  const token = await storedToken(database, tenant, dataDirectory)
  return { tenant: demoSlug, token, email: demoEmail, password: await storedPassword(database, tenant, dataDirectory) }
}

const findDemo = async (query: Query, slug: string): Promise<Tenant | undefined> =>
  (await listTenants(query)).find((tenant) => tenant.slug === slug)

/** One transaction does it all: an interrupted start leaves nothing, and of two starts the second finds the tenant. */
const makeDemo = async (database: Database, say: (line: string) => void): Promise<Tenant> => {
  say('Making demo data …')
  const id = newId()
  return database.forTenant(id).transaction(async (query) => {
    const { withoutTenant } = query
    await withoutTenant({ text: `select pg_advisory_xact_lock(hashtext('masthead demo'))` })
    const made = await findDemo(withoutTenant, demoSlug)
    if (made) return made
    const tenant = await createTenant(withoutTenant, { id, slug: demoSlug, name: demoName })
    for (const batch of batches(demoData({ accounts: 500, seed: 1, today: today() }))) {
      for (const resource of resourceNames) await insertRecords(query, resource, batch[resource] ?? [])
    }
    return tenant
  })
}

type FillOptions = {
  slug: string
  accounts: number
  seed: number
  signal: AbortSignal
  onProgress: (what: string, done: number, of: number | null) => void
}

type FilledDemo = Demo & { resources: Omit<FileSummary, 'file' | 'refused'>[] }

/** Imports demo data of any size; existing records stay. */
export const fillDemo = async (
  database: Database,
  dataDirectory: string,
  { slug, accounts, seed, signal, onProgress }: FillOptions,
): Promise<FilledDemo> => {
  const tenant =
    (await findDemo(database.query, slug)) ?? (await createTenant(database.query, { slug, name: demoName }))
  if (tenant.name !== demoName) throw new Refusal(`the tenant "${slug}" was not made for demo data: choose another`)
  const onRecords = (count: number) => onProgress('making', count, null)
  await using folder = await mkdtempDisposable(join(tmpdir(), 'masthead-demo-'))
  await writeDemoFiles(folder.path, { accounts, seed, today: today(), signal, onRecords })
  const { files } = await importFiles(database.forTenant(tenant.id), [folder.path], {
    signal,
    strict: true,
    onProgress: ({ step, what, done, of }) => onProgress(step === 'writing' ? what : step, done, of || null),
  })
  if (files.some(({ refused }) => refused > 0)) {
    throw new Refusal(`the tenant "${slug}" holds demo data of another seed or day: choose another with --tenant`)
  }
  const resources = files.map(({ file: _file, refused: _none, ...counts }) => counts)
  return { tenant: slug, token: await storedToken(database, tenant, dataDirectory), resources }
}

const today = (): string => new Date().toISOString().slice(0, 10)

function* batches(records: Iterable<DemoRecord>): Generator<Partial<Record<ResourceName, Fields[]>>> {
  let batch: Partial<Record<ResourceName, Fields[]>> = {}
  let size = 0
  for (const { resource, record } of records) {
    const values: Fields = record
    batch[resource] ??= []
    batch[resource]?.push(Object.fromEntries(storedFieldsOf(resource).map(({ name }) => [name, values[name] ?? null])))
    if (++size < batchSize) continue
    yield batch
    batch = {}
    size = 0
  }
  yield batch
}

/** Tokens are shown once, but every start should show one, so a file stores it. */
const storedToken = async (database: Database, tenant: Tenant, dataDirectory: string): Promise<string> => {
  const file = join(dataDirectory, tenant.slug === demoSlug ? 'demo-token' : `demo-token-${tenant.slug}`)
  const stored = await readFile(file, 'utf8').catch(() => '')
  const holder = await principalsOf(database, versionsFrom(database.readVersions, 0), null)
    .authenticate(presented(stored))
    .catch(() => null)
  if (holder?.tenantId === tenant.id) return stored
  const given = { tenantId: tenant.id, name: 'demo', service: 'demo', scopes: allScopes }
  const { token } = await database.transaction((query) => createToken(query, operator, given))
  await openDataFolder(dataDirectory)
  await writeFile(file, token, { mode: 0o600 })
  return token
}

/** Deleting the file creates another password. */
const storedPassword = async (database: Database, tenant: Tenant, dataDirectory: string): Promise<string> => {
  const file = join(dataDirectory, 'demo-password')
  const stored = await readFile(file, 'utf8').catch(() => '')
  const isKnown = await isMember(database.query, tenant.id, demoEmail)
  if (stored !== '' && isKnown) return stored
  const password = randomBytes(9).toString('base64url')
  const passwordHash = await hashPasswordOf(database.query, demoEmail, password)
  const member = { tenantId: tenant.id, email: demoEmail, name: 'Demo', role: 'admin', passwordHash } as const
  await database.transaction(async (query) => {
    if (!isKnown) return createMember(query, operator, member)
    const user = await findUser(query, (await findMember(query, tenant.id, demoEmail)).id)
    return user && setPassword(query, operator, user, passwordHash)
  })
  await writeFile(file, password, { mode: 0o600 })
  return password
}
