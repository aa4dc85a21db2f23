import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { describe, test } from 'node:test'
import { basePath, exportJobs, isPaged, type NamedOperation, operations, type ProblemCode } from '@masthead/contract'
import type { TObject } from 'typebox'
import { populatedTenant } from '../records/populated-tenant.ts'
import { storedStateIn } from '../records/stored-state.ts'
import { assertProblem, type Place } from '../requests/problem-response.ts'
import { sendRaw } from '../requests/raw-connection.ts'
import { callOperation, validRequest } from '../requests/valid-requests.ts'
import { type CallOptions, startService } from '../service.ts'

const service = await startService()
const { token, records } = await populatedTenant(service)
const storedState = await storedStateIn(service.owner)

const unknownId = '00000000-0000-7000-8000-000000000000'

type Schema = {
  type: string | string[]
  format?: string
  enum?: string[]
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
}
const propertiesOf = (schema: TObject | undefined): [string, Schema][] =>
  Object.entries(JSON.parse(JSON.stringify(schema?.properties ?? {})))
const isText = ({ type }: Schema) => [type].flat().includes('string')

const lists = operations.filter(({ operation }) => operation.query)
const writes = operations.filter(({ operation }) => operation.body)
const named = operations.filter(({ operation }) => operation.path.includes('{'))

/** A test whose requests change nothing, and after which the service still answers. */
const harmless = (name: string, work: () => Promise<void>): void => {
  test(name, async () => {
    const before = await storedState()
    await work()
    assert.deepEqual(await storedState(), before)
    assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
  })
}

const get = (path: string, headers: Record<string, string> = {}) => service.call('GET', path, { token, headers })
const send = (one: NamedOperation, options: CallOptions) =>
  callOperation(service.call, one, records, { token, ...options })
const bodyOf = ({ name }: NamedOperation): Record<string, unknown> => validRequest(name, records).body ?? {}
/** The valid body of an operation with one property replaced. */
const sendWith = (one: NamedOperation, property: string, value: unknown) =>
  send(one, { body: { ...bodyOf(one), [property]: value } })

