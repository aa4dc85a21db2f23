import { mediaTypesOf, type Operation } from '@masthead/contract'
import fc from 'fast-check'
import { among, mostly } from './choices.ts'
import { hostileText } from './hostile-texts.ts'
import { knownAs } from './placeholders.ts'
import type { Header } from './wire.ts'

export const inHeader = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  text.map((one) => one.replaceAll(/[\r\n]/g, ''))

const named = (name: string, value: fc.Arbitrary<string>): fc.Arbitrary<Header[]> =>
  inHeader(value).map((text): Header[] => [[name, text]])
const none = fc.constant<Header[]>([])

/** The headers that mean something to the operation, and some that mean nothing to anybody. */
export const fuzzedHeaders = (operation: Operation): fc.Arbitrary<Header[]> => {
  const { method, body } = operation
  const types = mostly(
    fc.constantFrom(...mediaTypesOf(operation)),
    mostly(fc.constantFrom(...contentTypes), hostileText),
    15,
  )
  return fc
    .tuple(
      body ? named('content-type', types) : none,
      mostly(none, named(method === 'GET' ? 'if-none-match' : 'if-match', tags), 2),
      method === 'POST' ? mostly(none, named('idempotency-key', keys), 1) : none,
      mostly(none, named('x-request-id', mostly(fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/), hostileText))),
      strangeHeaders,
    )
    .map((headers) => headers.flat())
}

const tags = among(
  [4, knownAs('tags')],
  [1, fc.tuple(knownAs('tags'), knownAs('tags')).map((some) => some.join(', '))],
  [1, fc.constantFrom('*', '"x"', 'W/"x"', '""', 'x', '"a" "b"', '*, "a"')],
  [1, hostileText],
)

const keys = among(
  [5, fc.nat(30).map((number) => `key ${number}`)],
  [3, fc.uuid()],
  [1, hostileText],
  [1, fc.constantFrom('x'.repeat(255), 'x'.repeat(256))],
)

const contentTypes = `text/plain; application/xml; multipart/form-data; APPLICATION/JSON; application/merge-patch+json;
  application/json-patch+json; application/json,text/plain; application/json;charset=utf-8;
  application/json;charset=latin1; application/json;; */*`.split(/;\s+/)

const strange = `accept: text/html
  accept: application/json;q=0
  accept-charset: utf-7
  accept-encoding: gzip, br, *;q=0
  authorization: Bearer x
  cache-control: no-cache
  connection: close
  connection: upgrade
  content-encoding: gzip
  content-type: application/json
  cookie: masthead_session=x; __proto__=y
  expect: 100-continue
  expect: wonders
  host: evil.example
  http2-settings: AAMAAABkAARAAAAAAAIAAAAA
  idempotency-key: key 1
  if-match: *
  if-modified-since: Sat, 29 Oct 2044 19:43:31 GMT
  if-none-match: *
  if-unmodified-since: Sat, 29 Oct 1994 19:43:31 GMT
  max-forwards: 0
  origin: https://elsewhere.example
  proxy-authorization: Basic eDp5
  range: bytes=0-0
  range: bytes=9-1,x
  sec-fetch-site: cross-site
  te: trailers
  upgrade: h2c
  upgrade: websocket
  x-forwarded-for: 127.0.0.1
  x-forwarded-host: evil.example
  x-forwarded-proto: gopher
  x-http-method-override: DELETE
  x-request-id: twice
  x-tenant-id: 00000000-0000-7000-8000-000000000000`
  .split('\n')
  .map((line): Header => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 2)])

const strangeHeader = among<Header>(
  [20, fc.constantFrom(...strange)],
  [
    6,
    fc.tuple(fc.constantFrom('x-filler', 'accept', 'cookie', 'range', 'origin', 'user-agent'), inHeader(hostileText)),
  ],
  [2, fc.stringMatching(/^[a-zA-Z!#$%&'*+.^_`|~-]{1,12}$/).map((name): Header => [name, ''])],
  [1, fc.constant(['x-filler', 'a'.repeat(33_000)])],
)
export const strangeHeaders = mostly(none, fc.array(strangeHeader, { minLength: 1, maxLength: 3 }), 3)
