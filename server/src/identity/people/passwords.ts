import { type Argon2Parameters, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { FairQueue } from '../../database/fair-queue.ts'
import { lazily } from '../../lazily.ts'
import { Refusal } from '../../refusal.ts'

/** OWASP's first choice for argon2id: 19 MiB, 2 passes, 1 lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
const costPrefix = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$`

/** One after the other, and not too many: others wait for the processor, too. */
const queue = new FairQueue(1, 1, 30_000)

type PasswordThread = { worker: Worker; ended: AbortSignal }

/** Made for the first password, and anew if it should end. */
let thread: PasswordThread | undefined

const startThread = (): PasswordThread => {
  const worker = new Worker(new URL('./password-thread.js', import.meta.url))
  const ending = new AbortController()
  // Who waits for it is told why, and otherwise nobody needs to be.
  worker.on('error', () => {})
  worker.once('exit', () => {
    if (thread?.worker === worker) thread = undefined
    ending.abort()
  })
  return { worker, ended: ending.signal }
}

/**
 * In a thread of its own. The C library keeps what a thread has used, for that thread: after 24 passwords in Node's pool of threads, which opens files
 * and signs as well, the process had 137 MiB more, and 36 with one thread.
 */
const derive = (given: Argon2Parameters): Promise<Buffer> =>
  queue.run('', async () => {
    thread ??= startThread()
    const { worker, ended } = thread
    try {
      worker.ref()
      worker.postMessage(given)
      const [tag] = await once(worker, 'message', { signal: ended })
      // Nobody waits for it now.
      worker.unref()
      return Buffer.from(tag)
    } catch (error) {
      thread = undefined
      throw error
    }
  })

/** Returns a PHC string, which names its cost, so that old hashes stay valid when the cost grows. */
export const hashPassword = async (password: string, nonce: Buffer): Promise<string> => {
  if (password.length < 8) throw new Refusal('a password must have at least 8 characters')
  const tag = await derive({ ...cost, message: password.normalize('NFKC'), nonce })
  return `${costPrefix}${base64(nonce)}$${base64(tag)}`
}

const shape = /^(\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+))\$([A-Za-z0-9+/]+)$/

export const saltOf = (hash: string): Buffer => Buffer.from(shape.exec(hash)?.[5] ?? '', 'base64')

/** Checks each hash against the password. Equal salts take one derivation, and so does an empty list. */
export const matchPasswords = async (password: string, hashes: readonly string[]): Promise<boolean[]> => {
  const derived = new Map<string, Buffer>()
  const usable = hashes.filter((hash) => hash !== noPassword)
  for (const hash of usable.length === 0 ? [await dummyHash()] : usable) {
    const [, prefix = '', memory, passes, parallelism, nonce = '', tag = ''] = shape.exec(hash) ?? []
    if (derived.has(prefix)) continue
    const given = {
      memory: Number(memory),
      passes: Number(passes),
      parallelism: Number(parallelism),
      tagLength: Buffer.from(tag, 'base64').length,
      message: password.normalize('NFKC'),
      nonce: Buffer.from(nonce, 'base64'),
    }
    derived.set(prefix, await derive(given))
  }
  return hashes.map((hash) => {
    const [, prefix = '', , , , , tag = ''] = shape.exec(hash) ?? []
    const [expected, actual] = [Buffer.from(tag, 'base64'), derived.get(prefix)]
    return actual !== undefined && actual.length === expected.length && timingSafeEqual(actual, expected)
  })
}

/** Stored instead of a hash when no password opens the account. */
export const noPassword = ''

const dummyHash = lazily(() => hashPassword('nobody has this password', randomBytes(16)))

const base64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
