import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import {
  basePath,
  documentPath,
  isPaged,
  listedNames,
  type ManagementProblemCode,
  type NamedOperation,
  openapi,
  operations,
  type ProblemCode,
  problems,
  readScopeOf,
} from '@masthead/contract'
import { buildApp } from '../../src/app.ts'
import { openDatabase } from '../../src/database/database.ts'
import { openLog } from '../../src/log/log.ts'
import { attachTo } from '../outside/webhook-receiver.ts'
import { until } from '../processes/masthead-process.ts'
import { populatedTenant } from '../records/populated-tenant.ts'
import { assertConforms, assertProblemSchema, responsesOf } from '../requests/contract-responses.ts'
import { sendRaw } from '../requests/raw-connection.ts'
import { callOperation, validRequest } from '../requests/valid-requests.ts'
import { baseUrl, type CallOptions, type CallResponse, generous, linksOf, openPort, startService } from '../service.ts'

const service = await startService()
const { token, records, tenant } = await populatedTenant(service)
const { body: document } = await service.call('GET', '/openapi.json')

const call = (named: NamedOperation, options: CallOptions & { method?: string } = {}) =>
  callOperation(service.call, named, records, { token, ...options })

const gets = operations.filter(({ operation }) => operation.method === 'GET')
const byPath = Map.groupBy(operations, ({ operation }) => operation.path)

type Json = Record<string, unknown>

/** The embedded authorization server cannot start without its database. */
const outside = {
  issuer: 'http://issuer.test',
  audience: null,
  matchUsersBy: 'subject' as const,
  consoleClientId: null,
  claims: { client: 'client_id', scope: 'scope', tenant: 'tenant', email: 'email', emailVerified: 'email_verified' },
}

/** A service whose database does not answer. */
const stranded = async () => {
  const database = openDatabase({ connectionString: 'postgres://nobody@127.0.0.1:1/nothing', role: null })
  const app = await buildApp({
    database,
    baseUrl: 'http://masthead.test',
    delegation: outside,
    rateLimits: null,
    log: openLog({ level: 'silent' }),
  })
  after(async () => {
    await app.close()
    await database.close()
  })
  return openPort(app)
}

describe('a success', () => {
  for (const named of operations) {
    const { name, operation } = named

    test(`of ${name} is what its closed schema says, with the fields in order`, async () => {
      const answer = await call(named)
      assert.equal(answer.status, operation.status, answer.text)
      assertConforms(named, answer)
      if (operation.download) return
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
      const fields = Object.keys(operation.response.properties)
      assert.deepEqual(Object.keys(answer.body), fields)
      assert.deepEqual([...(operation.response.required ?? [])], fields)
      if (!operation.query) return
      assert.ok(answer.body.items.length >= 2)
      for (const item of answer.body.items) {
        assert.deepEqual(Object.keys(item), Object.keys(named.resource.record.properties))
      }
    })

    test(`of ${name} carries the headers that every success carries`, async () => {
      const { headers, body } = await call(named)
      assert.equal(headers.get('cache-control'), 'private, no-cache')
      assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f]{32}$/)
      for (const header of Object.keys(responsesOf(named)[operation.status]?.headers ?? {})) {
        // Only a retry has this one.
        assert.equal(headers.has(header), header !== 'Idempotency-Replayed', `${name} promises ${header}`)
      }
      const location = headers.get('location')
      assert.equal(location !== null, 'Location' in (responsesOf(named)[operation.status]?.headers ?? {}))
      if (location === null) return
      const path = location.slice(`http://masthead.test${basePath}`.length)
      const { status, body: record } = await service.call('GET', path, { token })
      assert.deepEqual([status, record.accountId], [200, body.accountId])
    })
  }

  test('of a creation says whether it also went to a legacy system', async () => {
    const other = await populatedTenant(service)
    const creations = operations.filter(
      ({ operation: { method, response } }) => method === 'POST' && 'route' in response.properties,
    )
    assert.equal(creations.length, 2)
    const routes = async () => {
      const answers = []
      for (const named of creations) {
        const answer = await callOperation(service.call, named, other.records, { token: other.token })
        assertConforms(named, answer)
        answers.push(answer.body.route)
      }
      return answers
    }
    assert.deepEqual(await routes(), ['native', 'native'])
    await attachTo(service, other.tenant, { url: 'http://127.0.0.1:1/', secret: '' })
    assert.deepEqual(await routes(), ['legacy', 'legacy'])
  })

  test('of an empty page is what its schema says', async () => {
    const empty = await (await service.newTenant()).serviceToken()
    for (const named of operations.filter(({ operation }) => isPaged(operation))) {
      const answer = await call(named, { token: empty })
      assert.deepEqual(answer.body, { items: [], page: 1, pageSize: 50, total: 0 })
      assertConforms(named, answer)
    }
  })
})

