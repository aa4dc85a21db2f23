import { customerApi, managementApi } from '@masthead/contract'
import { consoleId } from '../../src/identity/people/applications.ts'
import { baseUrl, type CallOptions, type CallResponse, callAt } from '../service.ts'
import {
  actionOf,
  Browser,
  challengeOf,
  form,
  newVerifier,
  type Parameters,
  type Person,
  post,
} from './oauth-browser.ts'

export type ConsoleTokens = { customer: string; management: string; refreshToken: string }

/** The console in a browser, as its tokens come and go. */
export class ConsoleBrowser {
  readonly #origin: string
  readonly #callback: string
  readonly #resources: string[]
  readonly #browser: Browser

  /** Of a service that is reached at this origin, whatever it calls itself. */
  constructor(origin: string, ownName = baseUrl) {
    this.#origin = origin
    this.#callback = `${ownName}/signed-in`
    this.#resources = [customerApi, managementApi].map(({ basePath }) => ownName + basePath)
    this.#browser = new Browser(origin)
  }

  /** Where the console is called back; the person signs in when asked to. */
  async callBack(person: Person | null, changes: Parameters = {}): Promise<{ called: URL; verifier: string }> {
    const { address, verifier } = this.addressOf(changes)
    return { called: await this.walk(address, person), verifier }
  }

  /** A request outside of the flow, with its cookies. */
  visit(address: string, fields?: Parameters) {
    return this.#browser.visit(address, fields)
  }

  /** The authorization request of the console. */
  addressOf(changes: Parameters = {}): { address: string; verifier: string } {
    const verifier = newVerifier()
    const parameters = form({
      response_type: 'code',
      client_id: consoleId,
      redirect_uri: this.#callback,
      state: 'state',
      scope: scope,
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
      ...changes,
    })
    for (const resource of this.#resources) parameters.append('resource', resource)
    return { address: `/oauth2/authorize?${parameters}`, verifier }
  }

  /** From an authorization request to where it ends. */
  async walk(address: string, person: Person | null): Promise<URL> {
    let visit = await this.#browser.visit(address)
    while (!visit.location.includes('/signed-in?')) {
      const signIn = actionOf(visit, 'sign-in')
      if (visit.location !== '') visit = await this.#browser.visit(visit.location)
      else if (signIn && person && visit.status === 200)
        visit = await this.#browser.visit(signIn, { email: person.email, password: person.password })
      else throw new Error(`the flow ended with ${visit.status} at ${visit.address}: ${visit.page}`)
    }
    return new URL(visit.location)
  }

  async signIn(person: Person | null, changes: Parameters = {}): Promise<ConsoleTokens> {
    const { called, verifier } = await this.callBack(person, changes)
    const code = called.searchParams.get('code')
    if (code === null) throw new Error(`no code, but ${called}`)
    const [first, second] = this.#resources
    const exchanged = await post(this.#origin, '/oauth2/token', {
      grant_type: 'authorization_code',
      client_id: consoleId,
      redirect_uri: this.#callback,
      resource: first,
      code,
      code_verifier: verifier,
    })
    if (exchanged.status !== 200) throw new Error(`the exchange answered ${exchanged.text}`)
    const refreshed = await this.refresh(exchanged.body.refresh_token, second)
    if (refreshed.status !== 200) throw new Error(`the refresh answered ${refreshed.text}`)
    return {
      customer: exchanged.body.access_token,
      management: refreshed.body.access_token,
      refreshToken: refreshed.body.refresh_token,
    }
  }

  refresh(refreshToken: string, resource = this.#resources[0]) {
    return post(this.#origin, '/oauth2/token', {
      grant_type: 'refresh_token',
      client_id: consoleId,
      refresh_token: refreshToken,
      resource,
    })
  }
}

const scope = `openid ${[customerApi, managementApi]
  .flatMap((api) => api.scopes.map((name) => api.scopePrefix + name))
  .join(' ')}`

export const manage = (origin: string, method: string, path: string, options?: CallOptions): Promise<CallResponse> =>
  callAt(origin, method, `//${managementApi.basePath.slice(1)}${path}`, options)
