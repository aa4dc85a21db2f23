import { largest, type Operation, traitsOf } from '@masthead/contract'
import fc from 'fast-check'
import { among, joined, mostly, words } from './choices.ts'
import { harmlessText, hostileText } from './hostile-texts.ts'
import { knownAs, poolOf } from './placeholders.ts'

/** Texts go as UTF-8, once their placeholders are filled; bytes go as they are. */
export type Body = readonly (string | Uint8Array)[]

export type Schema = {
  type: string | string[]
  format?: string
  enum?: readonly unknown[]
  minLength?: number
  maxLength?: number
  maximum?: number
  /** The resource whose record it names. */
  reference: string | undefined
}

/** The schemas of the contract are plain: a type and its limits. */
export const propertiesOf = (schema: Operation['body']): [string, Schema][] =>
  Object.entries(schema?.properties ?? {}).map(([name, property]) => [
    name,
    { ...JSON.parse(JSON.stringify(property)), reference: traitsOf(property).reference },
  ])

/** Whatever the schema allows. */
const allowed = ({ type, format, maxLength = 30, reference: referred }: Schema): fc.Arbitrary<string> => {
  const types = [type].flat()
  const value = types.includes('boolean')
    ? fc.boolean().map(String)
    : (referred ? knownAs(poolOf.own(referred)) : format ? dates(format) : harmlessText(maxLength)).map((text) =>
        JSON.stringify(text),
      )
  return types.includes('null') ? mostly(value, fc.constant('null')) : value
}

const past = fc.date({ min: new Date('0001-01-01'), max: new Date('2026-01-01'), noInvalidDate: true })
const dates = (format: string): fc.Arbitrary<string> =>
  past.map((date) => (format === 'date' ? date.toISOString().slice(0, 10) : date.toISOString()))

/** What a property may turn out to be, as JSON or nearly. */
const hostileValue = ({ maxLength = 100, reference = 'accounts' }: Schema): fc.Arbitrary<string> =>
  among(
    [4, hostileText.map((text) => JSON.stringify(text))],
    [3, fc.constantFrom(...wrongValues)],
    [2, atTheLimit(maxLength)],
    [2, knownAs(poolOf.theirs(reference)).map((text) => JSON.stringify(text))],
    [1, fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value))],
    [1, fc.constantFrom(100, 30_000).map((depth) => '['.repeat(depth) + ']'.repeat(depth))],
  )

const atTheLimit = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom('a', 'é', '🙂', '"', '\\', '\n'), fc.constantFrom(-1, 0, 1))
    .map(([character, more]) => JSON.stringify(character.repeat(maxLength + more)))

const wrongValues = [
  ...words(String.raw`null true false 0 -0 1 1e999 -1e999 1e-999 12345678901234567890 0.1 [] {} "" ["x"] {"__proto__":{"a":1}}
    {"length":3} "\u0000" "\ud800" "\udc00\ud800" "\u00e9" "2026-02-29" "2024-02-29" "9999-12-31T23:59:59.999Z"
    "2020-01-01T00:00:00+14:00" "0001-01-01T00:00:00+01:00"`),
  // Not JSON, but what some parsers take for it.
  ...words(String.raw`NaN Infinity undefined 0x10 01 +1 .5 1. 'x' "x x /**/1 "\x41"`),
  '"\t"',
]

type Member = readonly [name: string, value: string]
const written = (members: readonly Member[]): string =>
  `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`

const validMembers = (operation: Operation): fc.Arbitrary<Member[]> => {
  const properties = propertiesOf(operation.body)
  const required = new Set<string>(operation.body?.required)
  const member = (name: string, schema: Schema): fc.Arbitrary<Member | null> => {
    const value = allowed(schema).map((text): Member => [name, text])
    return required.has(name) ? value : fc.option(value, { freq: 1 })
  }
  return fc
    .tuple(...properties.map(([name, schema]) => member(name, schema)))
    .map((members) => members.filter((one) => one !== null))
}

