import assert from 'node:assert/strict'
import {
  actionOf,
  authorizationRequest,
  authorize,
  Browser,
  callback,
  newApplication,
  newPerson,
  newVerifier,
  obtainCode,
} from '../browsers/oauth-browser.ts'
import { baseUrl, type CallResponse, type Service } from '../service.ts'
import { type CanaryTenant, canariesIn } from './canary-tenant.ts'
import { cookiesHere, type FuzzedVisit, written } from './fuzzed-visits.ts'
import { fill } from './placeholders.ts'
import { Sender } from './sender.ts'
import { wireOf } from './wire.ts'

/** Goes in and out at the authorization server with what a user, a browser and an application hold. */
export class Visitor {
  readonly #sender: Sender
  readonly #known: ReadonlyMap<string, readonly string[]>

  private constructor(origin: string, known: ReadonlyMap<string, readonly string[]>) {
    this.#sender = new Sender(origin)
    this.#known = known
  }

  static async start(service: Service, theirs: CanaryTenant): Promise<Visitor> {
    return new Visitor(service.origin, await belongings(service, theirs))
  }

  close(): void {
    this.#sender.close()
  }

  async visit(visit: FuzzedVisit): Promise<CallResponse> {
    const { method, framing } = visit
    const { target, body, headers } = written(visit)
    // The cookies of the interaction that the path names.
    const [, index = '0'] = /~interactions\.(\d+)~/.exec(target) ?? []
    const all = [...headers, ...visit.headers]
    const wire = wireOf({ method, target, headers: all, body, framing }, (text) =>
      fill(text.replaceAll(cookiesHere, `~cookies.${index}~`), this.#known),
    )
    return this.#sender.send(wire, (answer) => assertSane(wire.target, answer))
  }
}

const several = 2

/** By name, as placeholders ask for them. */
const belongings = async (service: Service, theirs: CanaryTenant): Promise<ReadonlyMap<string, readonly string[]>> => {
  const { origin } = service
  const tenant = await service.newTenant()
  const person = await newPerson(service, [tenant, 'admin'])
  const application = await newApplication(service)
  const known = new Map<string, string[]>([
    ['clients', [application.clientId]],
    ['people', [encodeURIComponent(person.email)]],
    ['tenants', [tenant.id]],
    ['their-tenants', [theirs.tenant.id]],
  ])
  const note = (pool: string, text: string) => known.set(pool, [...(known.get(pool) ?? []), text])
  for (let round = 0; round < several; round++) {
    const { code, code_verifier } = await obtainCode(origin, { application, person })
    note('codes', code)
    note('verifiers', code_verifier)
    const tokens = await authorize(origin, { application, person })
    note('access-tokens', tokens.access_token)
    note('refresh-tokens', tokens.refresh_token)
    note('id-tokens', tokens.id_token)
    for (const page of ['sign-in', 'consent'] as const) {
      const browser = new Browser(origin)
      let visit = await browser.follow(authorizationRequest(application, newVerifier()))
      if (page === 'consent') visit = await browser.follow(actionOf(visit, 'sign-in') ?? '', person)
      const [, uid = ''] = /\/interaction\/([^/]+)\//.exec(actionOf(visit, page) ?? '') ?? []
      assert.notEqual(uid, '')
      note('interactions', uid)
      note(
        'cookies',
        [`/oauth2/interaction/${uid}`, `/oauth2/authorize/${uid}`].map((path) => browser.cookiesAt(path)).join('; '),
      )
    }
  }
  return known
}

/** Nothing failed, nobody is led astray, and nothing is shown that was not meant to be. */
const assertSane = (target: string, answer: CallResponse): void => {
  const { status, headers, text } = answer
  assert.ok(status >= 200 && status < 500, 'the service failed')
  assert.match(headers.get('x-request-id') ?? '', /^[A-Za-z0-9._-]{1,128}$/)
  assert.deepEqual(canariesIn(answer), [])
  const location = headers.get('location')
  if (location !== null) assert.ok(isKnown(location), 'it leads elsewhere')
  for (const cookie of headers.getSetCookie()) {
    assert.match(cookie, /; httponly/i)
    // One with a wrong signature is taken away without it.
    assert.match(cookie, /^[^=]*=;|; samesite=lax/i)
  }
  if (/^\/oauth2\/token(\?|$)/.test(target) && status !== 204) assert.equal(headers.get('cache-control'), 'no-store')
  if (!/^text\/html/.test(headers.get('content-type') ?? '')) return
  assert.ok(!text.includes('<script>alert'), 'what was sent became part of the page')
  if (!target.startsWith('/oauth2')) return
  assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('referrer-policy'), 'no-referrer')
}

/** A path of ours, or the one address that the application registered; a browser takes a backslash for a slash. */
const isKnown = (location: string): boolean =>
  /^\/(?![/\\])/.test(location) ||
  [`${baseUrl}/`, `${callback}?`, `${callback}#`].some((known) => location.startsWith(known))
