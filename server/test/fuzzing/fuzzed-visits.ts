import { scopes } from '@masthead/contract'
import fc from 'fast-check'
import { callback, prefixed, resource } from '../browsers/oauth-browser.ts'
import { among, joined, mostly, words } from './choices.ts'
import type { Body } from './fuzzed-bodies.ts'
import { inHeader, strangeHeaders } from './fuzzed-headers.ts'
import { hostileText, inUrl } from './hostile-texts.ts'
import { knownAs } from './placeholders.ts'
import { type Framing, framings, type Header } from './wire.ts'

/** A request to the authorization server, or to a page beside the API, before its placeholders are filled. */
export type FuzzedVisit = {
  method: string
  path: string
  fields: readonly Pair[]
  /** Whether the fields stand in the address or in the body, and as what. */
  place: 'query' | 'form' | 'json' | 'multipart'
  headers: Header[]
  framing: Framing
}
type Pair = readonly [name: string, value: string]

/** A door: its path and the fields with which it opens, as they stand in a URL. */
type Door = {
  method: 'GET' | 'POST'
  path: fc.Arbitrary<string>
  fields: Readonly<Record<string, fc.Arbitrary<string>>>
}

const value = (text: string): fc.Arbitrary<string> => fc.constant(encodeURIComponent(text))
const client = { client_id: knownAs('clients') }

const authorization = {
  ...client,
  response_type: value('code'),
  redirect_uri: value(callback),
  scope: mostly(value('openid'), value(`openid ${prefixed('contacts:read')}`)),
  resource: value(resource),
  state: mostly(value('state'), inUrl(hostileText)),
  code_challenge: value('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'),
  code_challenge_method: value('S256'),
}

const grants: Door['fields'][] = [
  {
    ...client,
    grant_type: value('authorization_code'),
    code: knownAs('codes'),
    redirect_uri: value(callback),
    code_verifier: knownAs('verifiers'),
  },
  { ...client, grant_type: value('refresh_token'), refresh_token: knownAs('refresh-tokens') },
]
const tokens = among([1, knownAs('access-tokens')], [1, knownAs('refresh-tokens')], [1, knownAs('codes')])

/** Below an interaction, whose cookies come with it. */
const interaction = (last: string): fc.Arbitrary<string> =>
  knownAs('interactions').map((uid) => `/oauth2/interaction/${uid}${last}`)
const forms: Door[] = Object.entries({
  '/sign-in': { email: knownAs('people'), password: mostly(value('correct horse battery'), inUrl(hostileText)) },
  '/consent': { decision: fc.constantFrom('allow', 'deny'), tenant: knownAs('tenants') },
  '/cancel': {},
  '/switch-user': {},
}).map(([last, fields]) => ({ method: 'POST', path: interaction(last), fields }))

const pages = words(`/oauth2/jwks /.well-known/openid-configuration /.well-known/oauth-authorization-server
  /.well-known/oauth-protected-resource/customer-api/v1 /oauth2 /oauth2/ /oauth2/nothing /oauth2/logout/success
  /customer-api/v1/openapi.json / /docs /docs/ /docs/reference /docs/reference/frame /accounts/1 /t/acme/accounts /assets/x.js /console.json /healthz /readyz /problems/not_found /problems/ /favicon.ico *`)

const at = (path: string): fc.Arbitrary<string> => fc.constant(path)
const doors: Door[] = [
  { method: 'GET', path: at('/oauth2/authorize'), fields: authorization },
  ...grants.map((fields): Door => ({ method: 'POST', path: at('/oauth2/token'), fields })),
  { method: 'POST', path: at('/oauth2/revoke'), fields: { ...client, token: tokens } },
  { method: 'GET', path: at('/oauth2/userinfo'), fields: {} },
  { method: 'GET', path: at('/oauth2/logout'), fields: { ...client, id_token_hint: knownAs('id-tokens') } },
  { method: 'POST', path: at('/oauth2/logout/confirm'), fields: { xsrf: value('x'), logout: value('yes') } },
  { method: 'GET', path: interaction(''), fields: {} },
  { method: 'GET', path: knownAs('interactions').map((uid) => `/oauth2/authorize/${uid}`), fields: {} },
  ...forms,
  { method: 'GET', path: fc.constantFrom(...pages), fields: {} },
  { method: 'GET', path: inUrl(hostileText).map((text) => `/problems/${text}`), fields: {} },
]

/** Parameters and values that other flows and other servers know. */
const otherNames = words(`acr_values assertion audience claims client_assertion client_assertion_type client_secret code
  code_challenge device_code display dpop_jkt id_token_hint iss login_hint logout_hint max_age nonce password prompt
  post_logout_redirect_uri registration request request_uri response_mode scope subject_token tenant token_type_hint
  ui_locales username user_code xsrf __proto__ constructor toString hasOwnProperty grant_type client_id redirect_uri`)
