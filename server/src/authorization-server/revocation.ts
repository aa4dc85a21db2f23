import { customerApi, managementApi } from '@masthead/contract'
import { createLocalJWKSet, jwtVerify } from 'jose'
import type { KoaContextWithOIDC } from 'oidc-provider'
import type { Database } from '../database/database.ts'
import type { SigningKey } from '../identity/tokens/signing-keys.ts'
import { revokeGrant } from './adapter.ts'
import { visitorOf } from './visitors.ts'

type Options = { database: Database; issuer: string; baseUrl: string; keys: SigningKey[] }

/** The provider does not revoke access tokens, which it does not store: we revoke the grant of the token. */
export const revokeAccessTokens = ({ database, issuer, baseUrl, keys }: Options) => {
  const key = createLocalJWKSet({ keys: keys.map(({ publicKey }) => publicKey) })
  const audience = [customerApi, managementApi].map(({ basePath }) => baseUrl + basePath)
  const expected = { issuer, audience, typ: 'at+jwt', algorithms: ['RS256'] }
  return async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    await next()
    if (ctx.oidc?.route !== 'revocation' || Object(ctx.body).error !== 'unsupported_token_type') return
    const { client, params } = ctx.oidc
    const { payload } = await jwtVerify(String(params?.token), key, expected).catch(() => ({ payload: null }))
    if (payload && payload.client_id === client?.clientId)
      await revokeGrant(database, visitorOf(ctx.req), String(payload.grant))
    // RFC 7009 §2.2: "invalid tokens do not cause an error response"
    ctx.status = 200
    ctx.body = ''
    ctx.remove('content-type')
  }
}
