import fc from 'fast-check'
import { among, mostly, words } from './choices.ts'

/** What a parser, a database, a template or a path might stumble over. */
const stumblingBlocks = [
  '',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\0',
  'a\0b',
  "' or 1=1 --",
  "'; drop table contacts; --",
  'a\r\nSet-Cookie: a=b',
  // Of these every character counts: control, space, combining, folding, joined, directing, last of its plane.
  ...'\u0001|\u007f|\u0080|\u00a0|\u200b|\ufeff|\ufffd|\u0301|e\u0301|İ|ı|ß|ẞ|ﬃ|Σς|東京|🙂|👩‍👩‍👧|\u202e|\u2028|\uffff|\u{10ffff}'.split(
    '|',
  ),
  ...words(`.. . / // \\ ../../etc/passwd ..;/ a/b % %00 %2e%2e %2f %zz %c0%af %u0041 ' " \` $1 $$ :id ? # & = ; , * %_ /~0~1 ~
    {{7*7}} <script>alert(1)</script> <!-- ]]> {} [] [1] {"a":1} $ne \\u0000 __proto__ constructor prototype toString
    hasOwnProperty null undefined true false 0 -0 -1 1 1.0 1.5 1e3 1e999 0x10 ٣ NaN Infinity 2147483647 2147483648
    9007199254740993 18446744073709551616 00000000-0000-0000-0000-000000000000 Bearer W/"x" application/json canary
    2026-02-29 0000-01-01 9999-12-31`),
]

const repeated = fc
  .tuple(fc.constantFrom('a', 'é', '🙂', 'e\u0301', '%', '/', '..'), fc.constantFrom(20, 64, 65, 200, 201, 256, 2_049))
  .map(([text, count]) => text.repeat(count))

const halves = fc.string({
  unit: fc.integer({ min: 0xd7ff, max: 0xe000 }).map((code) => String.fromCharCode(code)),
  maxLength: 3,
})

export const hostileText: fc.Arbitrary<string> = among(
  [6, fc.constantFrom(...stumblingBlocks)],
  [2, fc.string({ unit: 'binary', maxLength: 12 })],
  [2, fc.string({ unit: 'binary-ascii', maxLength: 12 })],
  [1, halves],
  [1, repeated],
)

/** Text that anybody may send, of at most so many characters. */
export const harmlessText = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: 'grapheme-composite', minLength: 1, maxLength: Math.min(maxLength, 15) })

/** As it stands in a URL or a form: encoded as it should be, or as somebody who does not know better sends it. */
export const inUrl = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  mostly(
    text.map((one) => encodeURIComponent(one.toWellFormed())),
    text.map((one) => one.replaceAll(/[\r\n]/g, '')),
  )
