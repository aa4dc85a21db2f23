import { argon2, createHash, randomBytes, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { basePath, type Role, type Scope, scopePrefix } from '@masthead/contract'
import { operator } from '../../src/audit/author.ts'
import { type Application, type NewApplication, registerApplication } from '../../src/identity/people/applications.ts'
import { addMember, createMember } from '../../src/identity/people/members.ts'
import type { Tenant } from '../../src/identity/people/tenants.ts'
import { findUser } from '../../src/identity/people/users.ts'
import { baseUrl, type Service } from '../service.ts'

/** The whole flow as a person, a browser and an application go through it. */
export const resource = baseUrl + basePath
export const callback = 'https://app.example/callback'

export type Person = { id: string; email: string; password: string }

/** A user with a role in each of these tenants. */
export const newPerson = async (
  { database }: Pick<Service, 'database'>,
  ...memberships: readonly [Tenant, Role][]
): Promise<Person> => {
  const person = { email: `${randomUUID()}@example.com`, password: 'correct horse battery' }
  return { ...person, id: await newUser(database, { ...person, name: 'Ada' }, memberships) }
}

/** One account, whose address is proven, with a role in each of these tenants; answers its id. */
export const newUser = async (
  database: Service['database'],
  person: { name: string; email: string; password: string },
  [first, ...others]: readonly [Tenant, Role][],
): Promise<string> => {
  if (!first) throw new Error('a person needs a membership')
  const [{ id: tenantId }, role] = first
  const passwordHash = await cheapHash(person.password)
  const member = { ...person, passwordHash, tenantId, role, isProven: true }
  const { id } = await createMember(database.query, operator, member)
  const user = await findUser(database.query, id)
  for (const [{ id: tenantId }, role] of others)
    if (user) await addMember(database.query, operator, user, { tenantId, role })
  return id
}

/** The hash of an old account names a lower cost. The tests sign in hundreds of times, and each would take 50 ms more. */
const cheapHash = async (password: string): Promise<string> => {
  const given = { memory: 8, passes: 1, parallelism: 1, tagLength: 32, message: password, nonce: randomBytes(16) }
  const tag = await promisify(argon2)('argon2id', given)
  return `$argon2id$v=19$m=8,t=1,p=1${[given.nonce, tag].map((bytes) => `$${unpadded(bytes)}`).join('')}`
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

/** May read contacts and publications and refresh, unless said otherwise. */
export const newApplication = (
  { database }: Pick<Service, 'database'>,
  given: Partial<NewApplication> = {},
): Promise<Application> =>
  registerApplication(database.query, operator, {
    name: 'Test application',
    redirectUris: [callback],
    scopes: ['contacts:read', 'publications:read'],
    isNative: false,
    mayRefresh: true,
    ...given,
  })

export const prefixed = (...scopes: Scope[]): string => scopes.map((scope) => scopePrefix + scope).join(' ')

export const newVerifier = (): string => randomBytes(32).toString('base64url')

export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

/** Parameters of a request; one that is undefined is left out. */
export type Parameters = Readonly<Record<string, string | undefined>>

export const form = (parameters: Parameters): URLSearchParams => {
  const fields = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) fields.set(name, value)
  return fields
}

/** Step 1 of the description, with changes. */
export const authorizationRequest = (application: Application, verifier: string, changes: Parameters = {}): string =>
  `/oauth2/authorize?${form({
    response_type: 'code',
    client_id: application.clientId,
    redirect_uri: application.redirectUris[0],
    scope: `openid ${prefixed(...application.scopes)}`,
    resource,
    state: 'state of the test',
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    ...changes,
  })}`

export type Visit = { status: number; headers: Headers; address: string; location: string; page: string }
type Cookie = { name: string; value: string; path: string }
export type Answers = { person: Person; tenantId?: string; decision?: 'allow' | 'deny' }

/** Keeps cookies by their paths, and presses the buttons of the pages. */
export class Browser {
  readonly #origin: string
  #cookies: Cookie[] = []

  /** Whatever address the service goes by, it is reached at its origin. */
  constructor(origin: string) {
    this.#origin = origin
  }

  /** One request: a form is posted as a page of the service would. */
  async visit(address: string, fields?: Parameters, headers: Record<string, string> = {}): Promise<Visit> {
    const { pathname, search } = new URL(address, this.#origin)
    const response = await fetch(this.#origin + pathname + search, {
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        cookie: this.cookiesAt(pathname),
        ...(fields && { 'sec-fetch-site': 'same-origin' }),
        ...headers,
      },
      ...(fields && { method: 'POST', body: form(fields) }),
    })
    for (const cookie of response.headers.getSetCookie()) this.#keep(cookie)
    const location = response.headers.get('location') ?? ''
    return { status: response.status, headers: response.headers, address, location, page: await response.text() }
  }

  /** The header with which it visits this path. */
  cookiesAt(pathname: string): string {
    return this.#cookies
      .filter(({ path }) => `${pathname}/`.startsWith(path === '/' ? path : `${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  /** Until there is a page, or a redirect to somewhere else. */
  async follow(address: string, fields?: Parameters): Promise<Visit> {
    const visit = await this.visit(address, fields)
    const isOurs = ['/', `${baseUrl}/`, `${this.#origin}/`].some((start) => visit.location.startsWith(start))
    return isOurs ? this.follow(visit.location) : visit
  }

  /** Signs in when asked to, and decides; answers where the application is called back. */
  async answer(address: string, { person, tenantId, decision = 'allow' }: Answers): Promise<URL> {
    let visit = await this.follow(address)
    const signIn = actionOf(visit, 'sign-in')
    if (signIn) visit = await this.follow(signIn, { email: person.email, password: person.password })
    const consent = actionOf(visit, 'consent')
    if (consent) visit = await this.follow(consent, { decision, tenant: tenantId ?? offeredTenants(visit)[0] })
    if (visit.location === '') throw new Error(`the flow ended with ${visit.status} at ${visit.address}: ${visit.page}`)
    return new URL(visit.location)
  }

  #keep(text: string): void {
    const [pair = '', ...attributes] = text.split(/; */)
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? []
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? '/'
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name || cookie.path !== path)
    if (value !== '') this.#cookies.push({ name, value, path })
  }
}

/** Where a form of the page goes; undefined when the page has no such form. */
export const actionOf = (
  { page }: Pick<Visit, 'page'>,
  last: 'sign-in' | 'consent' | 'cancel' | 'switch-user',
): string | undefined => new RegExp(`action="([^"]+/${last})"`).exec(page)?.[1]

export const offeredTenants = ({ page }: Visit): string[] =>
  [...page.matchAll(/name="tenant" value="([^"]+)"/g)].map(([, id = '']) => id)

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
export type TokenAnswer = { status: number; headers: Headers; body: any; text: string }

/** A form posted to an endpoint of the authorization server by an application. */
export const post = async (origin: string, path: string, fields: Parameters | string): Promise<TokenAnswer> => {
  const response = await fetch(origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: typeof fields === 'string' ? fields : form(fields).toString(),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : null, text }
}

/** The fields of step 2, ready to be sent or changed first. */
export type Exchange = Record<'grant_type' | 'client_id' | 'code' | 'redirect_uri' | 'code_verifier', string>

export type Wish = Omit<Answers, 'person'> & { application: Application; person: Person; request?: Parameters }

/** Step 1 by a new browser. */
export const obtainCode = async (
  origin: string,
  { application, person, request, ...answers }: Wish,
): Promise<Exchange> => {
  const verifier = newVerifier()
  const called = await new Browser(origin).answer(authorizationRequest(application, verifier, request), {
    person,
    ...answers,
  })
  const code = called.searchParams.get('code')
  if (code === null) throw new Error(`no code, but ${called}`)
  return {
    grant_type: 'authorization_code',
    client_id: application.clientId,
    code,
    redirect_uri: request?.redirect_uri ?? application.redirectUris[0] ?? '',
    code_verifier: verifier,
  }
}

export type Tokens = {
  access_token: string
  token_type: string
  expires_in: number
  scope: string
  id_token: string
  refresh_token: string
}

/** Steps 1 and 2: what the application holds afterwards. */
export const authorize = async (origin: string, wish: Wish): Promise<Tokens> => {
  const answer = await post(origin, '/oauth2/token', await obtainCode(origin, wish))
  if (answer.status !== 200) throw new Error(`the exchange answered ${answer.status}: ${answer.text}`)
  return answer.body
}

export const refresh = (
  origin: string,
  { clientId }: Application,
  refreshToken: string,
  changes: Parameters = {},
): Promise<TokenAnswer> =>
  post(origin, '/oauth2/token', {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken,
    ...changes,
  })
