import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  identifiersOf,
  isPaged,
  type ListedName,
  listedNames,
  type NamedOperation,
  operations,
  type ProblemCode,
  type Role,
  resources,
  scopesOf,
  traitsOf,
} from '@masthead/contract'
import { operator } from '../../src/audit/author.ts'
import { listMembers, removeMember, setRole } from '../../src/identity/people/members.ts'
import { allScopes } from '../../src/identity/people/roles.ts'
import { newToken } from '../../src/identity/token-format.ts'
import { listTokens, revokeToken } from '../../src/identity/tokens/access-tokens.ts'
import { populatedTenant, type SampleRecord, type SampleRecords } from '../records/populated-tenant.ts'
import { assertProblem } from '../requests/problem-response.ts'
import { callOperation, type ValidRequest, validRequest } from '../requests/valid-requests.ts'
import { type CallOptions, type CallResponse, linksOf, startService } from '../service.ts'

const service = await startService()
const { query, transaction } = service.database
const own = await populatedTenant(service)
const other = await populatedTenant(service)
const unknownId = '00000000-0000-7000-8000-000000000000'

const call = (named: NamedOperation, options: CallOptions, change?: (request: ValidRequest) => ValidRequest) =>
  callOperation(service.call, named, own.records, options, change)

/** Wrong in the query and, where there is one, in the body. */
const spoiled = ({ path, body }: ValidRequest): ValidRequest => ({
  path: `${path}?nonsense=1`,
  ...(body && { body: { nonsense: 1 } }),
})

const challengeOf = ({ headers }: CallResponse): Record<string, string> => {
  const header = headers.get('www-authenticate') ?? ''
  assert.match(header, /^Bearer (\w+="[^"\\]*"(, |$))+$/)
  return Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]))
}
const resource_metadata = 'http://masthead.test/.well-known/oauth-protected-resource/customer-api/v1'

const assertUnauthorized = (answer: CallResponse, code: 'missing_token' | 'invalid_token') => {
  assertProblem(answer, code)
  const { error_description, ...challenge } = challengeOf(answer)
  const error = code === 'missing_token' ? {} : { error: 'invalid_token' }
  assert.deepEqual(challenge, { realm: 'masthead', ...error, resource_metadata })
  assert.equal(error_description, code === 'missing_token' ? undefined : answer.body.detail)
}

const assertForbidden = (answer: CallResponse, code: ProblemCode, scopes: readonly string[]) => {
  assertProblem(answer, code)
  for (const scope of scopes) assert.match(answer.body.detail, new RegExp(`\`${scope}\``))
  const { error_description, ...challenge } = challengeOf(answer)
  assert.deepEqual(challenge, {
    realm: 'masthead',
    error: 'insufficient_scope',
    scope: scopes.join(' '),
    resource_metadata,
  })
  assert.ok(error_description)
}

const assertSuccess = (answer: CallResponse, { operation }: NamedOperation) =>
  assert.equal(answer.status, operation.status, answer.text)

/** A token that worked until its owner or an administrator ended it. */
const ended = async (
  make: (tenant: typeof own.tenant) => Promise<string>,
  end: (tenantId: string) => Promise<void>,
) => {
  const tenant = await service.newTenant()
  const token = await make(tenant)
  assert.equal((await service.call('GET', '/accounts', { token })).status, 200)
  await end(tenant.id)
  return token
}

const refused: Record<string, string> = {
  'a garbage token': 'garbage',
  'a token of the right form that nobody holds': newToken('service'),
  'an expired token': await own.tenant.serviceToken(allScopes, { lifetime: -1 }),
  'an expired personal token': await own.tenant.personalToken('admin', allScopes, { lifetime: -1 }),
  'a revoked token': await ended(
    (tenant) => tenant.serviceToken(),
    async (tenantId) => {
      for (const { id } of await listTokens(query, tenantId))
        await transaction((query) => revokeToken(query, operator, id))
    },
  ),
  'the token of a removed member': await ended(
    (tenant) => tenant.personalToken('admin'),
    async (tenantId) => {
      for (const { email } of await listMembers(query, tenantId))
        await transaction((query) => removeMember(query, operator, tenantId, email))
    },
  ),
}

const without = new Map<string, string>()
const only = new Map<string, string>()
for (const scope of allScopes) only.set(scope, await own.tenant.serviceToken([scope]))
for (const { name, operation } of operations) {
  const others = allScopes.filter((one) => !scopesOf(operation).includes(one))
  without.set(name, await own.tenant.serviceToken(others))
}
const viewer = await own.tenant.personalToken('viewer')
const editor = await own.tenant.personalToken('editor')
const admin = await own.tenant.personalToken('admin')

const member = await populatedTenant(service)
const memberToken = await member.tenant.personalToken('editor')
const becomes = async (role: Role) => {
  for (const { email } of await listMembers(query, member.tenant.id)) {
    await transaction((query) => setRole(query, operator, member.tenant.id, email, role))
  }
}

