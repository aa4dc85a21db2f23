import assert from 'node:assert/strict'
import { basePath, type NamedOperation, openapi, operations } from '@masthead/contract'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

export type Answer = { status: number; headers: Headers; body: unknown; text: string }

/** What the OpenAPI document promises of an answer, by status. */
type Promised = {
  headers?: Record<string, { $ref: string }>
  content?: Record<string, { schema?: { $ref?: string } }>
}
type Header = { required?: boolean; schema: { type: 'string' | 'integer' } }
type Document = {
  components: { headers: Record<string, Header>; schemas: object }
  paths: Record<string, Record<string, { responses: Record<string, Promised> }>>
}

/** A test compares it with what is served and committed. */
const document = openapi() as Document // as its generator builds it

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true })
/** Lists repeat the same few, and to look at each took longer than the rest of a record. */
const dates = new Set<string>()
const isDate = (text: string) => {
  if (dates.has(text)) return true
  const isOne = !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text)
  if (isOne) dates.add(text)
  return isOne
}
ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
ajv.addFormat('date', (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDate(text))
ajv.addFormat('date-time', (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && isDate(text))
ajv.addFormat('uri', (text) => URL.canParse(text))
ajv.addFormat('double', { type: 'number', validate: Number.isFinite })
// A keyword of OpenAPI, below which the schemas stand.
ajv.addVocabulary(['components'])
ajv.addSchema({ $id: 'http://masthead.test/openapi', components: document.components }, 'document', false, false)

export const responsesOf = ({ operation }: NamedOperation): Record<string, Promised> =>
  document.paths[operation.path]?.[operation.method.toLowerCase()]?.responses ?? {}

const assertValid = (reference: string, value: unknown, about: string): void =>
  assert.ok(ajv.validate(`http://masthead.test/openapi${reference}`, value), `${about}: ${ajv.errorsText()}`)

/** The answer is what the published document promises for this status of this operation; one to HEAD has no body. */
export const assertConforms = (
  named: NamedOperation,
  answer: Answer,
  method: string = named.operation.method,
): void => {
  const { status, headers, body, text } = answer
  const about = `${named.name} with ${status}`
  const promised = responsesOf(named)[status]
  assert.ok(promised, `${named.name} does not promise ${status}: ${text}`)
  assertHeaders(about, promised.headers ?? {}, headers)
  if (method === 'HEAD' || !promised.content) {
    assert.equal(text, '', `${about} promises no body`)
    return
  }
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  // A file has no schema.
  if (named.operation.download && promised.content[type]) return
  const reference = promised.content[type]?.schema?.$ref
  assert.ok(reference, `${about} promises no ${type || 'answer without a type'}: ${text}`)
  assertValid(reference, body, about)
}

/** The same by the contract itself, for an operation of which no document is published. */
export const assertAnswers = (named: NamedOperation, { status, body, text }: Answer): void => {
  assert.equal(status, named.operation.status, text)
  const isValid = validatorOf(named)
  assert.equal(isValid(body), true, `${named.name}: ${ajv.errorsText(isValid.errors)}`)
}

/** Compiled once for each operation, as that takes longer than the response. */
const validators = new Map<object, ValidateFunction>()
const validatorOf = ({ operation }: NamedOperation): ValidateFunction => {
  const known = validators.get(operation)
  if (known) return known
  const schema = JSON.parse(JSON.stringify(operation.response), (key, value) => (key === 'title' ? undefined : value))
  const compiled = ajv.compile(schema)
  validators.set(operation, compiled)
  return compiled
}

/** Headers of HTTP itself and of cross-origin reading, which a document does not repeat. */
const ofEveryAnswer =
  /^(access-control-.*|cache-control|connection|content-(encoding|length|type)|date|keep-alive|transfer-encoding|vary)$/

const assertHeaders = (about: string, promised: NonNullable<Promised['headers']>, headers: Headers): void => {
  const names = Object.keys(promised).map((name) => name.toLowerCase())
  for (const name of headers.keys())
    assert.ok(names.includes(name) || ofEveryAnswer.test(name), `${about} promises no header ${name}`)
  for (const [name, { $ref }] of Object.entries(promised)) {
    const { required, schema } = document.components.headers[name] ?? assert.fail(`there is no header ${name}`)
    const text = headers.get(name)
    if (text === null) assert.ok(!required, `${about} lacks the header ${name}`)
    else assertValid(`${$ref}/schema`, schema.type === 'integer' ? Number(text) : text, `${about}, ${name}`)
  }
}

export const assertProblemSchema = (body: unknown): void =>
  assertValid('#/components/schemas/Problem', body, 'a problem')

const shapes = operations.map((named) => ({
  named,
  shape: new RegExp(`^${named.operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

/** The operation that a request is for; letters of its path may stand there encoded. */
export const operationAt = (method: string, path: string): NamedOperation | undefined =>
  [path, decoded(path)]
    .flatMap((one) => shapes.filter(({ shape }) => shape.test(one)))
    .find(({ named }) => named.operation.method === (method === 'HEAD' ? 'GET' : method))?.named

const decoded = (path: string): string => {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/**
 * The document promises whatever is answered below its base path: what an operation says, and a problem where there is
 * none. It leaves out itself, and preflights, which are for a path and not for an operation. Elsewhere stand pages and
 * the authorization server, which follow documents of others, and the management API, which only the console calls.
 */
export const assertDocumented = (method: string, address: string, answer: Answer): void => {
  const { pathname } = new URL(address)
  const path = pathname.slice(basePath.length)
  if (!pathname.startsWith(`${basePath}/`) || /^\/openapi(-3\.0)?\.json$/.test(path) || method === 'OPTIONS') return
  const named = operationAt(method, path)
  if (named) assertConforms(named, answer, method)
  else assertRefused(`${method} ${path}`, answer, method)
}

const assertRefused = (about: string, { status, headers, body, text }: Answer, method: string): void => {
  assert.ok(status >= 400, `the document has no ${about}, but it is answered with ${status}`)
  if (method === 'HEAD') return
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json\b/, text)
  assertProblemSchema(body)
}
