import { METHODS } from 'node:http'
import { type NamedOperation, operations, resourceNames } from '@masthead/contract'
import fc from 'fast-check'
import { among, joined, mostly } from './choices.ts'
import { type Body, fuzzedBody, propertiesOf, type Schema } from './fuzzed-bodies.ts'
import { fuzzedHeaders, inHeader } from './fuzzed-headers.ts'
import { harmlessText, hostileText, inUrl } from './hostile-texts.ts'
import { knownAs, poolOf } from './placeholders.ts'
import { tokenKinds } from './token-kinds.ts'
import { type Framing, framings, type Header } from './wire.ts'

/** A request before its placeholders are filled. */
export type FuzzedRequest = {
  /** The name of the operation that it was made from. */
  operation: string
  method: string
  /** Below the base path. */
  path: string
  /** With its question mark. */
  query: string
  authorization: Authorization
  headers: Header[]
  body: Body | null
  framing: Framing
}
export type Authorization = { scheme: string; kind: string } | { text: string } | null

const fuzzedPath = ({ operation, resource }: NamedOperation): fc.Arbitrary<string> => {
  const identifier = among(
    [40, knownAs(poolOf.own(resource.name))],
    [3, knownAs(poolOf.theirs(resource.name))],
    [1, fc.oneof(...resourceNames.map((name) => knownAs(poolOf.own(name))))],
    [1, fc.uuid()],
    [4, inUrl(hostileText)],
    [1, fc.constantFrom('%', '%zz', '%ff', 'a%c3%28', '%ed%a0%80', '%00', 'a'.repeat(9_000))],
  )
  const straight = fc.constant((path: string) => path)
  return joined(identifier, mostly(straight, fc.constantFrom(...bends), 15), (one, bend) =>
    bend(operation.path).replace(/\{\w+\}/, () => one),
  )
}

/** What becomes of a path on its way through careless hands. */
const bends: ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.replaceAll('/', '//'),
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => path.toUpperCase(),
  (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => `/${path.slice(1).replaceAll('/', '%2F')}`,
  (path) => `${path};a=b`,
  (path) => `${path}.json`,
  (path) => `${path}#x`,
  (path) => `${path}/x`,
  (path) => path.replace(/\w+/, ''),
  () => '',
]

const fuzzedQuery = ({ operation }: NamedOperation): fc.Arbitrary<string> => {
  const known = propertiesOf(operation.query)
  const pair = ([name, schema]: [string, Schema]) =>
    mostly(
      fc.constant(''),
      allowed(name, schema).map((value) => `${name}=${value}`),
      2,
    )
  const pairs = fc.tuple(...known.map(pair)).map((some) => some.filter(Boolean))
  const names = [...known.map(([name]) => name), 'page', 'x', '__proto__', 'access_token']
  const strange = among(
    [8, joined(fc.constantFrom(...names), inUrl(hostileText), (name, value) => `${name}=${value}`)],
    [2, joined(inUrl(hostileText), inUrl(hostileText), (name, value) => `${name}=${value}`)],
    [2, fc.constantFrom('', '&', '=', '?', 'a[]=1', 'a[b]=1', 'page', 'page=', '%zz=1', 'x=%', '+', 'page=+1')],
    [1, fc.constantFrom('q&'.repeat(600), 'page=1&'.repeat(600), 'x'.repeat(9_000))],
  )
  const spoiled = fc.tuple(pairs, strange, fc.nat(5)).map(([some, one, at]) => some.toSpliced(at, 0, one))
  return mostly(pairs, spoiled, operation.query ? 3 : 12).map((some) => (some.length > 0 ? `?${some.join('&')}` : ''))
}

/** Values of a parameter as they stand in a URL. */
const allowed = (name: string, schema: Schema): fc.Arbitrary<string> => {
  const { type, maximum = 1, maxLength = 30, reference: referred, enum: choices, format } = schema
  // Nobody has time for more.
  if (name === 'wait') return fc.constantFrom('0', '1')
  if (type === 'number') return mostly(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: maximum })).map(String)
  if (type === 'boolean') return fc.boolean().map(String)
  if (referred) return mostly(knownAs(poolOf.own(referred)), knownAs(poolOf.theirs(referred)))
  if (choices) return fc.constantFrom(...choices.map(String))
  if (format === 'date') return fc.constantFrom('2026-01-31', '2024-02-29', '0001-01-01', '9999-12-31')
  if (format === 'date-time')
    return fc.constantFrom('2026-01-31T10:00:00Z', '0001-01-01T00:00:00.000Z', '2030-01-01T00:00:00%2B02:00')
  if (name === 'cursor') return knownAs('cursors')
  if (name === 'after') return knownAs('change-cursors')
  if (name === 'resources') return fc.constantFrom('contacts', 'contacts,accounts', 'invoices', 'tasks')
  const words = fc.constantFrom('active', 'OPEN', 'ada', 'a', 'canary', 'k%C3%B6ln', 'company%20a')
  return mostly(words, inUrl(harmlessText(maxLength)))
}

const fuzzedAuthorization = among<Authorization>(
  [40, fc.constant({ scheme: 'Bearer ', kind: 'every scope' })],
  [7, fc.record({ scheme: fc.constant('Bearer '), kind: fc.constantFrom(...tokenKinds) })],
  [
    1,
    fc.record({
      scheme: fc.constantFrom('bearer ', 'BEARER   ', 'Basic ', 'Bearer', ''),
      kind: fc.constantFrom(...tokenKinds),
    }),
  ],
  [1, inHeader(hostileText).map((text) => ({ text: `Bearer ${text}` }))],
  [1, fc.constant(null)],
)

const otherMethods = fc.constantFrom('HEAD', 'OPTIONS', 'get', 'FETCH', ...METHODS.filter((one) => one !== 'CONNECT'))

/** Requests for every operation of the contract, most of them right in most respects. */
export const fuzzedRequest: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  ...operations.map((named) =>
    fc.record({
      operation: fc.constant(named.name),
      method: mostly<string>(fc.constant(named.operation.method), otherMethods, 15),
      path: fuzzedPath(named),
      query: fuzzedQuery(named),
      authorization: fuzzedAuthorization,
      headers: fuzzedHeaders(named.operation),
      body: fuzzedBody(named.operation),
      framing: mostly<Framing>(fc.constant('length'), fc.constantFrom(...framings), 10),
    }),
  ),
)
