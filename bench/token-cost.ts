import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, serve } from './served.ts'
import { measure, report } from './timing.ts'

/** What a delegated token costs a call, beside a personal access token: `npm run bench:tokens`. */
const rounds = 2_000
const callback = 'http://127.0.0.1:9/callback'
const person = { email: 'ada@example.com', password: 'correct horse battery' }

const main = async (): Promise<void> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'masthead-bench-'))
  const served = await serve(dataDirectory)
  try {
    const { origin, api, masthead } = served
    masthead('tenant', 'create', 'bench', '--name', 'Bench')
    const member = [
      '--tenant',
      'bench',
      '--email',
      person.email,
      '--name',
      'Ada',
      '--role',
      'admin',
      '--password-stdin',
    ]
    run(dataDirectory, 'masthead', ['user', 'create', ...member], person.password)
    const scopes = ['--scopes', 'publications:read', '--name', 'bench', '--json']
    const personal = JSON.parse(masthead('token', 'create', '--tenant', 'bench', '--user', person.email, ...scopes))
    const application = JSON.parse(masthead('app', 'register', '--redirect-uri', callback, ...scopes))
    const delegated = await authorize(origin, api, application.clientId)
    const call = (token: string) => () => fetchOnce(`${api}/publications`, token)
    const workloads = [
      { name: 'personal access token', measure: call(personal.token) },
      { name: 'delegated token', measure: call(delegated) },
    ]
    report(await measure(workloads, rounds), [
      { name: 'delegated ÷ personal', of: 'delegated token', by: 'personal access token', most: 1.3 },
    ])
  } finally {
    await served.stop()
    await rm(dataDirectory, { recursive: true, force: true })
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

const fetchOnce = (address: string, token: string): Promise<void> =>
  new Promise((done, fail) => {
    get(address, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response
        .resume()
        .on('end', () => (response.statusCode === 200 ? done() : fail(new Error(`${response.statusCode}`))))
    }).on('error', fail)
  })

/** The whole flow as a browser and an application would do it. */
const authorize = async (origin: string, api: string, clientId: string): Promise<string> => {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const browser = newBrowser(origin)
  const request = new URLSearchParams({
    ...{ response_type: 'code', client_id: clientId, redirect_uri: callback, resource: api, state: 'bench' },
    ...{ scope: 'openid service-api/publications:read', code_challenge: challenge, code_challenge_method: 'S256' },
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
      ...{
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        redirect_uri: callback,
        code_verifier: verifier,
      },
    }),
  })
  const { access_token } = (await response.json()) as { access_token: string } // RFC 6749 §5.1
  return access_token
}

const newBrowser = (origin: string) => {
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

await main()
