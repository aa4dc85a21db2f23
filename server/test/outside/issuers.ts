import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { after } from 'node:test'
import { scopePrefix } from '@masthead/contract'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'
import * as client from 'openid-client'
import { allScopes } from '../../src/identity/people/roles.ts'
import { freeAddress } from '../service.ts'

/** An identity provider of somebody else's, on a port of its own; the test holds its keys. */
export type Issuer = {
  issuer: string
  /** The paths that were asked for, in order. */
  requests: string[]
  /** From now on it answers so. */
  answer: (listener: RequestListener) => void
  up: () => Promise<void>
  down: () => Promise<void>
}

export const startIssuer = async (path = ''): Promise<Issuer> => {
  const origin = await freeAddress()
  const requests: string[] = []
  let listener: RequestListener = (_request, response) => void response.writeHead(404).end()
  let server: Server | undefined
  const down = async () => {
    if (!server) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    server = undefined
  }
  const up = async () => {
    server = createServer((request, response) => {
      requests.push(new URL(request.url ?? '', origin).pathname)
      // Nobody waits for an idle connection when it goes down.
      response.setHeader('connection', 'close')
      listener(request, response)
    }).listen(Number(new URL(origin).port), '127.0.0.1')
    await once(server, 'listening')
  }
  await up()
  after(down)
  return { issuer: origin + path, requests, up, down, answer: (next) => (listener = next) }
}

export type Key = { kid: string; alg: string; privateKey: CryptoKey; publicKey: CryptoKey; publicJwk: JWK }

export const newKey = async (kid: string, alg = 'RS256'): Promise<Key> => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, publicKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

export const sign = (key: Key, claims: JWTPayload, typ?: string): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: key.alg, kid: key.kid, ...(typ && { typ }) }).sign(key.privateKey)

/** Metadata and keys, which is all that an API asks of an issuer. */
export const metadataAndKeys =
  (issuer: string, keys: readonly Key[], more: Record<string, unknown> = {}): RequestListener =>
  (request, response) => {
    const documents: Record<string, unknown> = {
      '/.well-known/openid-configuration': { issuer, jwks_uri: `${issuer}/jwks.json`, ...more },
      '/jwks.json': { keys: keys.map(({ publicJwk }) => publicJwk) },
    }
    const document = documents[(request.url ?? '').slice(new URL(issuer).pathname.replace(/\/$/, '').length)]
    if (document) response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
    else response.writeHead(404).end()
  }

/** What the provider knows of a user, and says in access tokens. */
export type Account = Record<string, unknown>
const callback = 'https://ledger.example/callback'

/** A real OpenID provider, that signs with the first key: whoever comes is who the application hints at. */
export const realProvider = async (
  issuer: string,
  keys: readonly Key[],
  { clients, accounts }: { clients: readonly string[]; accounts: ReadonlyMap<string, Account> },
): Promise<RequestListener> => {
  const provider = new Provider(issuer, {
    clients: clients.map((client_id) => ({
      client_id,
      redirect_uris: [callback],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
      response_types: ['code'],
    })),
    jwks: { keys: await Promise.all(keys.map(privateJwk)) },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_ctx, audience) => ({
          scope: allScopes.map((scope) => scopePrefix + scope).join(' '),
          audience,
          accessTokenTTL: 600,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: async (_ctx, sub) => ({ accountId: sub, claims: async () => ({ sub, ...accounts.get(sub) }) }),
    extraTokenClaims: async (_ctx, token) => ('accountId' in token ? accounts.get(token.accountId ?? '') : undefined),
    loadExistingGrant: async (ctx) => {
      const { client: application, session, params } = ctx.oidc
      const grant = new provider.Grant({
        accountId: session?.accountId ?? '',
        clientId: application?.clientId ?? '',
      })
      grant.addOIDCScope('openid')
      grant.addResourceScope(String(params?.resource), String(params?.scope))
      await grant.save()
      return grant
    },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  })
  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith('/interaction/')) return next()
    const { params } = await provider.interactionDetails(ctx.req, ctx.res)
    ctx.respond = false
    await provider.interactionFinished(ctx.req, ctx.res, { login: { accountId: String(params.login_hint) } })
  })
  return provider.callback()
}

const privateJwk = async ({ privateKey, kid, alg }: Key) => {
  const { kty = '', ...members } = await exportJWK(privateKey)
  return { ...members, kty, kid, alg, use: 'sig' }
}

/** The code flow with PKCE at a real provider, as an application and a browser go through it. */
export const authorize = async (
  issuer: string,
  given: { clientId: string; subject: string; resource: string; scope: string },
): Promise<{ accessToken: string; idToken: string }> => {
  const configuration = await client.discovery(new URL(issuer), given.clientId, undefined, client.None(), {
    execute: [client.allowInsecureRequests],
  })
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const first = client.buildAuthorizationUrl(configuration, {
    redirect_uri: callback,
    scope: `openid ${given.scope}`,
    resource: given.resource,
    login_hint: given.subject,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const landed = await followRedirects(first)
  const tokens = await client.authorizationCodeGrant(configuration, landed, { pkceCodeVerifier, idTokenExpected: true })
  return { accessToken: tokens.access_token, idToken: tokens.id_token ?? '' }
}

const followRedirects = async (from: URL): Promise<URL> => {
  const cookies = new Map<string, string>()
  let address = from
  for (let steps = 0; !address.href.startsWith(callback); steps += 1) {
    if (steps === 10) throw new Error(`the provider goes round in circles: ${address}`)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(address, { redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (!location) throw new Error(`${address} answered ${response.status}: ${await response.text()}`)
    address = new URL(location, address)
  }
  return address
}
