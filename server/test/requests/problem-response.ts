import assert from 'node:assert/strict'
import { type ProblemCode, problems } from '@masthead/contract'
import type { CallResponse } from '../service.ts'

/** The place that a problem names: a JSON pointer, a query parameter or a header. */
export type Place = { pointer: string } | { parameter: string } | { header: string }

/** The answer is this problem, complete and nothing beyond, and `errors` names exactly these places. */
export const assertProblem = (answer: CallResponse, code: ProblemCode, places: Place[] = [], about = ''): void => {
  const { status, title } = problems[code]
  const { headers, body, text } = answer
  assert.deepEqual([answer.status, body?.code], [status, code], `${about} ${text.slice(0, 500)}`)
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json(; charset=utf-8)?$/)
  assert.equal(headers.get('cache-control'), 'no-store')
  const members = ['type', 'title', 'status', 'detail', 'code', 'requestId', ...(places.length > 0 ? ['errors'] : [])]
  assert.deepEqual(Object.keys(body), members, about)
  assert.deepEqual(
    { type: body.type, title: body.title, status: body.status, requestId: body.requestId },
    { type: `http://masthead.test/problems/${code}`, title, status, requestId: headers.get('x-request-id') },
  )
  assert.match(body.detail, /\S.*[.?]$/s)
  const named = (body.errors ?? []).map(({ code: reason, detail, ...place }: Record<string, string>) => {
    assert.match(reason ?? '', /^[a-z_]+$/)
    assert.match(detail ?? '', /\S.*[.?]$/s)
    return place
  })
  assert.deepEqual(named, places, about)
}
