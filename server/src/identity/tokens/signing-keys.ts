import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import type { JWK } from 'jose'
import { type Author, operator } from '../../audit/author.ts'
import { installation } from '../../audit/queries.ts'
import { firstRow } from '../../database/connections/first-row.ts'
import type { Query } from '../../database/connections/statement.ts'
import type { Database } from '../../database/database.ts'
import { Refusal } from '../../refusal.ts'
import { auditChange } from '../audit-change.ts'
import { deriveKey, seal, unseal } from './sealing.ts'

export type SigningKey = { id: string; privateKey: JWK; publicKey: JWK }

/** Longer than the lifetime of any token, with a margin for clocks that differ. */
const overlapMilliseconds = 75 * 60_000
export const longestUseDays = 90
const longestUseMilliseconds = longestUseDays * 86_400_000

/** The key that signs comes first, then those that are still published. */
export const loadSigningKeys = async (query: Query, secret: string): Promise<SigningKey[]> => {
  const sealingKey = deriveKey(secret, 'signing keys')
  const rows = await query<{ id: string; encrypted_key: Buffer; public_key: string }>({
    text: `select id, encrypted_key, public_key from signing_keys
  where retired_at is null or retired_at > $1 order by retired_at is not null, created_at desc, id`,
    values: [new Date(Date.now() - overlapMilliseconds)],
  })
  return rows.map(({ id, encrypted_key, public_key }) => ({
    id,
    privateKey: JSON.parse(unsealed(sealingKey, id, encrypted_key)),
    publicKey: JSON.parse(public_key),
  }))
}

const unsealed = (key: Buffer, id: string, sealed: Buffer): string => {
  try {
    return unseal(key, id, sealed)
  } catch {
    throw new Refusal(
      'MASTHEAD_SECRET is not the one that the signing keys in this database were encrypted with: set the one that the servers have',
    )
  }
}

/** Changes whenever a key is added or retired, or stops being published. */
export const signingKeysRevision = async (query: Query): Promise<string> => {
  const row = await firstRow<{ revision: string }>(query, {
    text: `select coalesce(string_agg(id || (retired_at is null), ',' order by id), '') as revision from signing_keys
      where retired_at is null or retired_at > $1`,
    values: [new Date(Date.now() - overlapMilliseconds)],
  })
  return row?.revision ?? ''
}

export const deleteSpentKeys = (query: Query) =>
  query({
    text: 'delete from signing_keys where retired_at < $1',
    values: [new Date(Date.now() - overlapMilliseconds - 86_400_000)],
  })

export const ensureSigningKey = async (database: Pick<Database, 'query' | 'transaction'>, secret: string) => {
  if (await isKeyInUse(database.query)) return
  const key = await makeKey()
  await database.transaction(async (query) => {
    await lockKeys(query)
    if (!(await isKeyInUse(query))) await addKey(query, { kind: 'masthead' }, secret, key)
  })
}

/** The new key signs from now on; the old one stays published while its tokens live. */
export const rotateSigningKey = async ({ transaction }: Pick<Database, 'transaction'>, secret: string) => {
  const key = await makeKey()
  return transaction(async (query) => {
    await lockKeys(query)
    return addKey(query, operator, secret, key)
  })
}

const isKeyInUse = async (query: Query): Promise<boolean> => {
  const current = await firstRow<{ created_at: Date }>(query, {
    text: 'select created_at from signing_keys where retired_at is null order by created_at desc limit 1',
  })
  return current !== null && Date.now() - current.created_at.getTime() < longestUseMilliseconds
}

const lockKeys = (query: Query) => query({ text: `select pg_advisory_xact_lock(hashtext('masthead signing keys'))` })

/** Must not run in a transaction: it takes seconds on a busy machine, longer than a session may idle in a transaction. */
const makeKey = async (): Promise<SigningKey> => {
  const { calculateJwkThumbprint, exportJWK } = await import('jose')
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  const publicJwk = await exportJWK(publicKey)
  const id = await calculateJwkThumbprint(publicJwk)
  const common = { kid: id, alg: 'RS256', use: 'sig' }
  return { id, privateKey: { ...(await exportJWK(privateKey)), ...common }, publicKey: { ...publicJwk, ...common } }
}

const addKey = async (query: Query, author: Author, secret: string, key: SigningKey): Promise<string> => {
  const { id, privateKey, publicKey } = key
  // This throws for another secret before anything changes: its key would lock out processes with the right one.
  await loadSigningKeys(query, secret)
  const sealed = seal(deriveKey(secret, 'signing keys'), id, JSON.stringify(privateKey))
  await query({ text: 'update signing_keys set retired_at = now() where retired_at is null' })
  await query({
    text: 'insert into signing_keys (id, encrypted_key, public_key) values ($1, $2, $3)',
    values: [id, sealed, JSON.stringify(publicKey)],
  })
  await auditChange(query, installation, author, { action: 'created', resource: 'signing_keys', recordId: id })
  return id
}
