import { performance } from 'node:perf_hooks'
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import { Problem } from '../problem.ts'

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>

const timeoutMilliseconds = 5_000
/** The shortest time between two fetches, whatever keys the tokens name. */
const cooldownMilliseconds = 5_000
const pauseAfterFailureMilliseconds = 1_000
const cacheMilliseconds = 600_000

/** The keys of an outside issuer: discovered by its metadata, fetched at first use, and again for an unknown key. */
export const issuerKeys = (issuer: string, onError: (error: Error) => void): JWTVerifyGetKey => {
  let discovery: Promise<RemoteKeys> | undefined
  let failedAt = Number.NEGATIVE_INFINITY
  let usedAt = Number.NEGATIVE_INFINITY

  const isPausing = () => performance.now() < failedAt + pauseAfterFailureMilliseconds

  const fetchUnlessPausing = async (address: string, options: RequestInit): Promise<Response> => {
    if (isPausing()) throw unavailable()
    return fetch(address, options)
  }

  const discover = async (): Promise<RemoteKeys> => {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const response = await fetchUnlessPausing(address, { signal: AbortSignal.timeout(timeoutMilliseconds) })
    const metadata: Record<string, unknown> = response.ok ? Object(await response.json()) : {}
    // OpenID Connect Discovery §4.3: "The issuer value returned MUST be identical to the Issuer URL".
    if (metadata.issuer !== issuer) throw new Error(`${address} is not the metadata of ${issuer}`)
    return createRemoteJWKSet(new URL(String(metadata.jwks_uri)), {
      timeoutDuration: timeoutMilliseconds,
      cooldownDuration: cooldownMilliseconds,
      cacheMaxAge: cacheMilliseconds,
      [customFetch]: fetchUnlessPausing,
    })
  }

  const isClockSetBack = (): boolean => {
    const before = usedAt
    usedAt = Date.now()
    return usedAt < before - cooldownMilliseconds
  }

  return async (header, token) => {
    let keys: RemoteKeys | undefined
    try {
      discovery ??= discover().catch((error) => {
        discovery = undefined
        throw error
      })
      keys = await discovery
      // The library measures its cooldown by the wall clock: after the clock was set back it would not fetch for long.
      if (isClockSetBack()) await keys.reload().catch(() => {})
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof Error) || error instanceof Problem || !isFaultOfIssuer(error)) throw error
      // Keys that were fetched once stay valid; without any, the metadata is fetched again.
      if (keys && !keys.jwks()) discovery = undefined
      // Several calls may wait for the same fetch: its failure is reported once.
      if (!isPausing()) {
        failedAt = performance.now()
        // `fetch` gives the reason only in the cause.
        onError(error.cause instanceof Error ? error.cause : error)
      }
      throw unavailable()
    }
  }
}

/** Other errors of the library are about the token, which names a key that the issuer does not have. */
const isFaultOfIssuer = (error: Error): boolean =>
  !(error instanceof errors.JOSEError) ||
  error instanceof errors.JWKSTimeout ||
  error instanceof errors.JWKSInvalid ||
  error.code === 'ERR_JOSE_GENERIC'

const unavailable = (): Problem =>
  new Problem('unavailable', 'The issuer of this access token cannot be asked for its keys right now.', {
    headers: { 'retry-after': String(pauseAfterFailureMilliseconds / 1_000) },
  })