describe('a query', () => {
  for (const { name, operation } of lists) {
    for (const [parameter, schema] of propertiesOf(operation.query)) {
      const refused = async (text: string, code: ProblemCode = 'invalid_parameter') => {
        const answer = await get(`${operation.path}?${parameter}=${encodeURIComponent(text)}`)
        assertProblem(answer, code, [{ parameter }], `${parameter}=${text}`)
      }

      if (schema.type === 'number')
        harmless(
          `of ${name} takes whole numbers from ${schema.minimum} to ${schema.maximum} as ${parameter}`,
          async () => {
            const tooMuch = [
              String((schema.maximum ?? 0) + 1),
              '99999999999999999999',
              '1e10',
              '1e400',
              '9'.repeat(500),
            ]
            const noNumbers = ['', ' ', 'abc', 'NaN', 'Infinity', '0x10', '1,5', '१', '1;2', 'null', '[1]', '--1', '1e']
            const tooLittle = schema.minimum === 0 ? [] : ['0', '-0']
            for (const text of [...tooLittle, '-1', '1.5', '0.5', '1e-1', ...tooMuch, ...noNumbers]) await refused(text)
            for (const text of ['1', '1.0', '1e0', String(schema.maximum)]) {
              const { status, body } = await get(`${operation.path}?${parameter}=${text}`)
              assert.equal(status, 200)
              if (isPaged(operation)) assert.equal(body[parameter], Number(text))
            }
          },
        )

      if (schema.type === 'boolean')
        harmless(`of ${name} takes true and false as ${parameter}`, async () => {
          for (const text of ['', '1', '0', 'yes', 'TRUE', 'True', ' true', 'true,false', 'null', 'x'])
            await refused(text)
          for (const text of ['true', 'false']) {
            assert.equal((await get(`${operation.path}?${parameter}=${text}`)).status, 200)
          }
        })

      if (schema.type === 'string')
        harmless(`of ${name} takes no U+0000 in ${parameter}`, async () => {
          await refused('a\0b')
        })

      harmless(`of ${name} takes ${parameter} once`, async () => {
        const formed = { date: '2026-01-02', 'date-time': '2026-01-02T03:04:05Z' }[String(schema.format)]
        const plain = { number: '1', boolean: 'true', string: 'x' }[String(schema.type)]
        const value = schema.enum?.[0] ?? formed ?? plain
        const answer = await get(`${operation.path}?${parameter}=${value}&${parameter}=${value}`)
        assertProblem(answer, 'invalid_parameter', [{ parameter }])
        assert.equal(answer.body.errors[0].code, 'repeated_parameter')
      })

      harmless(`of ${name} that misspells ${parameter} is told so`, async () => {
        for (const wrong of [parameter.toUpperCase(), `${parameter}s`, parameter.slice(1)]) {
          const answer = await get(`${operation.path}?${wrong}=1`)
          assertProblem(answer, 'invalid_parameter', [{ parameter: wrong }])
          assert.match(answer.body.errors[0].detail, new RegExp(`Did you mean \`${parameter}\`\\?`))
        }
      })
    }

    const given = isPaged(operation) ? 'cursor' : 'after'

    harmless(`of ${name} names every parameter that is wrong`, async () => {
      const [first = '', second = ''] = isPaged(operation) ? ['page', 'pageSize'] : ['limit', 'wait']
      const answer = await get(`${operation.path}?${first}=-1&nonsense=&${second}=x&__proto__=1&constructor=1`)
      const places = [first, 'nonsense', second, '__proto__', 'constructor'].map((parameter) => ({ parameter }))
      assertProblem(answer, 'invalid_parameter', places)
    })

    harmless(`of ${name} takes no cursor that it did not make, and none beside a page`, async () => {
      for (const cursor of [
        '',
        'x',
        'A'.repeat(32),
        'a b',
        '🙂',
        '../../..',
        `'; drop table contacts`,
        'A'.repeat(4000),
      ]) {
        const answer = await get(`${operation.path}?${given}=${encodeURIComponent(cursor)}`)
        assertProblem(answer, 'invalid_cursor', [{ parameter: given }], cursor)
      }
      if (isPaged(operation))
        assertProblem(await get(`${operation.path}?cursor=x&page=1`), 'invalid_parameter', [{ parameter: 'page' }])
    })

    harmless(`of ${name} with a broken percent-encoding is malformed`, async () => {
      for (const query of ['page=%zz', 'page=%', '%ff=1', 'page=%c3%28', 'page=%ed%a0%80']) {
        assertProblem(await get(`${operation.path}?${query}`), 'malformed_request', [], query)
      }
    })
  }

  for (const one of operations.filter(({ operation }) => !operation.query))
    harmless(`of ${one.name} is empty`, async () => {
      for (const parameter of ['page', 'x', '__proto__']) {
        const { operation } = one
        const { path, body } = validRequest(one.name, records)
        const options = { token, ...(body && { body }) }
        const answer = await service.call(operation.method, `${path}?${parameter}=1`, options)
        assertProblem(answer, 'invalid_parameter', [{ parameter }])
      }
    })
})

describe('a search', () => {
  for (const { name, operation } of lists.filter(
    ({ operation }) => operation.query && 'search' in operation.query.properties,
  )) {
    const search = (text: string, more = '') => get(`${operation.path}?search=${encodeURIComponent(text)}${more}`)

    harmless(`by ${name} has 1 to 200 characters, not only spaces and no U+0000`, async () => {
      const nobody =
        operation.query && 'accountId' in operation.query.properties ? ['', `&accountId=${unknownId}`] : ['']
      for (const more of nobody) {
        for (const text of ['', ' ', '   ', '\u0301', 'a'.repeat(201), '🙂'.repeat(201), '\0', 'a\0']) {
          assertProblem(await search(text, more), 'invalid_parameter', [{ parameter: 'search' }], JSON.stringify(text))
        }
      }
      for (const text of ['a'.repeat(200), '🙂'.repeat(200), '%', '_', '\\', `'`, '%_%', 'a%00', '\u{10ffff}', 'ß']) {
        assert.equal((await search(text)).status, 200, text)
      }
    })
  }
})