/** The members with one changed, added, repeated or left out. */
const spoiledMembers = (operation: Operation): fc.Arbitrary<Member[]> => {
  const properties = propertiesOf(operation.body)
  const wrong = fc.oneof(
    ...properties.map(([name, schema]) => hostileValue(schema).map((value): Member => [name, value])),
  )
  const strange = fc.tuple(
    fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'id', 'tenantId', 'tenant_id', 'createdAt', 'position'),
      hostileText,
    ),
    fc.constantFrom('1', 'null', '"x"', '{"a":1}'),
  )
  return among(
    [6, joined(validMembers(operation), wrong, replaced)],
    [2, joined(validMembers(operation), strange, (members, one) => [...members, one])],
    [1, joined(validMembers(operation), wrong, (members, one) => [one, ...members])],
    [1, joined(validMembers(operation), fc.nat(20), (members, index) => members.toSpliced(index, 1))],
  )
}
const replaced = (members: Member[], wrong: Member): Member[] => [
  ...members.filter(([name]) => name !== wrong[0]),
  wrong,
]

/** The text of a valid body, handled without care. */
const spoiledText = (text: fc.Arbitrary<string>): fc.Arbitrary<Body> =>
  among(
    [4, joined(text, fc.constantFrom(...mishaps), (one, mishap): Body => [mishap(one)])],
    [2, joined(text, fc.nat(80), (one, length): Body => [one.slice(0, length)])],
    [3, joined(text, fc.tuple(fc.nat(80), wrongBytes), (one, [at, bytes]) => [one.slice(0, at), bytes, one.slice(at)])],
  )
const mishaps: ((text: string) => string | Uint8Array)[] = [
  ...['\ufeff', '\ufeff\ufeff', '\f', '\u00a0', '// x\n', ")]}',\n", ' \t\r\n'].map(
    (one) => (text: string) => one + text,
  ),
  ...['\0', '}', ',', ' x', '/**/', '\n{}', ' \t\r\n'].map((one) => (text: string) => text + one),
  (text) => `[${text}]`,
  (text) => `"${text}"`,
  (text) => text.replaceAll('"', "'"),
  (text) => text.replace('}', ',}'),
  (text) => Buffer.from(text, 'utf16le'),
  (text) => Buffer.from(text, 'latin1'),
]
const wrongBytes = fc.oneof(
  fc
    .constantFrom([0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe9], [0xfe, 0xff], [0])
    .map((bytes) => Uint8Array.from(bytes)),
  fc.uint8Array({ minLength: 1, maxLength: 6 }),
)

/** Around the most that is accepted: spaces before a valid body, or an endless one. */
const nearTheLimit = (text: fc.Arbitrary<string>): fc.Arbitrary<Body> =>
  joined(
    text,
    fc.constantFrom(-400, 0, 1),
    (one, more): Body => [one, ' '.repeat(largest.bodyBytes - Buffer.byteLength(one) + more)],
  )

const noise: fc.Arbitrary<Body> = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes): Body => [bytes]),
  fc
    .constantFrom('', ' ', 'null', '{}', '[]', '0', '"x"', 'true', 'a=b&c=d', '<a/>', '{"a":1}')
    .map((text): Body => [text]),
)

/** Bodies by the schema of the operation, most of them valid. */
export const fuzzedBody = (operation: Operation): fc.Arbitrary<Body | null> => {
  if (!operation.body) return mostly<Body | null>(fc.constant(null), noise, 15)
  const valid = validMembers(operation).map(written)
  return among<Body | null>(
    [60, valid.map((text) => [text])],
    [30, spoiledMembers(operation).map((members) => [written(members)])],
    [12, spoiledText(valid)],
    [3, noise],
    [1, fc.constant(null)],
    [1, nearTheLimit(valid)],
  )
}
