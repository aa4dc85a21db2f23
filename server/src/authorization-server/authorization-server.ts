import type { IncomingMessage, ServerResponse } from 'node:http'
import { createLocalJWKSet, type JWTVerifyGetKey } from 'jose'
import type Provider from 'oidc-provider'
import { deleteOldFailures } from '../identity/sign-in.ts'
import { ensureSigningKey, loadSigningKeys, signingKeysRevision } from '../identity/signing-keys.ts'
import { deleteExpiredState } from './adapter.ts'
import { buildProvider, type ProviderOptions } from './provider.ts'

const pollMilliseconds = 400
const houseKeepingMilliseconds = 60_000

type Running = { revision: string; provider: Provider; handle: ReturnType<Provider['callback']>; key: JWTVerifyGetKey }

/** The provider with the keys of the moment: a rotation by any process is taken up within a second. */
export class AuthorizationServer {
  readonly #options: Omit<ProviderOptions, 'keys'>
  #running: Running
  #timer: NodeJS.Timeout
  #polling: Promise<void> = Promise.resolve()
  #houseKeptAt = 0

  private constructor(options: Omit<ProviderOptions, 'keys'>, running: Running) {
    this.#options = options
    this.#running = running
    this.#timer = setInterval(() => {
      this.#polling = this.#poll()
    }, pollMilliseconds)
    this.#timer.unref()
  }

  static async start(options: Omit<ProviderOptions, 'keys'>): Promise<AuthorizationServer> {
    await options.database.transaction((query) => ensureSigningKey(query, options.secret))
    return new AuthorizationServer(options, await run(options))
  }

  get provider(): Provider {
    return this.#running.provider
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#running.handle(request, response)
  }

  /** For the API: the keys that tokens may be signed with; a token of a newer one has them looked up at once. */
  readonly key: JWTVerifyGetKey = async (header, token) => {
    try {
      return await this.#running.key(header, token)
    } catch (error) {
      if (!(await this.#isBehind())) throw error
      return this.#running.key(header, token)
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#polling
  }

  async #isBehind(): Promise<boolean> {
    const before = this.#running.revision
    await this.#polling
    return this.#running.revision !== before
  }

  async #poll(): Promise<void> {
    try {
      const revision = await signingKeysRevision(this.#options.database.query)
      if (revision !== this.#running.revision) this.#running = await run(this.#options)
      await this.#keepHouse()
    } catch (error) {
      // The keys it has stay good; a database that is gone shows elsewhere.
      if (error instanceof Error) this.#options.onError(error)
    }
  }

  async #keepHouse(): Promise<void> {
    if (Date.now() - this.#houseKeptAt < houseKeepingMilliseconds) return
    this.#houseKeptAt = Date.now()
    const { database, secret } = this.#options
    await database.transaction((query) => ensureSigningKey(query, secret))
    await deleteExpiredState(database.query)
    await deleteOldFailures(database.query)
  }
}

const run = async (options: Omit<ProviderOptions, 'keys'>): Promise<Running> => {
  const { query } = options.database
  const revision = await signingKeysRevision(query)
  const keys = await loadSigningKeys(query, options.secret)
  const provider = buildProvider({ ...options, keys })
  const key = createLocalJWKSet({ keys: keys.map(({ publicKey }) => publicKey) })
  return { revision, provider, handle: provider.callback(), key }
}