test('every operation has a valid request', () => {
  for (const { name, operation } of operations) {
    const [, resource = ''] = operation.path.split('/')
    assert.ok(validRequest(name, own.records).path.startsWith(`/${resource}`), name)
  }
})

for (const named of operations) {
  const { name, operation } = named
  const scopes = scopesOf(operation)
  const isRead = scopes.every((scope) => scope.endsWith(':read'))

  describe(name, () => {
    test('refuses a call without a token, whatever else is wrong with it', async () => {
      assertUnauthorized(await call(named, {}), 'missing_token')
      assertUnauthorized(await call(named, {}, spoiled), 'missing_token')
    })

    for (const [kind, token] of Object.entries(refused)) {
      test(`refuses ${kind}, whatever else is wrong with the call`, async () => {
        assertUnauthorized(await call(named, { token }), 'invalid_token')
        assertUnauthorized(await call(named, { token }, spoiled), 'invalid_token')
      })
    }

    const { scope: needed } = validRequest(name, own.records)
    for (const scope of scopes.filter((one) => needed === undefined || one === needed))
      test(`needs no scope but ${scope}`, async () => {
        assertSuccess(await call(named, { token: only.get(scope) ?? '' }), named)
      })

    test(`refuses a token with every scope but ${scopes}, whatever else is wrong with the call`, async () => {
      const token = without.get(name) ?? ''
      assertForbidden(await call(named, { token }), 'insufficient_scope', scopes)
      assertForbidden(await call(named, { token }, spoiled), 'insufficient_scope', scopes)
    })

    test(`${isRead ? 'admits' : 'refuses'} a viewer whose token carries the scope`, async () => {
      const answer = await call(named, { token: viewer })
      if (isRead) return assertSuccess(answer, named)
      assertForbidden(answer, 'insufficient_role', scopes)
      assertForbidden(await call(named, { token: viewer }, spoiled), 'insufficient_role', scopes)
    })

    test('admits editors and administrators', async () => {
      for (const token of [editor, admin]) assertSuccess(await call(named, { token }), named)
    })

    test('judges the role at each call', async () => {
      const now = () => callOperation(service.call, named, member.records, { token: memberToken })
      await becomes('viewer')
      assert.equal((await now()).status, isRead ? operation.status : 403)
      await becomes('editor')
      assertSuccess(await now(), named)
    })

    test('looks at the request once the token is fine', async () => {
      assertProblem(await call(named, { token: own.token }, spoiled), 'invalid_parameter', [{ parameter: 'nonsense' }])
    })

    if (operation.method === 'GET')
      test('guards HEAD like GET', async () => {
        const head = (token?: string) =>
          callOperation(service.call, named, own.records, { method: 'HEAD', ...(token && { token }) })
        assert.deepEqual(
          [(await head()).status, (await head(without.get(name))).status, (await head(own.token)).status],
          [401, 403, 200],
        )
      })
  })
}

describe('a record named in the path', () => {
  for (const named of operations.filter(({ operation }) => operation.path.includes('{'))) {
    const { name, operation } = named
    const foreign = ({ body }: ValidRequest, id: string): ValidRequest => ({
      path: operation.path.replace(/\{\w+\}/, id).replace('{fileName}', 'contacts.csv'),
      ...(body && { body }),
    })
    const key = named.resource.singular as keyof SampleRecords // each resource with a path has a sample record
    const { id } = other.records[key]

    test(`${name} answers 404 for another tenant's, as for one that nobody has`, async () => {
      const theirs = () => service.call('GET', `/${named.resource.name}/${id}`, { token: other.token })
      const before = await theirs()
      assert.equal(before.status, 200)
      const identifier = named.resource.businessIdentifier
      const given = [id, id.toUpperCase(), ...(identifier ? [String(other.records[key][identifier])] : []), unknownId]
      for (const one of given) {
        const answer = await call(named, { token: own.token }, (request) => foreign(request, one))
        assertProblem(answer, 'not_found')
        assert.equal(answer.body.detail, `There is no ${key} "${one}" in this tenant.`)
      }
      assert.deepEqual((await theirs()).body, before.body)
    })

    test(`${name} looks at the request before it looks for the record`, async () => {
      for (const one of [unknownId, id]) {
        const answer = await call(named, { token: own.token }, (request) => spoiled(foreign(request, one)))
        assertProblem(answer, 'invalid_parameter', [{ parameter: 'nonsense' }])
        if (!operation.body) continue
        const bodyOnly = { path: operation.path.replace(/\{\w+\}/, one), body: { accountId: 1 } }
        assertProblem(await call(named, { token: own.token }, () => bodyOnly), 'invalid_body', [
          { pointer: '/accountId' },
        ])
      }
    })
  }
})

