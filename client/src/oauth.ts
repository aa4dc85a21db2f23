import { baseAddress } from './base-address.ts'
import { withDeadline } from './deadline.ts'
import { AuthorizationError, ConnectionError } from './errors.ts'
import { basePath, type Scope, scopePrefix } from './generated/contract.ts'
import {
  type ManagementScope,
  basePath as managementPath,
  scopePrefix as managementPrefix,
} from './generated/management.ts'
import { readObject } from './json-object.ts'
import { base64url, randomText } from './random.ts'

export interface OAuthClientOptions {
  /** Address of the service, as for `Masthead`. */
  baseUrl: string | URL
  /** Address of the authorization server, where it is another one. */
  authUrl?: string | URL | undefined
  /** Of an authorization server outside, where they are at other paths; its access token serves every interface. */
  endpoints?: { authorization: string | URL; token: string | URL } | undefined
  /** As the application was registered: `masthead app register` prints it. */
  clientId: string
  redirectUri: string
  scopes: readonly Scope[]
  /** For the console of Masthead alone: what it may do beside the customer API. */
  managementScopes?: readonly ManagementScope[] | undefined
  /** Called with each new set of tokens, to store them: a refresh token works once. */
  onTokens?: ((tokens: Tokens) => void | Promise<void>) | undefined
}

export interface AuthorizationOptions {
  /** `none`: come back at once, with an error when the user is not signed in. `login`: have the user sign in again. */
  prompt?: 'none' | 'login' | undefined
  /** For the console: the tenant to work in. */
  tenant?: string | undefined
}

/** To be kept until the user comes back, where only this application reads it, as in `sessionStorage`. */
export interface AuthorizationRequest {
  /** Where to send the user. */
  url: string
  state: string
  codeVerifier: string
}

/** Can be stored as JSON. */
export interface Tokens {
  accessToken: string
  /** When the access token expires, in milliseconds since 1970; far in the future where nobody says so, until it is refused. */
  expiresAt: number
  /** Null when the application is not registered for it. */
  refreshToken: string | null
  idToken: string | null
  /** What the user allowed. */
  scopes: string[]
}

const timeoutMilliseconds = 30_000
/** So that a token does not expire on its way. */
const marginMilliseconds = 30_000

/** An application that acts for a user: OAuth 2.0, authorization code with PKCE. */
export class OAuthClient {
  readonly #options: OAuthClientOptions
  readonly #baseUrl: string
  readonly #authUrl: string

  constructor(options: OAuthClientOptions) {
    this.#options = options
    this.#baseUrl = baseAddress(options.baseUrl)
    this.#authUrl = baseAddress(options.authUrl ?? options.baseUrl)
  }

