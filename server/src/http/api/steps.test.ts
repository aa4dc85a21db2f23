import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { describe, test } from 'node:test'
import { basePath, operations } from '@masthead/contract'
import { until } from '../../../test/masthead-process.ts'
import { populatedTenant } from '../../../test/populated-tenant.ts'
import { sendRaw } from '../../../test/raw-connection.ts'
import { type CallAnswer, startService } from '../../../test/service.ts'
import { validRequest } from '../../../test/valid-requests.ts'

const service = await startService()
const { tenant, token, records } = await populatedTenant(service)

/** Handlers that the framework has called. */
let handled = 0
subscribe('tracing:fastify.request.handler:start', () => handled++)

type Headers = Readonly<Record<string, string>>

const get = (path: string, headers: Headers, bearer = token): Promise<CallAnswer> => {
  const fixed = {
    Host: 'masthead.test',
    Connection: 'close',
    Authorization: `Bearer ${bearer}`,
    'X-Request-Id': 'same',
  }
  const lines = Object.entries({ ...fixed, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return sendRaw(service.origin, `GET ${basePath}${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
}

/** What must be the same whoever answers. */
const comparable = ({ status, headers, text }: CallAnswer) => {
  const { date: _date, ratelimit, ...others } = Object.fromEntries(headers)
  return { status, headers: { ...others, ratelimit: ratelimit?.replaceAll(/[rt]=\d+/g, '') }, text }
}
const left = ({ headers }: CallAnswer): [requests: number, seconds: number] => {
  const [, requests, seconds] = /"token";r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? []
  return [Number(requests), Number(seconds)]
}

/** Once before the framework and once, because of a length that says nothing, by it. */
const assertSame = async (path: string, headers: Headers, status: number): Promise<CallAnswer> => {
  const answers: CallAnswer[] = []
  await until(`${path} is answered before the framework`, async () => {
    const first = await get(path, {})
    const before = handled
    const plain = await get(path, headers)
    // While it is not known what other nodes wrote, nobody's token is.
    if (handled > before) return false
    const framed = await get(path, { 'Content-Length': '0', ...headers })
    assert.equal(handled, before + 1, `the framework did not come to ${path}`)
    answers.splice(0, 3, first, plain, framed)
    // In one window of the limits.
    return left(framed)[1] <= left(first)[1]
  })
  const [first, plain, framed] = answers
  assert.ok(first && plain && framed)
  assert.equal(plain.status, status, `${path}: ${plain.text}`)
  assert.deepEqual(comparable(plain), comparable(framed), path)
  // Only a 304 from memory is free.
  const charge = status === 304 && !('Cache-Control' in headers) ? 0 : 1
  assert.deepEqual([left(first)[0] - left(plain)[0], left(plain)[0] - left(framed)[0]], [charge, charge], path)
  return plain
}

const unremembered = { 'Cache-Control': 'no-cache' }
const reads = operations.filter(({ operation }) => operation.method === 'GET')

describe('a read that the framework never sees', () => {
  for (const { name } of reads) {
    const { path } = validRequest(name, records)

    test(`is answered by ${name} as the framework answers it`, async () => {
      const { headers } = await assertSame(path, unremembered, 200)
      const tag = headers.get('etag') ?? ''
      for (const seen of [tag, `W/${tag}`, `"other", ${tag}`, '*'])
        await assertSame(path, { ...unremembered, 'If-None-Match': seen }, 304)
      await assertSame(path, { ...unremembered, 'If-None-Match': '"other"' }, 200)
      for (const encoding of ['gzip', 'br', 'zstd', 'identity'])
        await assertSame(path, { ...unremembered, 'Accept-Encoding': encoding }, 200)
    })

    test(`is refused by ${name} as the framework refuses it`, async () => {
      await assertSame(path, { ...unremembered, 'If-None-Match': 'bare' }, 400)
      for (const query of ['unheard=1', 'page=0', 'pageSize=201', 'search=%', 'search=%20', 'cursor=AAAA'])
        await assertSame(`${path}?${query}`, unremembered, 400)
    })
  }

  test('says what is not there as the framework says it', async () => {
    for (const { operation } of reads) {
      const path = operation.path.replace(/\{\w+\}/, '01900000-0000-7000-8000-000000000000')
      if (path !== operation.path) await assertSame(path, {}, 404)
    }
  })

  test('follows the links of a list to its end', async () => {
    const seen: string[] = []
    for (let path = '/contacts?pageSize=1&includeDeleted=true'; path !== ''; ) {
      const { body, headers } = await assertSame(path, unremembered, 200)
      seen.push(...body.items.map(({ id }: { id: string }) => id))
      path = /<http:\/\/masthead\.test\/customer-api\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
    }
    assert.equal(new Set(seen).size, 3)
  })
})

describe('the framework is left to answer', () => {
  const { id } = records.contact

  const assertFramed = async (path: string, status: number, bearer = token): Promise<CallAnswer> => {
    await get('/contacts', {}, bearer)
    const before = handled
    const answer = await get(path, unremembered, bearer)
    assert.equal(answer.status, status, answer.text)
    // What its hooks refuse comes to no handler.
    assert.equal(handled, before + (status === 200 ? 1 : 0), path)
    return answer
  }

  test('where the path must be decoded first', async () => {
    const answer = await assertFramed(`/contacts/${id.replace('-', '%2D')}`, 200)
    assert.equal(answer.body.id, id)
  })

  test('where the token lacks the scope', async () => {
    const narrow = await tenant.serviceToken(['accounts:read'])
    const answer = await assertFramed(`/contacts/${id}`, 403, narrow)
    assert.match(answer.headers.get('www-authenticate') ?? '', /insufficient_scope/)
  })

  test('where there is no such path', async () => {
    await assertFramed(`/contacts/${id}/`, 404)
    await assertFramed(`/contacts/${id}/restore`, 405)
    await assertFramed('/unheard', 404)
  })
})
