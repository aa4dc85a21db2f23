import { documentPath } from '@masthead/contract'
import Type, { type Static, type TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { Refusal } from '../refusal.ts'

/** The parts that the probe reads of the OpenAPI document of the running service. */
const Reference = Type.Object({ $ref: Type.String() })
const Schema = Type.Object({
  type: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  format: Type.Optional(Type.String()),
  enum: Type.Optional(Type.Array(Type.Unknown())),
  maximum: Type.Optional(Type.Number()),
  maxLength: Type.Optional(Type.Number()),
  properties: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  items: Type.Optional(Type.Unknown()),
})
const Parameter = Type.Object({ name: Type.String(), in: Type.String(), schema: Schema })
// A file has no schema.
const Content = Type.Record(Type.String(), Type.Object({ schema: Type.Optional(Type.Unknown()) }))
const Described = Type.Object({
  operationId: Type.String(),
  security: Type.Array(Type.Record(Type.String(), Type.Array(Type.String()))),
  parameters: Type.Optional(Type.Array(Parameter)),
  requestBody: Type.Optional(Type.Object({ content: Content })),
  responses: Type.Record(Type.String(), Type.Object({ content: Type.Optional(Content) })),
})
const Document = Type.Object({
  paths: Type.Record(Type.String(), Type.Record(Type.String(), Described)),
  components: Type.Object({ schemas: Type.Record(Type.String(), Type.Unknown()) }),
})

export type LiveSchema = Static<typeof Schema>
export type LiveParameter = Static<typeof Parameter>

export type LiveOperation = {
  name: string
  method: string
  path: string
  /** The scopes of which a personal access token needs one. */
  scopes: string[]
  parameters: LiveParameter[]
  /** The properties of the JSON body; null when the operation takes none. */
  body: Record<string, LiveSchema> | null
  /** The fields of the records in its response. */
  fields: string[]
  status: number
}

export const readDocument = (text: string): LiveOperation[] => {
  const document = parse(text)
  const resolve = <S extends TSchema>(given: unknown, expected: S): Static<S> => {
    const found = Check(Reference, given) ? document.components.schemas[given.$ref.split('/').at(-1) ?? ''] : given
    if (Check(expected, found)) return found
    throw unreadable()
  }
  const read = (path: string, method: string, described: Static<typeof Described>): LiveOperation => {
    const [status = '', response] = Object.entries(described.responses).find(([code]) => code.startsWith('2')) ?? []
    const shown = properties(response?.content?.['application/json']?.schema ?? {})
    const items = shown.items?.items
    return {
      name: described.operationId,
      method: method.toUpperCase(),
      path,
      status: Number(status),
      scopes: described.security.flatMap(({ personalAccessToken = [] }) => personalAccessToken),
      parameters: described.parameters ?? [],
      body: described.requestBody ? properties(described.requestBody.content['application/json']?.schema) : null,
      fields: Object.keys(items === undefined ? shown : properties(items)),
    }
  }
  const properties = (given: unknown): Record<string, LiveSchema> =>
    Object.fromEntries(
      Object.entries(resolve(given, Schema).properties ?? {}).map(([name, schema]) => [name, resolve(schema, Schema)]),
    )
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => read(path, method, described)),
  )
}

const parse = (text: string): Static<typeof Document> => {
  try {
    const document: unknown = JSON.parse(text)
    if (Check(Document, document)) return document
  } catch {
    // A document that is not JSON is unreadable too.
  }
  throw unreadable()
}

const unreadable = (): Refusal =>
  new Refusal(
    `the document at ${documentPath} is not one that this program can read: probe with the program that serves`,
  )
