import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basePath, operations } from '@masthead/contract'
import { until } from '../../../test/processes/masthead-process.ts'
import { populatedTenant } from '../../../test/records/populated-tenant.ts'
import { sendRaw } from '../../../test/requests/raw-connection.ts'
import { validRequest } from '../../../test/requests/valid-requests.ts'
import { type CallResponse, startService } from '../../../test/service.ts'

const service = await startService()
const { tenant, token, records } = await populatedTenant(service)

type Headers = Readonly<Record<string, string>>

const get = (path: string, headers: Headers, bearer = token): Promise<CallResponse> => {
  const fixed = {
    Host: 'masthead.test',
    Connection: 'close',
    Authorization: `Bearer ${bearer}`,
    'X-Request-Id': 'same',
  }
  const lines = Object.entries({ ...fixed, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return sendRaw(service.origin, `GET ${basePath}${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
}

/** What must be the same wherever a response comes from. */
const comparable = ({ status, headers, text }: CallResponse) => {
  const { date: _date, ratelimit, ...others } = Object.fromEntries(headers)
  return { status, headers: { ...others, ratelimit: ratelimit?.replaceAll(/[rt]=\d+/g, '') }, text }
}
const left = ({ headers }: CallResponse): [requests: number, seconds: number] => {
  const [, requests, seconds] = /"token";r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? []
  return [Number(requests), Number(seconds)]
}

const uncached = { 'Cache-Control': 'no-cache' }

/** Once from the database, and then as often from the cache as it is there, each charged as it must be. */
const assertSame = async (path: string, headers: Headers, status: number): Promise<CallResponse> => {
  const answers: CallResponse[] = []
  await until(`${path} is answered in one window of the limits`, async () => {
    const first = await get(path, {})
    const cached = await get(path, headers)
    const read = await get(path, { ...headers, ...uncached })
    answers.splice(0, 3, first, cached, read)
    return left(read)[1] <= left(first)[1]
  })
  const [first, cached, read] = answers
  assert.ok(first && cached && read)
  assert.equal(cached.status, status, `${path}: ${cached.text}`)
  assert.deepEqual(comparable(cached), comparable(read), path)
  // Only a 304 from the cache is free.
  const charges = [left(first)[0] - left(cached)[0], left(cached)[0] - left(read)[0]]
  assert.deepEqual(charges, [status === 304 ? 0 : 1, 1], path)
  return cached
}

const reads = operations.filter(({ operation }) => operation.method === 'GET')

describe('a read has the same response from the cache and from the database', () => {
  for (const { name } of reads.filter(({ operation }) => !operation.isVolatile)) {
    const { path } = validRequest(name, records)

    test(`when ${name} succeeds`, async () => {
      const { headers } = await assertSame(path, {}, 200)
      const tag = headers.get('etag') ?? ''
      for (const seen of [tag, `W/${tag}`, `"other", ${tag}`, '*'])
        await assertSame(path, { 'If-None-Match': seen }, 304)
      await assertSame(path, { 'If-None-Match': '"other"' }, 200)
      for (const encoding of ['gzip', 'br', 'zstd', 'identity'])
        await assertSame(path, { 'Accept-Encoding': encoding }, 200)
      // A length that says nothing.
      await assertSame(path, { 'Content-Length': '0' }, 200)
    })

    test(`when ${name} refuses it`, async () => {
      await assertSame(path, { 'If-None-Match': 'bare' }, 400)
      for (const query of ['unheard=1', 'page=0', 'pageSize=201', 'search=%', 'search=%20', 'cursor=AAAA'])
        await assertSame(`${path}?${query}`, {}, 400)
    })
  }

  test('when there is no such record', async () => {
    for (const { operation } of reads) {
      const path = operation.path.replace(/\{\w+\}/, '01900000-0000-7000-8000-000000000000')
      if (path !== operation.path) await assertSame(path, {}, 404)
    }
  })

  test('on each page of a list', async () => {
    const seen: string[] = []
    for (let path = '/contacts?pageSize=1&includeDeleted=true'; path !== ''; ) {
      const { body, headers } = await assertSame(path, {}, 200)
      seen.push(...body.items.map(({ id }: { id: string }) => id))
      path = /<http:\/\/masthead\.test\/customer-api\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
    }
    assert.equal(new Set(seen).size, 3)
  })
})

describe('a path', () => {
  const { id } = records.contact

  test('is decoded, also its base', async () => {
    assert.equal((await get(`/contacts/${id.replace('-', '%2D')}`, {})).body.id, id)
    assert.equal((await get(`/%63ontacts/${id}#part`, {})).body.id, id)
    const head = `Host: masthead.test\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n`
    const { body } = await sendRaw(service.origin, `GET /customer%2Dapi/v1/contacts/${id} HTTP/1.1\r\n${head}`)
    assert.equal(body.id, id)
  })

  test('that cannot be decoded is refused once the token is known', async () => {
    assert.equal((await get('/contacts/%zz', {})).status, 400)
    assert.equal((await get('/contacts/%zz', {}, 'unknown')).status, 401)
  })

  test('needs the scope of its operation', async () => {
    const narrow = await tenant.serviceToken(['accounts:read'])
    const answer = await get(`/contacts/${id}`, {}, narrow)
    assert.equal(answer.status, 403)
    assert.match(answer.headers.get('www-authenticate') ?? '', /insufficient_scope/)
  })

  test('that leads nowhere is refused by name, to whoever has a token', async () => {
    const [slash, wrongMethod, unheard, base] = [`/contacts/${id}/`, `/contacts/${id}/restore`, '/unheard', '']
    for (const [path, status] of [
      [slash, 404],
      [wrongMethod, 405],
      [unheard, 404],
      [base, 404],
    ] as const) {
      assert.equal((await get(path, {})).status, status, path)
      assert.equal((await get(path, {}, 'unknown')).status, 401, path)
    }
  })

  test('beside the base path is none of the API', async () => {
    assert.equal((await get('x', {}, 'unknown')).status, 404)
  })
})