describe('a GET', () => {
  // Those that were created above go on, and a list of them changes until they have ended.
  before(() =>
    until('every export has ended', async () => {
      const { body } = await service.call('GET', '/exports', { token })
      return body.items.every(({ state }: { state: string }) => state !== 'waiting' && state !== 'running')
    }),
  )

  for (const named of gets) {
    /** What belongs to the answer: not to the connection, nor to this one request. */
    const headersOf = ({ headers }: CallResponse) => {
      const { date, connection, 'keep-alive': alive, ...lasting } = Object.fromEntries(headers)
      const { 'x-request-id': id, ratelimit: left, ...rest } = lasting
      assert.ok(date && id && left)
      return rest
    }

    test(`of ${named.name} has an entity tag, and 304 for whoever has it`, async () => {
      const answer = await call(named)
      const tag = answer.headers.get('etag') ?? ''
      assert.match(tag, /^"[\x21\x23-\x7e]+"$/)
      for (const method of ['GET', 'HEAD']) {
        const again = await call(named, { method, headers: { 'if-none-match': tag } })
        assert.deepEqual([again.status, again.text], [304, ''])
        const {
          'content-length': _length,
          'content-type': _type,
          'content-encoding': _encoding,
          ...kept
        } = headersOf(answer)
        assert.deepEqual(headersOf(again), kept)
      }
    })

    test(`of ${named.name} answers HEAD with the same headers and no body`, async () => {
      const headers = { 'accept-encoding': 'identity' }
      const [get, head] = [await call(named, { headers }), await call(named, { method: 'HEAD', headers })]
      assert.deepEqual([head.status, head.text], [get.status, ''])
      assert.deepEqual(headersOf(head), headersOf(get))
      assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(get.text)))
    })
  }

  test('of a list links to addresses of the API', async () => {
    const { headers } = await service.call('GET', '/contacts?pageSize=1', { token })
    assert.deepEqual(Object.keys(linksOf(headers)), ['first', 'next', 'last'])
    for (const [, address = ''] of (headers.get('link') ?? '').matchAll(/<([^>]*)>/g)) {
      assert.ok(address.startsWith(`http://masthead.test${basePath}/contacts?`))
    }
  })
})