describe('a path', () => {
  test('that is almost right is refused with the one that was meant', async () => {
    const almost: Record<string, string> = {
      '/contacts/': '/contacts',
      '/Contacts': '/contacts',
      '//customer-api/v1//contacts': '/contacts',
      '/contact?pageSize=1': '/contacts',
      '/ACCOUNTS/C-1/': '/accounts/C-1',
      '/subscription/S-1': '/subscriptions/S-1',
    }
    for (const [path, meant] of Object.entries(almost)) {
      const { status, body } = await get(path)
      assert.deepEqual([status, body.code], [404, 'not_found'], path)
      assert.ok(body.detail.endsWith(`Did you mean \`${basePath}${meant}\`?`), body.detail)
    }
  })

  test('that is like no other gets no suggestion', async () => {
    for (const path of ['/nonsense', '/contacts/1/2/3', `/${'x'.repeat(5000)}`]) {
      const { status, body } = await get(path)
      assert.deepEqual([status, body.code], [404, 'not_found'], path)
      assert.doesNotMatch(body.detail, /Did you mean/)
    }
  })
})

describe('an identifier in the path', () => {
  for (const one of named) {
    const at = (id: string) => {
      const { body } = validRequest(one.name, records)
      const path = one.operation.path.replace(/\{\w+\}/, id)
      return service.call(one.operation.method, path, { token, ...(body && { body }) })
    }

    harmless(`of ${one.name} that names nothing is not found`, async () => {
      const ids = [
        'garbage',
        '0',
        '-1',
        'null',
        '\0',
        '🙂',
        'a/b',
        `' or 1=1 --`,
        '%',
        'a'.repeat(5000),
        `a${'🙂'.repeat(90)}`,
      ]
      for (const id of [...ids, unknownId, `${records.contact.id}0`, ' ', '{}']) {
        assertProblem(await at(encodeURIComponent(id)), 'not_found', [], id)
      }
    })

    harmless(`of ${one.name} with a broken percent-encoding is malformed`, async () => {
      for (const id of ['%zz', '%', '%ff', 'a%c3%28', '%ed%a0%80'])
        assertProblem(await at(id), 'malformed_request', [], id)
    })
  }
})

