import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { FairLanes } from '../database/fair-lanes.ts'
import { Refusal } from '../refusal.ts'

/** OWASP's first choice for argon2id: 19 MiB, 2 passes, 1 lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
const deriveAtOnce = promisify(argon2)

/**
 * Hashing takes the threads that signatures are made and checked with too: it has half of them, and a bounded queue.
 */
const lanes = new FairLanes(2, 2, 30_000)
const derive: typeof deriveAtOnce = (...given) => lanes.run('', () => deriveAtOnce(...given))

/** A PHC string, so that the cost can grow and old hashes still be checked. */
export const hashPassword = async (password: string): Promise<string> => {
  if (password.length < 8) throw new Refusal('a password needs at least 8 characters')
  const nonce = randomBytes(16)
  const tag = await derive('argon2id', { ...cost, message: password.normalize('NFKC'), nonce })
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(nonce)}$${base64(tag)}`
}

const shape = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

export const isPassword = async (password: string, hash: string): Promise<boolean> => {
  const [, memory, passes, parallelism, nonce = '', tag = ''] = shape.exec(hash) ?? []
  const expected = Buffer.from(tag, 'base64')
  const actual = await derive('argon2id', {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
    message: password.normalize('NFKC'),
    nonce: Buffer.from(nonce, 'base64'),
  })
  return timingSafeEqual(actual, expected)
}

const base64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
