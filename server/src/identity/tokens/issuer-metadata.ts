const timeoutMilliseconds = 5_000

/** What an outside issuer says of itself, by OpenID Connect Discovery. */
export const fetchMetadata = async (issuer: string): Promise<Record<string, unknown>> => {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMilliseconds) })
  const metadata: Record<string, unknown> = response.ok ? Object(await response.json()) : {}
  // §4.3: "The issuer value returned MUST be identical to the Issuer URL".
  if (metadata.issuer !== issuer) throw new Error(`${address} is not the metadata of ${issuer}`)
  return metadata
}
