import { performance } from 'node:perf_hooks'
import type { JWTVerifyGetKey } from 'jose'
import { deleteOldAttempts } from '../identity/people/attempts.ts'
import {
  deleteSpentKeys,
  ensureSigningKey,
  loadSigningKeys,
  signingKeysRevision,
} from '../identity/tokens/signing-keys.ts'
import { lazily } from '../lazily.ts'
import { deleteExpiredState, deleteSurplusInteractions } from './adapter.ts'
import type { ProviderOptions } from './provider.ts'

const pollMilliseconds = 400
const leastMillisecondsBetweenLookups = 50
const cleanUpMilliseconds = 60_000

type Options = Omit<ProviderOptions, 'keys'>
export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>

/** The provider with the current keys: a rotation by any process takes effect within a second. */
export const startAuthorizationServer = async (options: Options) => {
  const { database, secret, onError } = options
  await ensureSigningKey(database, secret)
  let current = await loadKeys(options)
  let polling: Promise<void> | null = null
  let nextLookupAt = 0
  let isFailing = false
  let cleanedUpAt = Number.NEGATIVE_INFINITY

  const cleanUp = async (): Promise<void> => {
    if (performance.now() - cleanedUpAt < cleanUpMilliseconds) return
    cleanedUpAt = performance.now()
    await ensureSigningKey(database, secret)
    await deleteSpentKeys(database.query)
    for (const deleteBatch of [deleteExpiredState, deleteSurplusInteractions, deleteOldAttempts]) {
      // The next poll deletes the rest, so that a new key need not wait for it.
      if (await deleteBatch(database.query)) cleanedUpAt = Number.NEGATIVE_INFINITY
    }
  }

  const lookUp = async (): Promise<void> => {
    try {
      if ((await signingKeysRevision(database.read)) !== current.revision) current = await loadKeys(options)
      await cleanUp()
      isFailing = false
    } catch (error) {
      // The current keys stay valid; one report is enough.
      if (!isFailing && error instanceof Error) onError(error)
      isFailing = true
    }
  }

  /** A call while another is in flight waits for that one. */
  const poll = (): Promise<void> => {
    polling ??= lookUp().finally(() => {
      polling = null
    })
    return polling
  }

  const timer = setInterval(() => void poll(), pollMilliseconds)
  timer.unref()

  /** The keys that access tokens may be signed with. A key that another node has just created is looked up at once. */
  const key: JWTVerifyGetKey = async (header, token) => {
    try {
      return await current.key(header, token)
    } catch (error) {
      const { errors } = await import('jose')
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      if (polling) await polling
      // Tokens with unknown keys must not cause a lookup each.
      if (performance.now() >= nextLookupAt) {
        nextLookupAt = performance.now() + leastMillisecondsBetweenLookups
        await poll()
      }
      return current.key(header, token)
    }
  }

  const stop = async (): Promise<void> => {
    clearInterval(timer)
    await polling
  }

  return { loaded: () => current.loaded(), key, stop }
}

const loadKeys = async (options: Options) => {
  const { read } = options.database
  const revision = await signingKeysRevision(read)
  const keys = await loadSigningKeys(read, options.secret)
  const published = lazily(async () => {
    const { createLocalJWKSet } = await import('jose')
    return createLocalJWKSet({ keys: keys.map(({ publicKey }) => publicKey) })
  })
  const key: JWTVerifyGetKey = async (header, token) => (await published())(header, token)
  // The first visitor waits for the provider: loading it takes long, and a start should not.
  const loaded = lazily(async () => {
    const { buildProvider } = await import('./provider.ts')
    const provider = buildProvider({ ...options, keys })
    return { provider, handle: provider.callback() }
  })
  return { revision, key, loaded }
}