describe('a body', () => {
  for (const one of writes) {
    const { name, operation } = one
    const properties = propertiesOf(operation.body)
    const valid = JSON.stringify(bodyOf(one))
    const begin = (text: string) => valid.replace('{', `{${text},`)

    harmless(`of ${name} is JSON in UTF-8`, async () => {
      const bytes = Buffer.from(valid)
      const texts = [
        '',
        ' ',
        '{',
        valid.slice(0, -1),
        `${valid}}`,
        `${valid},`,
        `{'company':"x"}`,
        'undefined',
        '{"a":1,}',
        'NaN',
      ]
      const encoded = [
        Buffer.from(valid, 'utf16le'),
        Buffer.from(begin('"title":"é"'), 'latin1'),
        Buffer.from([0xc0, 0x80]),
      ]
      const surrogates = Buffer.concat([Buffer.from('{"title":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')])
      for (const body of [...texts, ...encoded, surrogates, bytes.subarray(0, 5), '// x\n{}', '[1 2]']) {
        assertProblem(
          await send(one, { body: body instanceof Buffer ? new Uint8Array(body) : body }),
          'malformed_body',
          [{ pointer: '' }],
        )
      }
    })

    harmless(`of ${name} is an object`, async () => {
      for (const body of [
        '[]',
        `[${valid}]`,
        '"text"',
        'null',
        '1',
        'true',
        '[['.repeat(50_000) + ']]'.repeat(50_000),
      ]) {
        assertProblem(await send(one, { body }), 'invalid_body', [{ pointer: '' }], body.slice(0, 40))
      }
    })

    harmless(`of ${name} that is nested deeply is refused like any other`, async () => {
      for (const [property, schema] of properties) {
        if (!isText(schema)) continue
        const deep = JSON.stringify({ ...bodyOf(one), [property]: null }).replace(
          `"${property}":null`,
          `"${property}":${'['.repeat(100_000)}${']'.repeat(100_000)}`,
        )
        assertProblem(await send(one, { body: deep }), 'invalid_body', [{ pointer: `/${property}` }])
      }
      const objects = begin(`"x":${'{"x":'.repeat(40_000)}1${'}'.repeat(40_000)}`)
      assertProblem(await send(one, { body: objects }), 'invalid_body', [{ pointer: '/x' }])
    })

    harmless(`of ${name} has no property beyond the described ones, and names the nearest`, async () => {
      const strange = [
        '__proto__',
        'constructor',
        'prototype',
        'toString',
        'hasOwnProperty',
        'a/b',
        'a~b',
        '',
        '0',
        '\ud800',
        '\0',
      ]
      for (const property of [...strange, 'x'.repeat(1000), 'tenantId', 'tenant_id', 'position', 'createdAt']) {
        const pointer = `/${property.replaceAll('~', '~0').replaceAll('/', '~1').toWellFormed()}`
        const answer = await send(one, { body: begin(`${JSON.stringify(property)}:{"a":1}`) })
        assertProblem(answer, 'invalid_body', [{ pointer }], property)
      }
      for (const [property] of properties) {
        const answer = await sendWith(one, property.toUpperCase(), 'x')
        assertProblem(answer, 'invalid_body', [{ pointer: `/${property.toUpperCase()}` }])
        assert.match(answer.body.detail, new RegExp(`Did you mean \`${property}\`\\?`))
      }
    })

    harmless(`of ${name} has its required properties`, async () => {
      const required = operation.body?.required ?? []
      if (required.length === 0) {
        assert.deepEqual([operation.method, (await send(one, { body: {} })).status], ['PATCH', 200])
        return
      }
      assertProblem(
        await send(one, { body: {} }),
        'invalid_body',
        required.map((property) => ({ pointer: `/${property}` })),
      )
      for (const property of required) {
        assertProblem(await sendWith(one, property, undefined), 'invalid_body', [{ pointer: `/${property}` }])
      }
    })

    harmless(`of ${name} has values of the described types`, async () => {
      const values = { string: 'x', number: 1, boolean: true, array: [], object: {}, null: null }
      for (const [property, { type }] of properties) {
        for (const [kind, value] of Object.entries(values)) {
          if ([type].flat().includes(kind)) continue
          const answer = await sendWith(one, property, value)
          assertProblem(answer, 'invalid_body', [{ pointer: `/${property}` }], `${property}: ${kind}`)
          assert.equal(answer.body.errors[0].code, 'wrong_type')
        }
      }
    })

    harmless(`of ${name} holds neither U+0000 nor half of a surrogate pair`, async () => {
      for (const [property, schema] of properties) {
        if (!isText(schema)) continue
        for (const text of ['\0', 'a\0b', '\ud800', 'a\udfffb', '\udc00\ud800']) {
          assertProblem(await sendWith(one, property, text), 'invalid_body', [{ pointer: `/${property}` }], property)
        }
      }
    })

    harmless(`of ${name} holds no text that is too long by one character`, async () => {
      for (const [property, { minLength = 0, maxLength }] of properties) {
        const places: Place[] = [{ pointer: `/${property}` }]
        if (minLength > 0) assertProblem(await sendWith(one, property, ''), 'invalid_body', places)
        if (maxLength === undefined) continue
        const half = Math.ceil((maxLength + 1) / 2)
        for (const text of ['a'.repeat(maxLength + 1), '🙂'.repeat(maxLength + 1), 'e\u0301'.repeat(half)]) {
          const answer = await sendWith(one, property, text)
          assertProblem(answer, 'invalid_body', places, `${property} of ${[...text].length}`)
          assert.equal(answer.body.errors[0].code, 'too_long')
        }
      }
    })

    test(`of ${name} holds text of the greatest length, counted in characters`, async () => {
      for (const [property, { maxLength }] of properties) {
        if (maxLength === undefined) continue
        const ending = /email/i.test(property) ? '@example.com' : ''
        const length = maxLength - ending.length
        for (const start of ['🙂'.repeat(length), 'e\u0301'.repeat(length / 2)]) {
          const text = start + ending
          const answer = await sendWith(one, property, text)
          assert.equal(answer.status, operation.status, `${property}: ${answer.text.slice(0, 300)}`)
          if (property in answer.body) assert.equal(answer.body[property], text)
        }
      }
    })

    test(`of ${name} may begin with a byte order mark, and of a repeated property the last counts`, async () => {
      assert.equal((await send(one, { body: `\ufeff${valid}` })).status, operation.status)
      const [property = ''] = Object.keys(bodyOf(one))
      assert.equal((await send(one, { body: begin(`"${property}":"x","${property}":1`) })).status, operation.status)
    })

    harmless(`of ${name} names only dates and instants that exist`, async () => {
      const days = ['2026-02-29', '2100-02-29', '2026-13-01', '2026-00-10', '2026-01-00', '2026-04-31', '0000-01-01']
      const shapes = [
        '',
        ' ',
        'x',
        '2026-1-1',
        '20260101',
        '2026-01-01 ',
        '+002026-01-01',
        '26-01-01',
        '01/02/2026',
        '२०२६-01-01',
      ]
      const times = [
        '24:00:00Z',
        '12:60:00Z',
        '12:00:61Z',
        '12:00:00',
        '12:00Z',
        '12:00:00+24:00',
        '12:00:00.Z',
        '12:00:00 Z',
      ]
      for (const [property, { format }] of properties) {
        if (format === undefined) continue
        const texts =
          format === 'date'
            ? [...days, ...shapes, '2026-01-01T00:00:00Z']
            : [
                ...days.map((day) => `${day}T00:00:00Z`),
                ...shapes,
                '2026-01-01',
                ...times.map((time) => `2020-01-01T${time}`),
              ]
        assert.match(format, /^date(-time)?$/)
        for (const text of texts) {
          assertProblem(await sendWith(one, property, text), 'invalid_body', [{ pointer: `/${property}` }], text)
        }
      }
    })

    harmless(`of ${name} is declared as JSON in UTF-8`, async () => {
      const types = [
        'text/plain',
        'application/xml',
        'application/jsonp',
        'application/x-www-form-urlencoded',
        'json',
        '*/*',
      ]
      const charsets = ['iso-8859-1', 'utf-16', '"latin1"'].map((charset) => `application/json; charset=${charset}`)
      const patch = operation.method === 'PATCH' ? [] : ['application/merge-patch+json']
      for (const type of [...types, ...charsets, ...patch, '', 'application/json-patch+json', 'a'.repeat(1000)]) {
        const answer = await send(one, { headers: { 'content-type': type } })
        assertProblem(answer, 'unsupported_media_type', [{ header: 'Content-Type' }], type)
      }
      const { path } = validRequest(name, records)
      const head = requestHead(operation.method, path, `content-length: ${Buffer.byteLength(valid)}`)
      assertProblem(await sendRaw(service.origin, head, valid), 'unsupported_media_type', [{ header: 'Content-Type' }])
    })

    harmless(`of ${name} is sent unpacked`, async () => {
      for (const encoding of ['gzip', 'deflate', 'br', 'gzip, gzip', 'x'.repeat(1000)]) {
        const answer = await send(one, { headers: { 'content-encoding': encoding } })
        assertProblem(answer, 'unsupported_media_type', [{ header: 'Content-Encoding' }], encoding)
      }
    })

    test(`of ${name} may say UTF-8 in any spelling`, async () => {
      for (const type of ['Application/JSON', 'application/json;charset=UTF-8', 'application/json; charset="utf-8"']) {
        const answer = await send(one, { headers: { 'content-type': type } })
        assert.equal(answer.status, operation.status, `${type}: ${answer.text}`)
      }
    })
  }
})

