import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import type { JWK } from 'jose'
import { type Author, operator } from '../audit/author.ts'
import { auditIn, installation } from '../audit/queries.ts'
import type { Query } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { Refusal } from '../refusal.ts'
import { deriveKey, seal, unseal } from './sealing.ts'

export type SigningKey = { id: string; privateKey: JWK; publicKey: JWK }

/** Longer than any token that a key has signed lives, clocks that disagree included. */
const overlapMilliseconds = 75 * 60_000
/** A key is replaced by age even when nobody asks. */
export const longestUseDays = 90
const longestUseMilliseconds = longestUseDays * 86_400_000

type KeyRow = { id: string; encrypted_key: Buffer; public_key: string }

/** The key that signs, first, and those that are still published. */
export const loadSigningKeys = async (query: Query, secret: string): Promise<SigningKey[]> => {
  const sealingKey = deriveKey(secret, 'signing keys')
  const rows = await query<KeyRow>({ text: selectKeys, values: [new Date(Date.now() - overlapMilliseconds)] })
  return rows.map(({ id, encrypted_key, public_key }) => ({
    id,
    privateKey: JSON.parse(unsealed(sealingKey, id, encrypted_key)),
    publicKey: JSON.parse(public_key),
  }))
}

const selectKeys = `select id, encrypted_key, public_key from signing_keys
  where retired_at is null or retired_at > $1 order by retired_at is not null, created_at desc, id`

const unsealed = (key: Buffer, id: string, sealed: Buffer): string => {
  try {
    return unseal(key, id, sealed)
  } catch {
    throw new Refusal('MASTHEAD_SECRET is not the one that the signing keys in this database were encrypted with')
  }
}

/** What changes whenever a key is added or retired, or its time is over. */
export const signingKeysRevision = async (query: Query): Promise<string> => {
  const [row] = await query<{ revision: string }>({
    text: `select coalesce(string_agg(id || (retired_at is null), ',' order by id), '') as revision from signing_keys
      where retired_at is null or retired_at > $1`,
    values: [new Date(Date.now() - overlapMilliseconds)],
  })
  return row?.revision ?? ''
}

export const deleteSpentKeys = async (query: Query): Promise<void> => {
  await query({
    text: 'delete from signing_keys where retired_at < $1',
    values: [new Date(Date.now() - overlapMilliseconds - 86_400_000)],
  })
}

/** The key in use, made under a lock when there is none or the last is too old. */
export const ensureSigningKey = async (database: Keeper, secret: string): Promise<void> => {
  if (await isKeyInUse(database.query)) return
  const key = await makeKey()
  await database.transaction(async (query) => {
    await lockKeys(query)
    if (!(await isKeyInUse(query))) await addKey(query, { kind: 'masthead' }, secret, key)
  })
}

/** A new key signs from now on; the one before stays published while its tokens live. */
export const rotateSigningKey = async (database: Keeper, secret: string): Promise<string> => {
  const key = await makeKey()
  return database.transaction(async (query) => {
    await lockKeys(query)
    return addKey(query, operator, secret, key)
  })
}

type Keeper = Pick<Database, 'query' | 'transaction'>

const isKeyInUse = async (query: Query): Promise<boolean> => {
  const [current] = await query<{ created_at: Date }>({
    text: 'select created_at from signing_keys where retired_at is null order by created_at desc limit 1',
  })
  return current !== undefined && Date.now() - current.created_at.getTime() < longestUseMilliseconds
}

const lockKeys = (query: Query) => query({ text: `select pg_advisory_xact_lock(hashtext('masthead signing keys'))` })

/** Never in a transaction: it takes seconds on a busy machine, and a session that is idle in a transaction is ended by then. */
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
  // Refuses another secret before anything changes: it would lock out everybody who has the right one.
  await loadSigningKeys(query, secret)
  const sealed = seal(deriveKey(secret, 'signing keys'), id, JSON.stringify(privateKey))
  await query({ text: 'update signing_keys set retired_at = now() where retired_at is null' })
  await query({
    text: 'insert into signing_keys (id, encrypted_key, public_key) values ($1, $2, $3)',
    values: [id, sealed, JSON.stringify(publicKey)],
  })
  await auditIn(query, installation, author, [{ action: 'created', resource: 'signing_keys', recordId: id }])
  return id
}