const known = words(`none login consent form_post fragment jwt {} {"userinfo":{"x":null}} 0 -1 1e99 plain access_token
  https://evil.example/ https://app.example/callback/.. https://app.example/callback%23x javascript:alert(1)
  //evil.example /\\evil.example data:text/html,x client_credentials password implicit openid offline_access
  urn:ietf:params:oauth:grant-type:device_code eyJhbGciOiJub25lIn0.e30. ${Object.keys(scopes).join(' ')}`)
const otherValues = among(
  [3, fc.constantFrom(...known.map(encodeURIComponent))],
  [3, inUrl(hostileText)],
  [2, value('"><script>alert(1)</script>')],
  [1, knownAs('access-tokens')],
  [1, knownAs('their-tenants')],
)

const fuzzedFields = (fields: Door['fields']): fc.Arbitrary<Pair[]> => {
  const usual = fc.record(fields).map((record): Pair[] => Object.entries(record))
  const own = Object.keys(fields)
  const names =
    own.length > 0 ? mostly(fc.constantFrom(...own), fc.constantFrom(...otherNames), 1) : fc.constantFrom(...otherNames)
  const other = fc.tuple(mostly(names, inUrl(hostileText)), otherValues)
  return among(
    [4, usual],
    [4, joined(usual, other, (pairs, one) => [...pairs.filter(([name]) => name !== one[0]), one])],
    [2, joined(usual, other, (pairs, one) => [...pairs, one])],
    [2, joined(usual, fc.nat(10), (pairs, index) => pairs.toSpliced(index, 1))],
    [1, joined(usual, fc.array(other, { maxLength: 4 }), (pairs, others) => [...pairs, ...others])],
  )
}

const authorizations = among(
  [2, knownAs('access-tokens').map((token) => `Bearer ${token}`)],
  [1, inHeader(hostileText).map((text) => `Bearer ${text}`)],
  [1, fc.constantFrom('Basic Og==', 'Basic x', 'Basic %00', 'Bearer', 'DPoP x')],
).map((text): Header[] => [['authorization', text]])
/** Visitors put those of the interaction in the place of this. */
export const cookiesHere = '~cookies~'
const cookies = among(
  [6, fc.constant(cookiesHere)],
  [
    1,
    inUrl(hostileText).map((text) => `masthead_session=${text}; masthead_session.sig=x; masthead_interaction=${text}`),
  ],
  [1, fc.constant('')],
).map((text): Header[] => [['cookie', text]])

const otherMethods = fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY')
const places = fc.constantFrom<FuzzedVisit['place'][]>('query', 'form', 'json', 'multipart')

/** Visits to every door, most of them with what opens it, but for one thing. */
export const fuzzedVisit: fc.Arbitrary<FuzzedVisit> = fc.oneof(
  ...doors.map(({ method, path, fields }) => {
    const beyond = joined(path, inUrl(hostileText), (one, more) => `${one}/${more}`)
    const headers = fc.tuple(cookies, mostly(fc.constant<Header[]>([]), authorizations, 3), strangeHeaders)
    return fc.record({
      method: mostly<string>(fc.constant(method), otherMethods, 8),
      path: mostly(path, beyond, 15),
      fields: fuzzedFields(fields),
      place: mostly(fc.constant(method === 'GET' ? 'query' : 'form'), places, 10),
      headers: headers.map((some) => some.flat()),
      framing: mostly<Framing>(fc.constant('length'), fc.constantFrom(...framings), 15),
    })
  }),
)

const encoded = (pairs: readonly Pair[]): string => pairs.map((pair) => pair.join('=')).join('&')

/** The address, the body and its content type. */
export const written = (visit: FuzzedVisit): { target: string; body: Body | null; headers: Header[] } => {
  const { path, fields, place } = visit
  const sent = (type: string, text: string) => ({
    target: path,
    body: [text],
    headers: [['content-type', type] as const],
  })
  switch (place) {
    case 'query':
      return { target: fields.length > 0 ? `${path}?${encoded(fields)}` : path, body: null, headers: [] }
    case 'form':
      return sent('application/x-www-form-urlencoded', encoded(fields))
    case 'json':
      return sent('application/json', JSON.stringify(Object.fromEntries(fields)))
    case 'multipart':
      return sent('multipart/form-data; boundary=x', `${fields.map(part).join('')}--x--`)
  }
}
const part = ([name, text]: Pair): string => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