const requestHead = (method: string, path: string, ...headers: string[]): string =>
  [
    `${method} ${basePath}${path} HTTP/1.1`,
    'host: masthead.test',
    `authorization: Bearer ${token}`,
    'connection: close',
    ...headers,
    '\r\n',
  ].join('\r\n')

describe('a body that is too large', () => {
  for (const one of operations.filter(({ operation }) => operation.method !== 'GET')) {
    const { path } = validRequest(one.name, records)
    const { method } = one.operation
    const large = `{"notes":"${'a'.repeat(256 * 1024)}"}`
    const json = 'content-type: application/json'

    harmless(`is refused by ${one.name}, with a length or in chunks`, async () => {
      assertProblem(await service.call(method, path, { token, body: large }), 'body_too_large')
      const whole = requestHead(method, path, json, `content-length: ${large.length}`)
      assertProblem(await sendRaw(service.origin, whole, large), 'body_too_large')
      const chunk = `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`
      const chunked = requestHead(method, path, json, 'transfer-encoding: chunked')
      assertProblem(await sendRaw(service.origin, chunked, chunk), 'body_too_large')
      const announced = requestHead(method, path, json, 'content-length: 99999999999')
      assertProblem(await sendRaw(service.origin, announced), 'body_too_large')
    })

    harmless(`begins above 256 KiB for ${one.name}`, async () => {
      const most = `{"x":"${'a'.repeat(256 * 1024 - 8)}"}`
      assert.equal(most.length, 256 * 1024)
      assert.equal((await service.call(method, path, { token, body: most })).status, 422)
    })
  }
})