describe('a path', () => {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
  for (const [path, named] of byPath) {
    const known = named.flatMap(({ operation: { method } }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const allowed = [...known, 'OPTIONS'].sort()
    const listed = (header: string | null) => (header ?? '').split(', ').sort()
    const [first] = named
    const address = first ? validRequest(first.name, records).path : ''

    test(`${path} refuses other methods with 405 and says which it has`, async () => {
      for (const method of methods.filter((one) => !known.includes(one))) {
        const answer = await service.call(method, address, { token })
        assert.equal(answer.status, 405, method)
        assert.deepEqual(listed(answer.headers.get('allow')), allowed)
        if (method === 'HEAD') continue
        assert.equal(answer.body.code, 'method_not_allowed')
        assertProblemSchema(answer.body)
        assert.equal((await service.call(method, address)).status, 401)
      }
    })

    test(`${path} answers a preflight with 204, without a token`, async () => {
      const wanted = ['authorization', 'content-type', 'if-match', 'if-none-match', 'idempotency-key', 'x-request-id']
      for (const method of known) {
        const { status, headers, text } = await service.call('OPTIONS', address, {
          headers: {
            origin: 'https://elsewhere.example',
            'access-control-request-method': method,
            'access-control-request-headers': wanted.join(', '),
          },
        })
        assert.deepEqual([status, text], [204, ''])
        assert.equal(headers.get('access-control-allow-origin'), '*')
        assert.equal(headers.get('access-control-allow-credentials'), null)
        assert.deepEqual(listed(headers.get('access-control-allow-methods')), allowed)
        const accepted = listed(headers.get('access-control-allow-headers')).map((name) => name.toLowerCase())
        for (const header of wanted) assert.ok(accepted.includes(header), header)
      }
    })
  }
})

describe('any page', () => {
  const exposed =
    'ETag, Link, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Idempotency-Replayed, WWW-Authenticate, Content-Range, Accept-Ranges, Content-Disposition'
  const assertOpen = ({ headers }: CallResponse, about: string) => {
    assert.equal(headers.get('access-control-allow-origin'), '*', about)
    assert.equal(headers.get('access-control-allow-credentials'), null, about)
    const names = (headers.get('access-control-expose-headers') ?? '').split(', ')
    assert.deepEqual(names.sort(), exposed.split(', ').sort(), about)
  }

  test('may read every answer of the API, also a refusal', async () => {
    for (const named of operations) {
      assertOpen(await call(named), named.name)
      assertOpen(await call(named, { token: '' }), `${named.name} without a token`)
    }
    for (const path of [
      '/openapi.json',
      '/contacts?x=1',
      '/contacts/x',
      '/nothing',
      '/contacts/%zz',
      `/contacts/${'a'.repeat(9000)}`,
    ]) {
      assertOpen(await service.call('GET', path, { token }), path)
    }
    assertOpen(await service.call('PUT', '/contacts', { token }), 'PUT')
    assertOpen(await service.call('GET', '//.well-known/oauth-protected-resource/customer-api/v1'), 'metadata')
  })
})

describe('X-Request-Id', () => {
  const sent = async (id: string) => {
    const headers = { 'x-request-id': id }
    const [good, bad] = [
      await service.call('GET', '/contacts', { token, headers }),
      await service.call('GET', '/contacts?x=1', { token, headers }),
    ]
    assert.equal(bad.body.requestId, bad.headers.get('x-request-id'))
    return [good.headers.get('x-request-id'), bad.headers.get('x-request-id')]
  }

  test('is the one that the caller chose', async () => {
    for (const id of ['a', '0', 'A.b_c-9', 'x'.repeat(128)]) assert.deepEqual(await sent(id), [id, id])
  })

  test('is replaced when it is not 1 to 128 of the accepted characters', async () => {
    for (const id of ['', 'x'.repeat(129), 'a b', 'a/b', 'é', 'a,b', '{}', '"a"']) {
      const given = await sent(id)
      for (const one of given) assert.match(one ?? '', /^[0-9a-f]{32}$/, id)
      assert.notEqual(given[0], given[1])
    }
  })
})

describe('a problem', () => {
  const at = (name: string): NamedOperation => {
    const named = operations.find((one) => one.name === name)
    if (!named) throw new Error(`there is no operation ${name}`)
    return named
  }
  const [list, get, create, update, task] = [
    at('GetContacts'),
    at('GetContactById'),
    at('CreateContactRecord'),
    at('UpdateContactRecord'),
    at('CreateTaskRecord'),
  ]
  const to = (path: string, headers: Record<string, string> = {}) => service.call('GET', path, { token, headers })

  /** A service that lacks a table. */
  const broken = async () => {
    await service.owner.query('alter table tasks rename to secret_name')
    return () => service.owner.query('alter table secret_name rename to tasks')
  }

  const occurrences: Record<
    Exclude<ProblemCode, ManagementProblemCode>,
    () => Promise<[NamedOperation, CallResponse] | [null, CallResponse]>
  > = {
    malformed_request: async () => [get, await to('/contacts/%zz')],
    malformed_body: async () => [create, await call(create, { body: '{' })],
    invalid_parameter: async () => [list, await to('/contacts?pagesize=1')],
    invalid_cursor: async () => [list, await to('/contacts?cursor=x')],
    invalid_header: async () => [list, await to('/contacts', { 'if-none-match': 'x' })],
    missing_token: async () => [list, await service.call('GET', '/contacts')],
    invalid_token: async () => [list, await service.call('GET', '/contacts', { token: 'x' })],
    insufficient_scope: async () => [list, await call(list, { token: await tenant.serviceToken(['accounts:read']) })],
    insufficient_role: async () => [create, await call(create, { token: await tenant.personalToken('viewer') })],
    not_found: async () => [get, await to('/contacts/nobody')],
    method_not_allowed: async () => [null, await service.call('PUT', '/contacts', { token })],
    contact_deleted: async () => [
      update,
      await service.call('PATCH', `/contacts/${records.deletedContact.id}`, {
        token,
        body: { accountId: records.account.accountId },
      }),
    ],
    precondition_failed: async () => [update, await call(update, { headers: { 'if-match': '"x"' } })],
    body_too_large: async () => [create, await call(create, { body: ' '.repeat(300_000) })],
    url_too_long: async () => [list, await to(`/contacts?search=${'a'.repeat(9000)}`)],
    unsupported_media_type: async () => [create, await call(create, { headers: { 'content-type': 'text/plain' } })],
    invalid_body: async () => [create, await call(create, { body: { accountid: '' } })],
    request_in_progress: async () => {
      // One of two waits for this lock.
      await service.owner.query('begin')
      await service.owner.query('select from heads where tenant_id = $1 for update', [tenant.id])
      const both = [1, 2].map(() => call(create, { headers: { 'idempotency-key': 'slow' } }))
      const tooEarly = await Promise.race(both)
      await service.owner.query('commit')
      await Promise.all(both)
      return [create, tooEarly]
    },
    idempotency_key_reused: async () => {
      await call(create, { headers: { 'idempotency-key': 'reused' } })
      return [create, await call(create, { headers: { 'idempotency-key': 'reused' }, body: { accountId: 'other' } })]
    },
    too_many_requests: async () => {
      const strict = await startService({ rateLimits: { ...generous, token: 1 } })
      const token = await (await strict.newTenant()).serviceToken()
      await strict.call('GET', '/contacts', { token })
      return [list, await strict.call('GET', '/contacts', { token })]
    },
    headers_too_large: async () => [list, await to('/contacts', { 'x-filler': 'a'.repeat(40_000) })],
    internal_error: async () => {
      const mend = await broken()
      const answer = await call(task)
      await mend()
      return [task, answer]
    },
    unavailable: async () => {
      const path = `${basePath}/contacts`
      const head = `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n\r\n`
      return [list, await sendRaw(await stranded(), head)]
    },
  }

  for (const code of Object.keys(occurrences) as (keyof typeof occurrences)[]) // its keys are codes
    test(`${code} is what its closed schema says, and its type is a page with cause and cure`, async () => {
      const [named, answer] = await occurrences[code]()
      const { body, headers } = answer
      assert.deepEqual(
        [answer.status, body.status, body.code, body.title],
        [problems[code].status, problems[code].status, code, problems[code].title],
        answer.text,
      )
      if (named) assertConforms(named, answer)
      else assertProblemSchema(body)
      assert.equal(body.requestId, headers.get('x-request-id'))
      assert.equal(headers.get('cache-control'), 'no-store')
      if (code === 'too_many_requests') assert.match(headers.get('retry-after') ?? '', /^\d\d$/)
      else {
        const isPassing = code === 'unavailable' || code === 'request_in_progress'
        assert.equal(headers.get('retry-after'), isPassing ? '1' : null)
      }
      const page = await service.call('GET', `/${new URL(body.type).pathname}`)
      assert.equal(page.status, 200)
      assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
      const words = page.text.replaceAll(/<\/?code>/g, '`').replaceAll('&lt;', '<')
      const { title, cause, cure } = problems[code]
      for (const told of [code, title, cause, cure]) assert.ok(words.includes(told), `${told} is not in ${page.text}`)
    })

  test('of the service itself never says what went wrong inside', async () => {
    const mend = await broken()
    const { text } = await call(task)
    await mend()
    assert.doesNotMatch(text, /tasks|relation|secret_name|insert|42P01/)
  })
})

describe('the OpenAPI document', () => {
  test('is public, and equals the committed file, which equals a fresh generation', async () => {
    const committed = await readFile(new URL('../../../contract/src/openapi.json', import.meta.url), 'utf8')
    assert.equal(committed, `${JSON.stringify(openapi(), null, 2)}\n`)
    const { status, body, headers } = await service.call('GET', '/openapi.json')
    assert.equal(status, 200)
    assert.deepEqual(body, JSON.parse(committed))
    assert.match(headers.get('etag') ?? '', /^".+"$/)
    const again = await service.call('GET', '/openapi.json', {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    })
    assert.deepEqual([again.status, again.text], [304, ''])
  })

  test('is there in version 3.0 too, where no keyword of a later one stands and addresses are absolute', async () => {
    const { status, body } = await service.call('GET', '/openapi-3.0.json')
    assert.deepEqual([status, body.openapi], [200, '3.0.3'])
    assert.deepEqual(body.servers, [{ url: `${baseUrl}${basePath}` }])
    assert.equal(body.components.securitySchemes.oauth2.flows.authorizationCode.tokenUrl, `${baseUrl}/oauth2/token`)
    assert.deepEqual(Object.keys(body.paths), Object.keys(document.paths))
    const judge = (value: unknown, place: string): void => {
      if (typeof value !== 'object' || value === null) return
      const { type, const: constant, anyOf, format, $ref, multipleOf } = value as Record<string, unknown> // any member
      assert.ok(type === undefined || typeof type !== 'object' || place.endsWith('/properties'), place)
      assert.ok(constant === undefined && multipleOf === undefined, place)
      assert.ok(!Array.isArray(anyOf) || anyOf.every((one) => !('enum' in one)), place)
      if (type === 'integer') assert.match(String(format), /^int(32|64)$/, place)
      if (typeof $ref === 'string') assert.equal(Object.keys(value).length, 1, place)
      for (const [name, one] of Object.entries(value)) judge(one, `${place}/${name}`)
    }
    judge(body, '')
    const { ContactPage, Invoice } = body.components.schemas
    assert.deepEqual([ContactPage.properties.total.type, ContactPage.properties.total.nullable], ['integer', true])
    assert.equal(Invoice.properties.balanceCents.format, 'int64')
  })

  test('names the operations of the description, the two whose paths it leaves open, and what was added', () => {
    const described = Object.entries<Record<string, { operationId: string; security: Json[]; responses: Json }>>(
      document.paths,
    ).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, security, responses }]) => {
        const scopes = security.flatMap(({ personalAccessToken = [] }) => personalAccessToken).join(' or ')
        const success = Object.keys(responses).filter((status) => status.startsWith('2'))
        return [operationId, method.toUpperCase(), path, scopes, success].flat().join(' ')
      }),
    )
    const anyRead = listedNames.map(readScopeOf).join(' or ')
    assert.deepEqual(described.sort(), [
      'CreateAccountRecord POST /accounts accounts:write 201',
      'CreateContactRecord POST /contacts contacts:write 201',
      `CreateExport POST /exports ${anyRead} 201`,
      'CreateTaskRecord POST /tasks tasks:write 201',
      'DeleteContactRecord DELETE /contacts/{contactId} contacts:write 200',
      `DeleteExport DELETE /exports/{exportId} ${anyRead} 200`,
      `DownloadExport GET /exports/{exportId}/files/{fileName} ${anyRead} 200 206`,
      'GetAccountById GET /accounts/{accountId} accounts:read 200',
      'GetAccounts GET /accounts accounts:read 200',
      'GetContactById GET /contacts/{contactId} contacts:read 200',
      'GetContacts GET /contacts contacts:read 200',
      `GetExport GET /exports/{exportId} ${anyRead} 200`,
      `GetExports GET /exports ${anyRead} 200`,
      'GetInvoiceById GET /invoices/{invoiceId} invoices:read 200',
      'GetInvoices GET /invoices invoices:read 200',
      'GetPublicationById GET /publications/{publicationId} publications:read 200',
      'GetPublications GET /publications publications:read 200',
      'GetSubscriptionById GET /subscriptions/{subscriptionId} subscriptions:read 200',
      'GetSubscriptions GET /subscriptions subscriptions:read 200',
      'GetTaskById GET /tasks/{taskId} tasks:read 200',
      'GetTasks GET /tasks tasks:read 200',
      'ListChanges GET /changes publications:read or accounts:read or contacts:read or subscriptions:read or invoices:read or tasks:read 200',
      'RestoreContactRecord POST /contacts/{contactId}/restore contacts:write 200',
      'UpdateAccountRecord PATCH /accounts/{accountId} accounts:write 200',
      'UpdateContactRecord PATCH /contacts/{contactId} contacts:write 200',
      'UpdateTaskRecord PATCH /tasks/{taskId} tasks:write 200',
    ])
    assert.deepEqual([document.info.version, document.servers], ['1.0.0', [{ url: basePath }]])
  })

  test('allows no object properties beyond those listed', () => {
    let objects = 0
    JSON.parse(JSON.stringify(document), (_key, value) => {
      if (value?.type === 'object') {
        objects++
        assert.equal(value.additionalProperties, false, JSON.stringify(value).slice(0, 200))
      }
      return value
    })
    assert.ok(objects >= Object.keys(document.components.schemas).length)
  })

  test('refers only to components that it has', () => {
    for (const [, reference = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)) {
      const [kind = '', name = ''] = reference.split('/')
      assert.ok(document.components[kind]?.[name], reference)
    }
  })
})