  /** Step 1: keep what it gives, and send the user to its `url`. */
  async createAuthorizationRequest({ prompt, tenant }: AuthorizationOptions = {}): Promise<AuthorizationRequest> {
    const { clientId, redirectUri, scopes, managementScopes } = this.#options
    const [state, codeVerifier] = [randomText(), randomText()]
    const asked = [
      ...scopes.map((scope) => scopePrefix + scope),
      ...(managementScopes ?? []).map((scope) => managementPrefix + scope),
    ]
    const parameters = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: ['openid', ...asked].join(' '),
      resource: this.#baseUrl + basePath,
      state,
      code_challenge: await challengeOf(codeVerifier),
      code_challenge_method: 'S256',
      ...(prompt !== undefined && { prompt }),
      ...(tenant !== undefined && { tenant }),
    })
    if (managementScopes && !this.#options.endpoints) parameters.append('resource', this.#baseUrl + managementPath)
    const url = new URL(this.#options.endpoints?.authorization ?? `${this.#authUrl}/oauth2/authorize`)
    for (const [name, value] of parameters) url.searchParams.append(name, value)
    return { url: url.href, state, codeVerifier }
  }

  /** Step 2: the address to which the user came back, and what `createAuthorizationRequest` gave. */
  async exchange(
    callback: string | URL,
    { state, codeVerifier }: Pick<AuthorizationRequest, 'state' | 'codeVerifier'>,
  ): Promise<OAuthSession> {
    const { searchParams } = new URL(callback)
    if (state === '' || searchParams.get('state') !== state)
      throw new AuthorizationError('state_mismatch', 'the answer belongs to another request: start again')
    // RFC 9207: an answer of another authorization server is not for us.
    const issuer = searchParams.get('iss') ?? this.#authUrl
    if (!URL.canParse(issuer) || baseAddress(issuer) !== this.#authUrl)
      throw new AuthorizationError('issuer_mismatch', `the answer does not come from ${this.#authUrl}`)
    const error = searchParams.get('error')
    if (error !== null)
      throw new AuthorizationError(error, searchParams.get('error_description') ?? 'access was not granted')
    const code = searchParams.get('code')
    if (code === null) throw new AuthorizationError('not_a_callback', 'the address holds neither a code nor an error')
    const { redirectUri, scopes } = this.#options
    const grant = {
      grant_type: 'authorization_code',
      redirect_uri: redirectUri,
      code,
      code_verifier: codeVerifier,
      resource: this.#baseUrl + basePath,
    }
    const tokens = await this.#request(grant, { refreshToken: null, scopes: [...scopes] })
    await this.#options.onTokens?.(tokens)
    return this.resume(tokens)
  }

  /** A session from tokens that were stored. Two sessions of the same tokens would end each other. */
  resume(tokens: Tokens): OAuthSession {
    const renew: Renew = (before, path) => {
      const resource = this.#baseUrl + path
      const grant = { grant_type: 'refresh_token', refresh_token: before.refreshToken, resource }
      return this.#request(grant, before)
    }
    const managementOf = this.#options.endpoints ? null : managementPath
    return new OAuthSession(tokens, renew, this.#options.onTokens, managementOf)
  }

  /** Sent once: a code and a refresh token work once, and who repeats one ends what it gave. */
  async #request(
    grant: Record<string, string>,
    { refreshToken, scopes }: Pick<Tokens, 'refreshToken' | 'scopes'>,
  ): Promise<Tokens> {
    const body = new URLSearchParams({ client_id: this.#options.clientId, ...grant })
    const sentAt = Date.now()
    const { status, text } = await post(String(this.#options.endpoints?.token ?? `${this.#authUrl}/oauth2/token`), body)
    const answer: TokenAnswer = readObject(text) ?? {}
    if (status !== 200 || !answer.access_token) {
      const description = answer.error_description ?? `the authorization server answered with ${status}`
      throw new AuthorizationError(answer.error ?? 'unexpected_answer', description)
    }
    return {
      accessToken: answer.access_token,
      expiresAt: answer.expires_in == null ? latestDate : sentAt + answer.expires_in * 1_000,
      refreshToken: answer.refresh_token ?? refreshToken,
      idToken: answer.id_token ?? null,
      // RFC 6749 §5.1 and §6: where they are not named, they are those that were asked for, or granted before.
      scopes: answer.scope?.split(' ').flatMap((scope) => scope.split(scopePrefix)[1] ?? []) ?? scopes,
    }
  }
}

/** The last that a `Date` can tell, in milliseconds. */
const latestDate = 8.64e15

type Renew = (before: Pick<Tokens, 'scopes'> & { refreshToken: string }, path: string) => Promise<Tokens>

/** The access of one user: gives `Masthead` its tokens, and renews them before they expire or when one is refused. */
export class OAuthSession {
  readonly #renew: Renew
  readonly #onTokens: OAuthClientOptions['onTokens']
  #tokens: Tokens
  #refreshing: Promise<Tokens> | undefined
  #ofManagement: Pick<Tokens, 'accessToken' | 'expiresAt'> | undefined
  /** A refresh token works once, so those who need it take turns. */
  #turn: Promise<unknown> = Promise.resolve()

  readonly #managementPath: string | null

  /** Without a path of its own, the management interface takes the same tokens. */
  constructor(tokens: Tokens, renew: Renew, onTokens: OAuthClientOptions['onTokens'], ofManagement: string | null) {
    this.#managementPath = ofManagement
    this.#tokens = tokens
    this.#renew = renew
    this.#onTokens = onTokens
  }

  get tokens(): Tokens {
    return this.#tokens
  }

  async accessToken(refused?: string): Promise<string> {
    const { accessToken, refreshToken } = this.#tokens
    // Without a refresh token it is for the service to say that the access is over.
    return isOver(this.#tokens, refused) && refreshToken !== null ? (await this.refresh()).accessToken : accessToken
  }

  /** For `Management`, when the client was made with `managementScopes`. */
  readonly management = {
    accessToken: async (refused?: string): Promise<string> => {
      const path = this.#managementPath
      if (path === null) return this.accessToken(refused)
      const known = this.#ofManagement
      if (known && !isOver(known, refused)) return known.accessToken
      return this.#inTurn(async () => {
        // Who waited for the turn finds what the one before got.
        const now = this.#ofManagement
        if (now && now !== known && !isOver(now, refused)) return now.accessToken
        const tokens = await this.#renewOnce(path)
        this.#ofManagement = tokens
        await this.#keep({ ...this.#tokens, refreshToken: tokens.refreshToken })
        return tokens.accessToken
      })
    },
  }

  /** One at a time: who asks meanwhile gets the same tokens. */
  refresh(): Promise<Tokens> {
    this.#refreshing ??= this.#inTurn(async () => {
      await this.#keep(await this.#renewOnce(basePath))
      return this.#tokens
    }).finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => {})
    return result
  }

  #renewOnce(path: string): Promise<Tokens> {
    const { refreshToken, scopes } = this.#tokens
    if (refreshToken === null)
      throw new AuthorizationError('no_refresh_token', 'the application is not registered for refresh tokens')
    return this.#renew({ refreshToken, scopes }, path)
  }

  /** The old ones are spent, also when the new ones cannot be stored. */
  async #keep(tokens: Tokens): Promise<void> {
    this.#tokens = tokens
    await this.#onTokens?.(tokens)
  }
}

const isOver = ({ accessToken, expiresAt }: Pick<Tokens, 'accessToken' | 'expiresAt'>, refused?: string): boolean =>
  refused === undefined ? Date.now() > expiresAt - marginMilliseconds : refused === accessToken

type TokenAnswer = {
  access_token?: string
  expires_in?: number | null
  refresh_token?: string
  id_token?: string
  scope?: string
  error?: string
  error_description?: string
}

const post = (url: string, body: URLSearchParams): Promise<{ status: number; text: string }> =>
  withDeadline(timeoutMilliseconds, undefined, async ({ signal }) => {
    try {
      const response = await fetch(url, { method: 'POST', headers: { accept: 'application/json' }, body, signal })
      return { status: response.status, text: await response.text() }
    } catch (cause) {
      signal.throwIfAborted()
      throw new ConnectionError(`POST ${url}`, cause)
    }
  })

const challengeOf = async (verifier: string): Promise<string> => {
  if (!crypto.subtle) throw new TypeError('PKCE needs Web Crypto, which pages have only by https or on localhost')
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))))
}
