import { performance } from 'node:perf_hooks'
import type { JWTVerifyGetKey } from 'jose'
import type Provider from 'oidc-provider'
import { deleteOldAttempts } from '../identity/attempts.ts'
import { deleteSpentKeys, ensureSigningKey, loadSigningKeys, signingKeysRevision } from '../identity/signing-keys.ts'
import { lazily } from '../lazily.ts'
import { deleteExpiredState, deleteSurplusInteractions } from './adapter.ts'
import type { ProviderOptions } from './provider.ts'

const pollMilliseconds = 400
const leastMillisecondsBetweenLookups = 50
const houseKeepingMilliseconds = 60_000

type Loaded = { provider: Provider; handle: ReturnType<Provider['callback']> }
type Running = { revision: string; loaded: () => Promise<Loaded>; key: JWTVerifyGetKey }

/** The provider with the keys of the moment: a rotation by any process is taken up within a second. */
export class AuthorizationServer {
  readonly #options: Omit<ProviderOptions, 'keys'>
  #running: Running
  #polling: Promise<void> | null = null
  #pollDue = 0
  #isFailing = false
  #houseKeptAt = Number.NEGATIVE_INFINITY
  readonly #timer: NodeJS.Timeout

  private constructor(options: Omit<ProviderOptions, 'keys'>, running: Running) {
    this.#options = options
    this.#running = running
    this.#timer = setInterval(() => void this.#poll(), pollMilliseconds)
    this.#timer.unref()
  }

  static async start(options: Omit<ProviderOptions, 'keys'>): Promise<AuthorizationServer> {
    await ensureSigningKey(options.database, options.secret)
    return new AuthorizationServer(options, await run(options))
  }

  loaded(): Promise<Loaded> {
    return this.#running.loaded()
  }

  /** For the API: the keys that tokens may be signed with. One that another node has just made is looked up at once. */
  readonly key: JWTVerifyGetKey = async (header, token) => {
    try {
      return await this.#running.key(header, token)
    } catch (error) {
      const { errors } = await import('jose')
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      await this.#pollSoon()
      return this.#running.key(header, token)
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#polling
  }

  /** Whoever sends keys that nobody has must not make us ask for each. */
  async #pollSoon(): Promise<void> {
    if (this.#polling) await this.#polling
    if (performance.now() < this.#pollDue) return
    this.#pollDue = performance.now() + leastMillisecondsBetweenLookups
    await this.#poll()
  }

  /** One at a time: who comes while one is under way waits for that. */
  #poll(): Promise<void> {
    this.#polling ??= this.#look().finally(() => {
      this.#polling = null
    })
    return this.#polling
  }

  async #look(): Promise<void> {
    try {
      const revision = await signingKeysRevision(this.#options.database.read)
      if (revision !== this.#running.revision) this.#running = await run(this.#options)
      await this.#keepHouse()
      this.#isFailing = false
    } catch (error) {
      // The keys it has stay good; it says once that it cannot ask for newer ones.
      if (!this.#isFailing && error instanceof Error) this.#options.onError(error)
      this.#isFailing = true
    }
  }

  async #keepHouse(): Promise<void> {
    if (performance.now() - this.#houseKeptAt < houseKeepingMilliseconds) return
    this.#houseKeptAt = performance.now()
    const { database, secret } = this.#options
    await ensureSigningKey(database, secret)
    await deleteSpentKeys(database.query)
    for (const clean of [deleteExpiredState, deleteSurplusInteractions, deleteOldAttempts]) {
      // The next poll goes on with it: a new key need not wait until all is deleted.
      if (await clean(database.query)) this.#houseKeptAt = Number.NEGATIVE_INFINITY
    }
  }
}

const run = async (options: Omit<ProviderOptions, 'keys'>): Promise<Running> => {
  const { read } = options.database
  const revision = await signingKeysRevision(read)
  const keys = await loadSigningKeys(read, options.secret)
  const published = lazily(async () => {
    const { createLocalJWKSet } = await import('jose')
    return createLocalJWKSet({ keys: keys.map(({ publicKey }) => publicKey) })
  })
  return {
    revision,
    loaded: lazily(() => load({ ...options, keys })),
    key: async (header, token) => (await published())(header, token),
  }
}

/** For the first visitor, who waits: it takes long, and a start should not. The keys, which may be refused, are read before. */
const load = async (options: ProviderOptions): Promise<Loaded> => {
  const { buildProvider } = await import('./provider.ts')
  const provider = buildProvider(options)
  return { provider, handle: provider.callback() }
}
