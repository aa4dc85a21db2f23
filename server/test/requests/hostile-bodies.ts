import type { TObject } from 'typebox'

/** What stands around the part of a body that is filled. */
const frameBytes = 64

/** A text of so many bytes, or a few more or less. */
type Shape = (bytes: number) => string

const filled = (bytes: number, unit: string): string => unit.repeat(Math.max(1, Math.floor(bytes / unit.length)))
const list = (bytes: number, unit: string): string => filled(bytes - 1, `${unit},`).slice(0, -1)
const nested = (bytes: number, open: string, close: string): string => {
  const depth = Math.floor(bytes / (open.length + close.length))
  return open.repeat(depth) + close.repeat(depth)
}
const numbered = (bytes: number, one: (number: number) => string): string => {
  const parts: string[] = []
  for (let length = 0, number = 0; ; number++) {
    const part = one(number)
    length += part.length + 1
    if (length > bytes) return parts.join(',')
    parts.push(part)
  }
}

/** Values that a property, whatever its schema, can be given. */
const values: Record<string, Shape> = {
  'a long text': (bytes) => `"${filled(bytes, 'a')}"`,
  'a long text of two bytes each': (bytes) => `"${filled(bytes / 2, 'é')}"`,
  'a long text of four bytes each': (bytes) => `"${filled(bytes / 2, '🙂')}"`,
  'a text that cannot be stored': (bytes) => `"${filled(bytes, 'a')}\\u0000\\ud800"`,
  'a text that is all escapes': (bytes) => `"${filled(bytes, '\\ud800')}"`,
  'a long text of digits and signs': (bytes) => `"${filled(bytes, '2026-01-01T00:00:00.')}"`,
  'a long text of spaces': (bytes) => `" ${filled(bytes, ' ')}"`,
  'a number of many digits': (bytes) => filled(bytes, '9'),
  'a fraction of many digits': (bytes) => `1.${filled(bytes, '3')}`,
  'an array of one number, repeated': (bytes) => `[${list(bytes, '0')}]`,
  'an array of one text, repeated': (bytes) => `[${list(bytes, '"a"')}]`,
  'an array of many texts': (bytes) => `[${numbered(bytes, (number) => `"${number}"`)}]`,
  'an array of long texts': (bytes) => `[${list(bytes, `"${filled(bytes / 40, 'a')}"`)}]`,
  'an array of empty objects': (bytes) => `[${list(bytes, '{}')}]`,
  'an array of different objects': (bytes) => `[${numbered(bytes, (number) => `{"${number}":${number}}`)}]`,
  'deep arrays': (bytes) => nested(bytes, '[', ']'),
  'deep objects': (bytes) => nested(bytes, '{"a":', '}').replace('}', '0}'),
  'a wide object': (bytes) => `{${numbered(bytes, (number) => `"x${number}":0`)}}`,
}

/** Whole bodies; `name` is a property that the schema knows. */
const wholes = (name: string): Record<string, Shape> => ({
  'many unknown properties': (bytes) => `{${numbered(bytes, (number) => `"x${number}":0`)}}`,
  'many properties that are nearly known': (bytes) => `{${numbered(bytes, (number) => `"${name}${number}":0`)}}`,
  'properties that are numbers': (bytes) => `{${numbered(bytes, (number) => `"${number}":0`)}}`,
  'properties that are far numbers': (bytes) => `{${numbered(bytes, (number) => `"${4_294_967_294 - number}":0`)}}`,
  'one long name': (bytes) => `{"${filled(bytes, 'a')}":0}`,
  'one long name of what a pointer escapes': (bytes) => `{"${filled(bytes, '~/')}":0}`,
  'long names': (bytes) => `{${numbered(bytes, (number) => `"${filled(bytes / 40, 'a')}${number}":0`)}}`,
  'an unknown property, repeated': (bytes) => `{${list(bytes, '"x":0')}}`,
  'a known property, repeated': (bytes) => `{${list(bytes, `"${name}":0`)}}`,
  'no object but a list': (bytes) => `[${list(bytes, '0')}]`,
  'no object but a text': (bytes) => `"${filled(bytes, 'a')}"`,
  'an array that never ends': (bytes) => filled(bytes, '['),
  'an object that never ends': (bytes) => filled(bytes, '{"a":'),
  'a text that never ends': (bytes) => `{"${filled(bytes, 'a')}`,
  'spaces, then nothing': (bytes) => filled(bytes, ' '),
  'spaces, then what is no JSON': (bytes) => `${filled(bytes, ' ')}x`,
  'commas alone': (bytes) => filled(bytes, ','),
})

/** Every shape for a body by the schema: the whole of it, or the value of a property of each kind in an otherwise empty one. */
export const hostileBodies = (schema: TObject): { shape: string; property: string; body: Shape }[] => {
  // Those that differ in no keyword are judged alike.
  const kinds = new Map(
    Object.entries<object>(schema.properties).map(([name, property]) => {
      const { description: _words, maxLength, ...keywords } = property as Record<string, unknown> // a JSON schema
      return [JSON.stringify([keywords, maxLength !== undefined]), name]
    }),
  )
  const [first = ''] = kinds.values()
  return [
    ...Object.entries(wholes(first)).map(([shape, body]) => ({
      shape,
      property: '',
      body: (bytes: number) => body(bytes - frameBytes),
    })),
    ...[...kinds.values()].flatMap((property) =>
      Object.entries(values).map(([shape, body]) => ({
        shape,
        property,
        body: (bytes: number) => `{"${property}":${body(bytes - frameBytes)}}`,
      })),
    ),
  ]
}