describe('beside the API', () => {
  test('/docs/reference/frame is a page about the document, whose scripts are files of ours and which only our pages frame', async () => {
    const page = await service.call('GET', '//docs/reference/frame')
    assert.equal(page.status, 200)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(page.headers.get('content-security-policy') ?? '', /script-src 'self';/)
    assert.match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'self';/)
    const scripts = [...page.text.matchAll(/<script src="\/([^"]+)"><\/script>/g)]
    const texts = await Promise.all(
      scripts.map(async ([, path]) => {
        const { status, headers, text } = await service.call('GET', `//${path}`)
        assert.equal(status, 200)
        assert.match(headers.get('content-type') ?? '', /^text\/javascript/)
        return text
      }),
    )
    assert.equal(page.text.split('<script').length - 1, scripts.length)
    assert.ok(texts.at(-1)?.includes(documentPath))
  })

  test('every page refuses the methods that it does not have, by name', async () => {
    for (const { path, GET, POST } of service.app.pages.routes) {
      const allowed = [...(GET ? ['GET', 'HEAD'] : []), ...(POST ? ['POST'] : []), 'OPTIONS']
      const address = `/${path.replaceAll(/\{\w+\}/g, 'x')}`
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((one) => !allowed.includes(one))) {
        const { status, headers } = await service.call(method, address)
        assert.deepEqual([status, headers.get('allow')], [405, allowed.join(', ')], `${method} ${path}`)
      }
      const asked = await service.call('OPTIONS', address)
      assert.deepEqual([asked.status, asked.headers.get('allow')], [204, allowed.join(', ')], path)
    }
  })

  test('/readyz tells that the database answers, /healthz that the process lives', async () => {
    const { status, body } = await service.call('GET', '//readyz')
    assert.deepEqual([status, body], [200, { status: 'ready', writes: true }])
    const origin = await stranded()
    const statuses = await Promise.all(
      ['healthz', 'readyz'].map(async (path) => (await fetch(`${origin}/${path}`)).status),
    )
    assert.deepEqual(statuses, [200, 503])
  })

  test('there is nothing at an unknown address, and no page for an unknown problem', async () => {
    for (const path of [
      '//nothing',
      '//problems/nothing',
      '//problems/constructor',
      '//customer-api',
      '//customer-api/v2/contacts',
    ]) {
      const { status, body } = await service.call('GET', path)
      assert.deepEqual([status, body.code], [404, 'not_found'], path)
    }
  })
})