describe('a record named in a body or a filter', () => {
  const referencesIn = (schema: NamedOperation['operation']['body']) =>
    Object.entries(schema?.properties ?? {}).flatMap(([property, one]) => {
      const resource = listedNames.find((name) => name === traitsOf(one).reference)
      return resource ? [{ property, resource, singular: resources[resource].singular }] : []
    })
  const namesOf = (records: SampleRecords, resource: ListedName): string[] => {
    const record: SampleRecord = records[resources[resource].singular]
    return Object.values(identifiersOf(resource)).map(({ name }) => String(record[name]))
  }

  for (const named of operations) {
    for (const { property, resource, singular } of referencesIn(named.operation.body)) {
      const given = (name: string) =>
        call(named, { token: own.token }, ({ path, body }) => ({ path, body: { ...body, [property]: name } }))

      test(`${named.name} refuses another tenant's ${singular} as ${property}`, async () => {
        for (const name of namesOf(own.records, resource)) assertSuccess(await given(name), named)
        for (const name of namesOf(other.records, resource)) {
          assertProblem(await given(name), 'invalid_body', [{ pointer: `/${property}` }])
        }
      })
    }

    for (const { property, resource, singular } of referencesIn(named.operation.query)) {
      test(`${named.name} has an empty page for another tenant's ${singular} as ${property}`, async () => {
        const total = async (name: string) => {
          const { status, body } = await service.call('GET', `${named.operation.path}?${property}=${name}`, {
            token: own.token,
          })
          assert.deepEqual([status, body.items.length], [200, Math.min(body.total, body.pageSize)])
          return body.total
        }
        for (const name of namesOf(own.records, resource)) assert.ok((await total(name)) >= 2)
        for (const name of namesOf(other.records, resource)) assert.equal(await total(name), 0)
      })
    }

    if (named.operation.query && 'search' in named.operation.query.properties)
      test(`${named.name} does not find another tenant's words`, async () => {
        const total = async (search: string) =>
          (await service.call('GET', `${named.operation.path}?search=${search}`, { token: own.token })).body.total
        assert.deepEqual([await total(own.word), await total(other.word)], [2, 0])
      })

    if (named.operation.query)
      test(`${named.name} lists only the tenant's own records, and refuses another tenant's cursor`, async () => {
        const { path } = named.operation
        const [size, cursor] = isPaged(named.operation) ? ['pageSize', 'cursor'] : ['limit', 'after']
        const first = await service.call('GET', `${path}?${size}=1`, { token: other.token })
        const next = linksOf(first.headers).next ?? `${path}?after=${first.body.cursor}`
        assert.equal((await service.call('GET', next, { token: other.token })).status, 200)
        assertProblem(await service.call('GET', next, { token: own.token }), 'invalid_cursor', [
          { parameter: cursor ?? '' },
        ])
        const mine = await service.call('GET', `${path}?${size}=200`, { token: own.token })
        const theirs = await service.call('GET', `${path}?${size}=200`, { token: other.token })
        const ids = (answer: CallResponse): Set<string> => new Set(answer.body.items.map(({ id }: SampleRecord) => id))
        assert.ok(ids(mine).size >= 2 && ids(theirs).size >= 2)
        assert.deepEqual(
          [...ids(mine)].filter((id) => ids(theirs).has(id)),
          [],
        )
      })
  }
})

describe('the Authorization header', () => {
  const header = (authorization: string) => service.call('GET', '/accounts', { headers: { authorization } })

  test('takes the scheme in any case, and one or more spaces', async () => {
    for (const start of ['Bearer ', 'bearer ', 'BEARER  ']) assert.equal((await header(start + own.token)).status, 200)
  })

  test('is refused when the token is cut off, changed, followed by anything or missing', async () => {
    const { token } = own
    const last = token.endsWith('a') ? 'b' : 'a'
    const wrong = [
      token.slice(0, -1),
      token.slice(0, -1) + last,
      `${token} x`,
      `${token},x`,
      `"${token}"`,
      '',
      token + 1,
    ]
    for (const one of [...wrong.map((text) => `Bearer ${text}`), 'Bearer', `Bearer ${'a'.repeat(8000)}`]) {
      assertUnauthorized(await header(one), 'invalid_token')
    }
  })

  test('of another scheme carries no token: RFC 6750 wants no error then', async () => {
    for (const one of ['Basic dXNlcjpwYXNz', 'Digest username="x"', own.token, `Bearer${own.token}`]) {
      assertUnauthorized(await header(one), 'missing_token')
    }
  })

  test('is the only place for a token', async () => {
    const answer = await service.call('GET', `/accounts?access_token=${own.token}`)
    assertUnauthorized(answer, 'missing_token')
  })

  test('leads to the metadata of the resource', async () => {
    const { pathname } = new URL(challengeOf(await service.call('GET', '/accounts')).resource_metadata ?? '')
    const { status, body } = await service.call('GET', `/${pathname}`)
    assert.equal(status, 200)
    assert.equal(body.resource, 'http://masthead.test/customer-api/v1')
    assert.deepEqual(body.bearer_methods_supported, ['header'])
    assert.deepEqual(body.authorization_servers, ['http://masthead.test'])
    const scopes = operations.flatMap(({ operation }) => scopesOf(operation).map((scope) => `service-api/${scope}`))
    assert.deepEqual(new Set(body.scopes_supported), new Set(scopes))
  })
})
