import { performance } from 'node:perf_hooks'
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import { lazily } from '../../lazily.ts'
import { Problem, unavailable } from '../../problem.ts'
import { fetchMetadata } from './issuer-metadata.ts'

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>

const timeoutMilliseconds = 5_000
/** The shortest time between two fetches, whatever keys the tokens name. */
const cooldownMilliseconds = 5_000
const pauseAfterFailureMilliseconds = 1_000
const cacheMilliseconds = 600_000

/** The keys of an outside issuer: discovered by its metadata, fetched at first use, and again for an unknown key. */
export const issuerKeys = (issuer: string, onError: (error: Error) => void): JWTVerifyGetKey => {
  let failedAt = Number.NEGATIVE_INFINITY
  let usedAt = Number.NEGATIVE_INFINITY

  const isPausing = () => performance.now() < failedAt + pauseAfterFailureMilliseconds

  const fetchUnlessPausing = async (address: string, options: RequestInit): Promise<Response> => {
    if (isPausing()) throw issuerUnavailable()
    return fetch(address, options)
  }

  const discover = async (): Promise<RemoteKeys> => {
    if (isPausing()) throw issuerUnavailable()
    const { jwks_uri } = await fetchMetadata(issuer)
    return createRemoteJWKSet(new URL(String(jwks_uri)), {
      timeoutDuration: timeoutMilliseconds,
      cooldownDuration: cooldownMilliseconds,
      cacheMaxAge: cacheMilliseconds,
      [customFetch]: fetchUnlessPausing,
    })
  }
  let discovered = lazily(discover)

  const isClockSetBack = (): boolean => {
    const before = usedAt
    usedAt = Date.now()
    return usedAt < before - cooldownMilliseconds
  }

  return async (header, token) => {
    let keys: RemoteKeys | undefined
    try {
      keys = await discovered()
      // The library measures its cooldown by the wall clock: after the clock was set back it would not fetch for long.
      if (isClockSetBack()) await keys.reload().catch(() => {})
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof Error) || error instanceof Problem || !isFaultOfIssuer(error)) throw error
      // Keys that were fetched once stay valid; without any, the metadata is fetched again.
      if (keys && !keys.jwks()) discovered = lazily(discover)
      // Several calls may wait for the same fetch: its failure is reported once.
      if (!isPausing()) {
        failedAt = performance.now()
        // `fetch` gives the reason only in the cause.
        onError(error.cause instanceof Error ? error.cause : error)
      }
      throw issuerUnavailable()
    }
  }
}

/** Other errors of the library are about the token, which names a key that the issuer does not have. */
const isFaultOfIssuer = (error: Error): boolean =>
  !(error instanceof errors.JOSEError) ||
  error instanceof errors.JWKSTimeout ||
  error instanceof errors.JWKSInvalid ||
  error.code === 'ERR_JOSE_GENERIC'

const issuerUnavailable = (): Problem =>
  unavailable(
    'The issuer of this access token cannot be asked for its keys right now.',
    pauseAfterFailureMilliseconds / 1_000,
  )
