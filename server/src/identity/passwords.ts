import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { FairLanes } from '../database/fair-lanes.ts'
import { Refusal } from '../refusal.ts'

/** OWASP's first choice for argon2id: 19 MiB, 2 passes, 1 lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
const costPrefix = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$`
const deriveAtOnce = promisify(argon2)

/**
 * Hashing takes the threads that signatures are made and checked with too: it has half of them, and a bounded queue.
 */
const lanes = new FairLanes(2, 2, 30_000)
const derive: typeof deriveAtOnce = (...given) => lanes.run('', () => deriveAtOnce(...given))

/**
 * A PHC string, so that the cost can grow and old hashes still be checked. The accounts of one address share their salt,
 * that of a `sibling`, so that a sign-in costs one derivation however many accounts there are.
 */
export const hashPassword = async (password: string, sibling?: string): Promise<string> => {
  if (password.length < 8) throw new Refusal('a password needs at least 8 characters')
  const salt = sibling?.startsWith(costPrefix) ? saltOf(sibling) : base64(randomBytes(16))
  const nonce = Buffer.from(salt, 'base64')
  const tag = await derive('argon2id', { ...cost, message: password.normalize('NFKC'), nonce })
  return `${costPrefix}${salt}$${base64(tag)}`
}

const saltOf = (hash: string): string => hash.slice(costPrefix.length, hash.lastIndexOf('$'))

const shape = /^(\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+))\$([A-Za-z0-9+/]+)$/

/** For each hash, whether it is of this password. Hashes of one salt and cost take one derivation, and so do none at all. */
export const arePassword = async (password: string, hashes: readonly string[]): Promise<boolean[]> => {
  const derived = new Map<string, Buffer>()
  const usable = hashes.filter((hash) => hash !== noPassword)
  for (const hash of usable.length === 0 ? [await nobodysHash()] : usable) {
    const [, prefix = '', memory, passes, parallelism, nonce = '', tag = ''] = shape.exec(hash) ?? []
    if (derived.has(prefix)) continue
    const parameters = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
    const tagLength = Buffer.from(tag, 'base64').length
    const given = { message: password.normalize('NFKC'), nonce: Buffer.from(nonce, 'base64'), tagLength }
    derived.set(prefix, await derive('argon2id', { ...parameters, ...given }))
  }
  return hashes.map((hash) => {
    const [, prefix = '', , , , , tag = ''] = shape.exec(hash) ?? []
    const [expected, actual] = [Buffer.from(tag, 'base64'), derived.get(prefix)]
    return actual !== undefined && actual.length === expected.length && timingSafeEqual(actual, expected)
  })
}

/** Instead of a hash: no password opens the account. */
export const noPassword = ''

let nobody: Promise<string> | undefined
const nobodysHash = (): Promise<string> => {
  nobody ??= hashPassword('nobody has this password')
  return nobody
}

const base64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
