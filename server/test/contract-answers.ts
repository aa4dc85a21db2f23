import assert from 'node:assert/strict'
import { type NamedOperation, openapi } from '@masthead/contract'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { CallAnswer } from './service.ts'

/** What the OpenAPI document promises of an answer, by status. */
type Promised = {
  headers?: Record<string, unknown>
  content?: Record<string, { schema?: { $ref?: string } }>
}
type Document = { components: object; paths: Record<string, Record<string, { responses: Record<string, Promised> }>> }

/** A test compares it with what is served and committed. */
const document = openapi() as Document // as its generator builds it

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true })
const isDate = (text: string) => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text)
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

const assertValid = (reference: string, body: unknown): void =>
  assert.equal(ajv.validate(`http://masthead.test/openapi${reference}`, body), true, ajv.errorsText())

/** The body is what the published document promises for this status of this operation. */
export const assertConforms = (named: NamedOperation, { status, headers, body, text }: CallAnswer): void => {
  const promised = responsesOf(named)[status]
  assert.ok(promised, `${named.name} does not promise ${status}: ${text}`)
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  const reference = promised.content?.[type]?.schema?.$ref
  assert.ok(reference, `${named.name} promises no ${type} with ${status}`)
  assertValid(reference, body)
}

/** The same by the contract itself, for an operation of which no document is published. */
export const assertAnswers = ({ name, operation }: NamedOperation, { status, body, text }: CallAnswer): void => {
  assert.equal(status, operation.status, text)
  const schema = JSON.parse(JSON.stringify(operation.answer), (key, value) => (key === 'title' ? undefined : value))
  assert.equal(ajv.validate(schema, body), true, `${name}: ${ajv.errorsText()}`)
}

export const assertProblemSchema = (body: unknown): void => assertValid('#/components/schemas/Problem', body)