describe('an operation without a body', () => {
  for (const one of operations.filter(({ operation }) => operation.method !== 'GET' && !operation.body)) {
    harmless(`such as ${one.name} refuses one, whatever it is`, async () => {
      for (const body of ['{}', 'null', 'x', ' ']) {
        assertProblem(await send(one, { body }), 'invalid_body', [{ pointer: '' }])
        const answer = await send(one, { body, headers: { 'content-type': 'text/plain' } })
        assertProblem(answer, 'invalid_body', [{ pointer: '' }])
      }
    })
  }
})

describe('a conditional header', () => {
  const garbage = [
    'abc',
    '"abc',
    'abc"',
    'W/abc',
    'w/"a"',
    '"a" "b"',
    '"a b"',
    '""a"',
    '**',
    '*, "a"',
    '',
    'é',
    '"a";"b"',
  ]
  for (const one of operations) {
    const { operation, name } = one
    const header = operation.method === 'GET' ? 'If-None-Match' : operation.conditional ? 'If-Match' : null
    if (header === null) continue
    harmless(`${header} of ${name} holds entity tags`, async () => {
      for (const text of garbage) {
        assertProblem(await send(one, { headers: { [header]: text } }), 'invalid_header', [{ header }], text)
      }
    })
  }
})

describe('a request that is too long', () => {
  harmless('is refused with 414 by its URL, whatever its length', async () => {
    for (const kibibytes of [9, 31, 40, 60]) {
      const filler = 'a'.repeat(kibibytes * 1024)
      assertProblem(await get(`/accounts?search=${filler}`), 'url_too_long', [], `${kibibytes} KiB`)
      assertProblem(await get(`/accounts/${filler}`), 'url_too_long')
      assertProblem(await service.call('GET', `//${filler}`), 'url_too_long')
    }
  })

  harmless('is refused with 431 by its headers', async () => {
    for (const kibibytes of [33, 40, 60]) {
      const answer = await get('/accounts', { 'x-filler': 'a'.repeat(kibibytes * 1024) })
      assertProblem(answer, 'headers_too_large', [], `${kibibytes} KiB`)
    }
    const many = Array.from({ length: 500 }, (_, index) => `x-filler-${index}: ${'a'.repeat(80)}`)
    assertProblem(await sendRaw(service.origin, requestHead('GET', '/accounts', ...many)), 'headers_too_large')
  })
})

const titleOf = (schema: TObject | undefined): string => JSON.parse(JSON.stringify(schema)).title

