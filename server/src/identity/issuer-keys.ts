import { performance } from 'node:perf_hooks'
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import { Problem } from '../problem.ts'

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>

const timeoutMilliseconds = 5_000
/** The least between two fetches, whatever keys tokens name. */
const cooldownMilliseconds = 5_000
/** The least after a fetch that failed. */
const pauseMilliseconds = 1_000
const longestUseMilliseconds = 600_000

/** The keys of an outside issuer: found by its metadata, fetched when first needed, again on an unknown key. */
export class IssuerKeys {
  readonly #issuer: string
  readonly #onError: (error: Error) => void
  #keys: Promise<RemoteKeys> | undefined
  #failedAt = Number.NEGATIVE_INFINITY
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(issuer: string, onError: (error: Error) => void) {
    this.#issuer = issuer
    this.#onError = onError
  }

  readonly key: JWTVerifyGetKey = async (header, token) => {
    let keys: RemoteKeys | undefined
    try {
      this.#keys ??= this.#discover().catch((error) => {
        this.#keys = undefined
        throw error
      })
      keys = await this.#keys
      // The library tells by the clock when it has last fetched them; set back, it would not fetch again until then.
      if (this.#isClockSetBack()) await keys.reload().catch(() => {})
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof Error) || error instanceof Problem || !isFaultOfIssuer(error)) throw error
      // Keys that it once gave stay good; without any its metadata is asked for again.
      if (keys && !keys.jwks()) this.#keys = undefined
      this.#noteFailure(error)
      throw unavailable()
    }
  }

  async #discover(): Promise<RemoteKeys> {
    const address = `${this.#issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const response = await this.#fetch(address, { signal: AbortSignal.timeout(timeoutMilliseconds) })
    const { issuer, jwks_uri }: Record<string, unknown> = response.ok ? Object(await response.json()) : {}
    // OpenID Connect Discovery §4.3: "The issuer value returned MUST be identical to the Issuer URL".
    if (issuer !== this.#issuer) throw new Error(`${address} is not the metadata of ${this.#issuer}`)
    return createRemoteJWKSet(new URL(String(jwks_uri)), {
      ...{ timeoutDuration: timeoutMilliseconds, cooldownDuration: cooldownMilliseconds },
      ...{ cacheMaxAge: longestUseMilliseconds, [customFetch]: this.#fetch },
    })
  }

  readonly #fetch = async (address: string, options: RequestInit): Promise<Response> => {
    if (this.#isPausing()) throw unavailable()
    return fetch(address, options)
  }

  #isClockSetBack(): boolean {
    const before = this.#askedAt
    this.#askedAt = Date.now()
    return this.#askedAt < before - cooldownMilliseconds
  }

  #isPausing(): boolean {
    return performance.now() < this.#failedAt + pauseMilliseconds
  }

  #noteFailure(error: Error): void {
    // Several calls wait for the same fetch.
    if (this.#isPausing()) return
    this.#failedAt = performance.now()
    // `fetch` tells why in the cause alone.
    this.#onError(error.cause instanceof Error ? error.cause : error)
  }
}

/** The others are about the token, which names a key that the issuer does not have. */
const isFaultOfIssuer = (error: Error): boolean =>
  !(error instanceof errors.JOSEError) ||
  error instanceof errors.JWKSTimeout ||
  error instanceof errors.JWKSInvalid ||
  error.code === 'ERR_JOSE_GENERIC'

const unavailable = (): Problem =>
  new Problem('unavailable', 'The issuer of this access token cannot be asked for its keys right now.', {
    headers: { 'retry-after': String(pauseMilliseconds / 1_000) },
  })
