import { basePath } from '@masthead/contract'
import fc from 'fast-check'
import { among, joined } from './choices.ts'
import { hostileText } from './hostile-texts.ts'

/** Stands for a whole request that would store something, were it ever taken for one. */
export const smuggled = '~smuggled~'

const host = 'host: masthead.test'
const contacts = `${basePath}/contacts`
const lines = (...parts: string[]): string => `${parts.join('\r\n')}\r\n\r\n`

/** Whatever can be wrong with the first line. */
const requestLines = `GET
GET /
GET / HTTP/0.9
GET / HTTP/1.0
GET / HTTP/2.0
GET / HTTP/1.1x
GET / http/1.1
GET  / HTTP/1.1
 GET / HTTP/1.1
GET\t/ HTTP/1.1
GET / HTTP/1.1 x
GET a HTTP/1.1
GET * HTTP/1.1
OPTIONS * HTTP/1.1
GET /a b HTTP/1.1
GET http://masthead.test${contacts} HTTP/1.1
GET http://evil.example${contacts} HTTP/1.1
GET https://user:password@masthead.test:99999/ HTTP/1.1
GET http:///x HTTP/1.1
GET //evil.example/ HTTP/1.1
GET /\\evil.example HTTP/1.1
CONNECT masthead.test:443 HTTP/1.1
CONNECT / HTTP/1.1
PRI * HTTP/2.0
TRACE / HTTP/1.1
M-SEARCH * HTTP/1.1
G\0T / HTTP/1.1
GET /\x7f HTTP/1.1
GET /\xff HTTP/1.1
get / HTTP/1.1
${'A'.repeat(100)} / HTTP/1.1`.split('\n')

/** Headers about which two servers may disagree where the request ends; each allows the smuggled one to follow. */
const framings = [
  ['content-length: 0', `content-length: ${smuggled.length}`],
  ['content-length: 0, 0'],
  ['content-length: 0', 'content-length: 0'],
  ['content-length: +0'],
  ['content-length: -0'],
  ['content-length: 0x0'],
  ['content-length: 0 0'],
  ['content-length : 0'],
  ['content-length:\t0,'],
  ['content-length: 99999999999999999999'],
  ['content-length: 0', 'transfer-encoding: chunked'],
  ['transfer-encoding: chunked', 'content-length: 0'],
  ['transfer-encoding: chunked', 'transfer-encoding: identity'],
  ['transfer-encoding: identity'],
  ['transfer-encoding: xchunked'],
  ['transfer-encoding: chunked, x'],
  ['transfer-encoding: x, chunked', 'content-length: 0'],
  ['transfer-encoding: chunked\x0b'],
  ['transfer-encoding : chunked'],
  ['transfer-encoding:\n chunked'],
  [' transfer-encoding: chunked'],
  ['x: y\ntransfer-encoding: chunked'],
  ['x: y\r transfer-encoding: chunked'],
  ['x\0: y', 'content-length: 0'],
  ['x: \0', 'content-length: 0'],
  ['x y: z', 'content-length: 0'],
  [': z', 'content-length: 0'],
  ['x', 'content-length: 0'],
]
/** What stands between such headers and the smuggled request. */
const interludes = [
  '',
  '0\r\n\r\n',
  '0\r\n',
  '0\n\n',
  '-1\r\n',
  '0x0\r\n\r\n',
  '1\r\nx',
  'ffffffffffffffff\r\n',
  ';\r\n\r\n',
  '0;\n\r\n\r\n',
  '\r\n',
  '\n',
]

const ambiguous = joined(fc.constantFrom(...framings), fc.constantFrom(...interludes), (headers, interlude) =>
  [lines(`POST ${contacts} HTTP/1.1`, host, 'content-type: application/json', ...headers), interlude, smuggled].join(
    '',
  ),
)

const upgrades = fc
  .constantFrom('websocket', 'h2c', 'tls/1.0', 'x')
  .map((protocol) => lines(`GET ${contacts} HTTP/1.1`, host, 'connection: upgrade', `upgrade: ${protocol}`))

/** A request to which something happened on the way. */
const usual = lines(`GET ${contacts}?pageSize=1 HTTP/1.1`, host, 'accept: */*', 'x-request-id: abc')
const bytes = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 100,
})
const damaged = fc
  .tuple(fc.nat(usual.length), fc.nat(20), bytes)
  .map(([at, length, other]) => usual.slice(0, at) + other + usual.slice(at + length))

const otherProtocols = [
  '\r\n\r\n',
  '\n',
  '\0',
  '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03',
  'EHLO x\r\n',
  'SSH-2.0-x\r\n',
]

/** Whatever arrives at a port, a character a byte. None of it is a request that may store anything. */
export const fuzzedBytes: fc.Arbitrary<string> = among(
  [4, ambiguous],
  [3, fc.constantFrom(...requestLines).map((line) => lines(line, host))],
  [3, damaged],
  [1, upgrades],
  [1, bytes],
  [1, hostileText.map((text) => lines('GET / HTTP/1.1', host, `x: ${Buffer.from(text).toString('latin1')}`))],
  [1, fc.constantFrom(...otherProtocols, 'a'.repeat(40_000))],
)