test('texts may be as long as decided', () => {
  const decided: Record<string, Record<string, number>> = {
    ContactInput: {
      name: 255,
      firstName: 255,
      lastName: 255,
      title: 255,
      email: 254,
      phone: 50,
      phone2: 50,
      extension: 20,
      notes: 10_000,
    },
    AccountInput: {
      company: 255,
      firstName: 255,
      lastName: 255,
      title: 255,
      email: 254,
      phone: 50,
      address: 500,
      city: 100,
      state: 100,
      zip: 20,
      website: 2048,
      category: 100,
      quality: 100,
    },
    AccountChanges: {
      company: 255,
      address: 500,
      suite: 100,
      city: 100,
      state: 100,
      zip: 20,
      country: 100,
      webAddress: 2048,
      status: 100,
      billingEmail: 254,
    },
    TaskInput: { title: 255, priority: 100, type: 100 },
    TaskChanges: { title: 255, priority: 100, type: 100, notes: 10_000 },
  }
  // What an export takes is stored nowhere for long.
  for (const { operation } of writes.filter(({ resource }) => resource.name !== exportJobs.name)) {
    const limits = Object.entries(decided[titleOf(operation.body)] ?? {})
    assert.ok(limits.length > 0)
    const declared = Object.fromEntries(propertiesOf(operation.body).map(([name, { maxLength }]) => [name, maxLength]))
    for (const [name, length] of limits) assert.equal(declared[name], length, name)
  }
  for (const { operation } of lists.filter(({ operation }) => isPaged(operation))) {
    const [, size] = propertiesOf(operation.query).find(([name]) => name === 'pageSize') ?? []
    assert.equal(size?.maximum, 200)
  }
})

describe('many unknown properties', () => {
  for (const one of writes) {
    harmless(`do not get past ${one.name}, however many and whatever they are called`, async () => {
      for (const count of [1, 7, 8, 9, 1_000]) {
        const extra = Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}) values (1); --`, 1]))
        const answer = await send(one, { body: { ...bodyOf(one), ...extra } })
        const named = Object.keys(extra)
          .slice(0, 20)
          .map((name) => ({ pointer: `/${name}` }))
        assertProblem(answer, 'invalid_body', named)
      }
    })

    harmless(`do not hide what else is wrong with ${one.name}`, async () => {
      const [given = ''] = Object.keys(bodyOf(one))
      const extra = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x${index}`, 1]))
      const { status, body } = await send(one, { body: { ...bodyOf(one), ...extra, [given]: { a: 1 } } })
      assert.equal(status, 422)
      assert.ok(body.errors.some(({ pointer }: Place & { pointer?: string }) => pointer === `/${given}`))
    })
  }
})

test('of thousands of unknown names the first twenty are named', async () => {
  const body = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`_${index}`, 0]))
  const answer = await service.call('POST', '/contacts', { token, body: { accountId: 'x', ...body } })
  assertProblem(
    answer,
    'invalid_body',
    Object.keys(body)
      .slice(0, 20)
      .map((name) => ({ pointer: `/${name}` })),
  )
})

describe('a method that no operation has', () => {
  test('is refused by name, whatever it is', async () => {
    const parsed = METHODS.filter((method) => !['GET', 'HEAD', 'POST', 'OPTIONS', 'CONNECT'].includes(method))
    for (const method of parsed) {
      assertProblem(await sendRaw(service.origin, requestHead(method, '/contacts')), 'method_not_allowed')
      const page = await sendRaw(
        service.origin,
        `${method} /readyz HTTP/1.1\r\nhost: masthead.test\r\nconnection: close\r\n\r\n`,
      )
      assert.ok(page.status === 405 || page.status === 404, `${method} ${page.status}`)
    }
  })
})

test('stray bytes after a request do not take the place of its answer', async () => {
  const body = JSON.stringify({ accountId: records.account.accountId })
  const head = requestHead('POST', '/contacts', 'content-type: application/json', `content-length: ${body.length}`)
  const answer = await sendRaw(service.origin, `${head.replace('connection: close\r\n', '')}${body}  `)
  assert.equal(answer.status, 201)
})

test('a body that nobody reads is not looked at', async () => {
  for (const [path, code] of [['//nothing', 'not_found'] as const, ['//healthz', 'method_not_allowed'] as const]) {
    for (const type of ['application/json', 'text/plain', 'application/xml']) {
      for (const body of ['', '{', 'null']) {
        for (const method of ['POST', 'DELETE']) {
          const answer = await service.call(method, path, { body, headers: { 'content-type': type } })
          assertProblem(answer, code, [], `${method} ${path} ${type} ${body}`)
        }
      }
    }
  }
})

