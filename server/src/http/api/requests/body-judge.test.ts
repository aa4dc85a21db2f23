import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { customerApi, managementApi, type NamedOperation } from '@masthead/contract'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { isUuid } from '../../../records/identifiers.ts'
import { isCalendarDate, parseInstant } from '../../../values.ts'
import { bodyJudge } from './body-judge.ts'

const ajv = new Ajv2020({
  formats: { date: isCalendarDate, 'date-time': (text: string) => parseInstant(text) !== null, uuid: isUuid },
})

const judged = [...customerApi.operations, ...managementApi.operations].filter(({ operation }) => operation.body)

type Schema = { type: string | string[]; enum?: string[]; maxLength?: number; maximum?: number; items?: Schema }

const anything = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 1e300, '', 'x', [], {}),
  fc.jsonValue({ maxDepth: 1 }),
)

/** Values that fit a property, nearly fit it, or do not fit at all. */
const valueFor = ({ type, enum: known = [], maxLength = 3, maximum = 3, items }: Schema): fc.Arbitrary<unknown> => {
  const texts = [...known, 'x', '2026-02-28', '2026-02-30', '2026-02-28T10:00:00Z', '2026-02-28T25:00:00Z']
  const lengths = [maxLength - 1, maxLength, maxLength + 1].filter((length) => length >= 0)
  const near: Record<string, fc.Arbitrary<unknown>> = {
    string: fc.oneof(
      fc.constantFrom(...texts),
      fc
        .tuple(fc.constantFrom('a', '🙂', 'e\u0301'), fc.constantFrom(...lengths))
        .map(([unit, times]) => unit.repeat(times)),
    ),
    integer: fc.constantFrom(0, 1, 1.5, maximum - 1, maximum, maximum + 1),
    boolean: fc.boolean(),
    array: fc.array(items ? valueFor(items) : anything, { maxLength: 22 }),
    null: fc.constant(null),
  }
  return fc.oneof(
    { weight: 9, arbitrary: fc.oneof(...[type].flat().map((one) => near[one] ?? anything)) },
    { weight: 1, arbitrary: anything },
  )
}

const bodyOf = ({ operation }: NamedOperation): fc.Arbitrary<unknown> => {
  const { properties = {}, required = [] } = operation.body ?? {}
  const members = Object.entries(properties as Record<string, Schema>).map(([name, schema]) => [name, valueFor(schema)])
  const described = fc.record<Record<string, unknown>>(Object.fromEntries(members), {
    requiredKeys: required.length % 2 === 0 ? [...required] : [],
  })
  const strange = fc.dictionary(fc.constantFrom('x', 'toString', 'constructor', '0'), anything, { maxKeys: 1 })
  return fc.oneof(
    { weight: 9, arbitrary: described },
    { weight: 3, arbitrary: fc.tuple(described, strange).map((parts) => Object.assign({}, ...parts)) },
    { weight: 1, arbitrary: anything },
  )
}

describe('a body', () => {
  for (const named of judged)
    test(`of ${named.name} passes exactly when another validator lets it pass`, () => {
      const schema = named.operation.body ?? {}
      const [judge, isValid] = [bodyJudge(schema), ajv.compile(schema)]
      const seen = { passed: 0, refused: 0 }
      fc.assert(
        fc.property(bodyOf(named), (body) => {
          const places = judge(body)
          seen[places.length === 0 ? 'passed' : 'refused']++
          assert.equal(places.length === 0, isValid(body), JSON.stringify([body, places, isValid.errors]))
        }),
        { numRuns: 1_000, seed: 16 },
      )
      assert.ok(seen.passed > 0 && seen.refused > 0, JSON.stringify(seen))
    })
})

test('a schema with a keyword that is not judged is refused', () => {
  const object = (property: object) => ({ type: 'object', properties: { property }, additionalProperties: false })
  for (const schema of [
    { type: 'object', properties: {} },
    { type: 'object', properties: {}, additionalProperties: false, minProperties: 1 },
    object({ type: 'string', pattern: '^(a+)+$' }),
    object({ type: 'string', format: 'email' }),
    object({ type: ['string', 'number'] }),
    object({ anyOf: [{ type: 'string' }] }),
    object({ type: 'array' }),
    object({ type: 'array', items: { type: 'object', additionalProperties: false }, uniqueItems: true }),
  ])
    assert.throws(() => bodyJudge(schema), /cannot be judged/, JSON.stringify(schema))
})
