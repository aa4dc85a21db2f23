import { createHash, randomBytes } from 'node:crypto'
import { run, type Served } from './served.ts'

const callback = 'http://127.0.0.1:9/callback'

/**
 * Makes a member of a tenant; each call gets an access token for an application that acts for that member. It lives for ten
 * minutes. (Another application each time, because the one before has the consent already.)
 */
export const delegatedTokens = (dataDirectory: string, served: Served, tenant: string): (() => Promise<string>) => {
  const person = { email: `ada-${Date.now()}@example.com`, password: 'correct horse battery' }
  const member = ['--tenant', tenant, '--email', person.email, '--name', 'Ada', '--role', 'editor', '--password-stdin']
  run(dataDirectory, 'masthead', ['user', 'create', ...member], person.password)
  const words = ['--name', 'Bench', '--redirect-uri', callback, '--scopes', 'contacts:read', '--json']
  return () => authorize(served, JSON.parse(served.masthead('app', 'register', ...words)).clientId, person)
}

/** The whole flow as a browser and an application would do it. */
const authorize = async (
  { origin, api }: Served,
  clientId: string,
  person: { email: string; password: string },
): Promise<string> => {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const browser = newBrowser(origin)
  const request = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callback,
    resource: api,
    state: 'bench',
    scope: 'openid service-api/contacts:read',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const signIn = await browser(`/oauth2/authorize?${request}`)
  const resumed = await browser(`${signIn.location}/sign-in`, person)
  const consent = await browser((await browser(resumed.location)).location)
  const tenant = /name="tenant" value="([^"]+)"/.exec(consent.page)?.[1] ?? ''
  const allowed = await browser(`${consent.address}/consent`, { decision: 'allow', tenant })
  const code = new URL((await browser(allowed.location)).location).searchParams.get('code') ?? ''
  const response = await fetch(`${origin}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      redirect_uri: callback,
      code_verifier: verifier,
    }),
  })
  const { access_token } = (await response.json()) as { access_token: string } // RFC 6749 §5.1
  return access_token
}

export const newBrowser = (origin: string) => {
  const cookies = new Map<string, string>()
  return async (path: string, form?: Record<string, string>) => {
    const address = new URL(path, origin)
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    return { address: address.pathname, location: response.headers.get('location') ?? '', page: await response.text() }
  }
}