test('an expectation that nobody can meet is ignored', async () => {
  for (const expected of ['100-continue', 'wonders', '']) {
    const answer = await sendRaw(service.origin, requestHead('GET', '/contacts', `expect: ${expected}`))
    assert.deepEqual([answer.status, answer.body.page], [200, 1], expected)
  }
})

test('a wish for another protocol is ignored, and the connection ends with the answer', async () => {
  const wishes = ['connection: upgrade', 'upgrade: h2c', 'http2-settings: AAMAAABkAARAAAAAAAIAAAAA']
  for (const [path, status] of [['/contacts', 200] as const, ['/contacts/%zz', 400] as const]) {
    const head = requestHead('GET', path).replace('connection: close', wishes.join('\r\n'))
    const answer = await sendRaw(service.origin, head)
    assert.deepEqual([answer.status, answer.headers.get('connection')], [status, 'close'])
  }
})

test('restoring and deleting take an empty body whatever the content type says', async () => {
  const { body: contact } = await service.call('POST', '/contacts', {
    token,
    body: { accountId: records.account.accountId },
  })
  for (const type of ['zzz;;;', 'nonsense', '', 'application/json; charset=']) {
    const head = requestHead('POST', `/contacts/${contact.id}/restore`, `content-type: ${type}`, 'content-length: 0')
    assert.equal((await sendRaw(service.origin, head)).status, 200, type)
  }
})

test('absolute addresses are as good as paths', async () => {
  const target = `http://masthead.test${basePath}/contacts`
  const rest = `HTTP/1.1\r\nhost: masthead.test\r\nconnection: close\r\nauthorization: Bearer ${token}\r\n\r\n`
  assert.equal((await sendRaw(service.origin, `GET ${target} ${rest}`)).status, 200)
  const refused = await sendRaw(service.origin, `PUT ${target} ${rest}`)
  assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD, POST, OPTIONS'])
  assert.equal((await sendRaw(service.origin, `OPTIONS ${target} ${rest}`)).status, 204)
})

test('an answer to thousands of mistakes is small', async () => {
  const { status, text, body } = await get(`/contacts?${'q&'.repeat(3_500)}`)
  assert.deepEqual([status, body.errors.length], [400, 20])
  assert.ok(text.length < 20_000)
})

describe('what is not HTTP', () => {
  const host = 'host: masthead.test\r\n'
  const pieces: Record<string, string | Uint8Array> = {
    'a word': 'garbage\r\n\r\n',
    'another protocol': 'SSH-2.0-OpenSSH_9.9\r\n',
    'the beginning of TLS': Uint8Array.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3),
    zeros: new Uint8Array(100),
    'an unknown version': `GET / HTTP/9.9\r\n${host}\r\n`,
    'an unknown method': `FETCH / HTTP/1.1\r\n${host}\r\n`,
    'a space in the URL': `GET /a b HTTP/1.1\r\n${host}\r\n`,
    'a header without a name': `GET / HTTP/1.1\r\n${host}: x\r\n\r\n`,
    'a header with a control character': `GET / HTTP/1.1\r\n${host}x: a\0b\r\n\r\n`,
    'a negative length': `POST / HTTP/1.1\r\n${host}content-length: -1\r\n\r\n`,
    'two lengths': `POST / HTTP/1.1\r\n${host}content-length: 1\r\ncontent-length: 2\r\n\r\nab`,
    'a length and chunks': `POST / HTTP/1.1\r\n${host}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  }
  for (const [kind, bytes] of Object.entries(pieces))
    harmless(`is answered as malformed: ${kind}`, async () => {
      assertProblem(await sendRaw(service.origin, bytes), 'malformed_request')
    })

  harmless('is answered as malformed: chunks without a size', async () => {
    const head = requestHead('POST', '/contacts', 'content-type: application/json', 'transfer-encoding: chunked')
    assertProblem(await sendRaw(service.origin, head, 'zz\r\n{}\r\n0\r\n\r\n'), 'malformed_request')
  })
})
