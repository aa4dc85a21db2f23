import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import pg from 'pg'
import {
  authorize,
  newApplication,
  newPerson,
  obtainCode,
  post,
  refresh,
  type Tokens,
} from '../../test/browsers/oauth-browser.ts'
import { templates } from '../../test/database-server.ts'
import { runMasthead, startServing, until } from '../../test/processes/masthead-process.ts'
import { withTokens } from '../../test/requests/access-tokens.ts'
import { injectRequest } from '../../test/requests/injected-request.ts'
import { baseUrl, cloneTemplate, secret, startService } from '../../test/service.ts'
import { buildApp } from '../app.ts'
import { serviceRole } from '../database/connections/address.ts'
import { openDatabase } from '../database/database.ts'
import { rotateSigningKey } from '../identity/tokens/signing-keys.ts'
import { mostInteractions } from './adapter.ts'

const service = await startService()
const { origin, database, owner } = service
const tenant = await service.newTenant()
const application = await newApplication(service)
const person = await newPerson(service, [tenant, 'viewer'])
const environment = { DATABASE_URL: service.connectionString, MASTHEAD_SECRET: secret, BASE_URL: baseUrl }

const keyOf = (token: string): string => decodeProtectedHeader(token).kid ?? ''
const publishedKeys = async (): Promise<string[]> => {
  const { body } = await service.call('GET', '//oauth2/jwks')
  return body.keys.map(({ kid }: { kid: string }) => kid)
}
const { assertWorks } = withTokens(service)
/** Within the second that is promised, a busy machine allowed for. */
const soonSignsWith = async (kid: string): Promise<Tokens> => {
  let tokens = await authorize(origin, { application, person })
  await until('the new key signs', async () => {
    if (keyOf(tokens.access_token) !== kid) tokens = (await refresh(origin, application, tokens.refresh_token)).body
    return keyOf(tokens.access_token) === kid
  })
  return tokens
}

/** Another process's server on the same database, as far as the database can tell. */
const startAnother = async (context: TestContext, connectionString: string) => {
  const own = openDatabase({ connectionString: connectionString, role: serviceRole })
  context.after(() => own.close())
  const app = await buildApp({ database: own, baseUrl, delegation: { issuer: baseUrl, secret }, rateLimits: null })
  context.after(() => app.close())
  return app
}

describe('the signing key', () => {
  test('is made at the first start, one for all processes that start at once', async (context) => {
    const connectionString = await cloneTemplate()
    const apps = await Promise.all([1, 2, 3].map(() => startAnother(context, connectionString)))
    const answers = await Promise.all(apps.map((app) => injectRequest(app, { url: '/oauth2/jwks' })))
    const [first, ...others] = answers.map((answer) => answer.json().keys.map(({ kid }: { kid: string }) => kid))
    assert.equal(first.length, 1)
    assert.deepEqual(others, [first, first])
  })

  test('is made also where that takes longer than a transaction may idle', async (context) => {
    const serving = await startServing(['--port', '0'], {
      DATABASE_URL: await cloneTemplate(),
      MASTHEAD_SECRET: secret,
      NODE_OPTIONS: `--import=${new URL('../../test/outside/slow-keys.ts', import.meta.url)}`,
    })
    context.after(() => serving.kill())
    const { keys } = JSON.parse(await (await fetch(`${serving.announced.url}/oauth2/jwks`)).text())
    assert.equal(keys.length, 1)
  })

  test('cannot be read in the database', async () => {
    const { rows } = await owner.query('select * from signing_keys')
    assert.ok(rows.length > 0)
    for (const row of rows) {
      assert.deepEqual(Object.keys(JSON.parse(row.public_key)).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use'])
      const sealed: Buffer = row.encrypted_key
      const { n } = JSON.parse(row.public_key)
      // A private JWK holds the modulus as well, so its absence shows that nothing of the key is readable.
      for (const readable of ['"d"', '"p"', '"q"', 'kty', 'RSA', 'PRIVATE', n.slice(0, 20)])
        assert.equal(sealed.includes(readable), false, readable)
      assert.equal(sealed.includes(Buffer.from(n, 'base64url').subarray(0, 16)), false)
    }
  })
})

test('no code, token or password can be read in the database', async () => {
  const exchange = await obtainCode(origin, { application, person })
  const tokens: Tokens = (await post(origin, '/oauth2/token', exchange)).body
  const identified = await authorize(origin, { application, person, request: { scope: 'openid', resource: undefined } })
  const { rows } = await owner.query(`select model, encode(id_hash, 'escape') as id, payload from authorization_state`)
  const stored = JSON.stringify(rows)
  for (const model of ['AuthorizationCode', 'RefreshToken', 'AccessToken', 'Session']) assert.ok(stored.includes(model))
  const secrets = [exchange.code, exchange.code_verifier, tokens.refresh_token, tokens.access_token, tokens.id_token]
  for (const text of [...secrets, identified.access_token, identified.refresh_token, person.password])
    assert.equal(stored.includes(text), false)
})

describe('a rotation', () => {
  test('by the command line is taken up by a running server, and old tokens keep working', async () => {
    const before = await authorize(origin, { application, person })
    const { code, stdout, stderr } = await runMasthead(['keys', 'rotate', '--json'], environment)
    assert.equal(code, 0, stderr)
    const { id } = JSON.parse(stdout)
    const after = await soonSignsWith(id)
    assert.notEqual(keyOf(before.access_token), id)
    assert.equal(keyOf(after.id_token), id)
    for (const tokens of [before, after]) await assertWorks(tokens)
    assert.deepEqual((await publishedKeys()).sort(), [id, keyOf(before.access_token)].sort())
    assert.equal((await refresh(origin, application, before.refresh_token)).status, 200)
  })

  test('takes effect in a running server, even when nobody asks for the new key', async () => {
    const id = await rotateSigningKey(database, secret)
    await until('the new key is published', async () => (await publishedKeys()).includes(id))
  })

  test('does not disturb requests in flight', async () => {
    let rotated = false
    const rotation = (async () => {
      for (let time = 0; time < 3; time++) {
        const id = await rotateSigningKey(database, secret)
        await until('it is published', async () => (await publishedKeys()).includes(id))
      }
      rotated = true
    })()
    const kids = new Set<string>()
    while (!rotated) {
      const tokens = await authorize(origin, { application, person })
      await assertWorks(tokens)
      kids.add(keyOf(tokens.access_token))
    }
    await rotation
    assert.ok(kids.size > 1)
  })

  test('leaves the old key published until its tokens have expired, and no longer', async () => {
    const tokens = await authorize(origin, { application, person })
    const old = keyOf(tokens.access_token)
    await soonSignsWith(await rotateSigningKey(database, secret))
    assert.ok((await publishedKeys()).includes(old))
    await owner.query(`update signing_keys set retired_at = now() - interval '2 hours' where id = $1`, [old])
    await until('the old key is gone', async () => !(await publishedKeys()).includes(old))
    const { status, body } = await service.call('GET', '/contacts', { token: tokens.access_token })
    // A verified token stays cached while it lives, so this takes a token that was not seen before.
    assert.deepEqual([status, body.code], [401, 'invalid_token'])
  })

  test('is followed at once by another node that is shown a token of the new key', async (context) => {
    const other = await startAnother(context, service.connectionString)
    for (let round = 0; round < 4; round++) {
      const kid = await rotateSigningKey(database, secret)
      const { access_token } = await soonSignsWith(kid)
      const url = '/customer-api/v1/contacts'
      const { statusCode } = await injectRequest(other, {
        url,
        headers: { authorization: `Bearer ${access_token}` },
      })
      assert.equal(statusCode, 200)
    }
  })

  test('happens by age at the next start', async (context) => {
    const [old] = await publishedKeys()
    await owner.query(`update signing_keys set created_at = now() - interval '91 days' where retired_at is null`)
    const app = await startAnother(context, service.connectionString)
    const [current] = (await injectRequest(app, { url: '/oauth2/jwks' })).json().keys
    assert.notEqual(current.kid, old)
  })
})

describe('with another MASTHEAD_SECRET', () => {
  const other = { ...environment, MASTHEAD_SECRET: 'another secret that is long enough too' }
  const line =
    /^[^\n]*MASTHEAD_SECRET is not the one that the signing keys in this database were encrypted with[^\n]*\n$/

  test('no key is made, however old the last is', async () => {
    // The service of this file would replace an old key in its own database.
    const connectionString = await cloneTemplate(templates.withKey)
    const client = new pg.Client(connectionString)
    await client.connect()
    await client.query(`update signing_keys set created_at = now() - interval '91 days'`)
    assert.equal((await runMasthead(['serve', '--port', '0'], { ...other, DATABASE_URL: connectionString })).code, 1)
    const { rows } = await client.query('select from signing_keys')
    await client.end()
    assert.equal(rows.length, 1)
  })

  test('the service refuses to start, in one line', async () => {
    const { code, stdout, stderr } = await runMasthead(['serve', '--port', '0'], other)
    assert.notEqual(code, 0)
    assert.match(stderr, line)
    assert.equal(stdout, '')
  })

  test('no key is rotated', async () => {
    const count = async () => (await owner.query('select from signing_keys')).rows.length
    const before = await count()
    const { code, stderr } = await runMasthead(['keys', 'rotate'], other)
    assert.notEqual(code, 0)
    assert.match(stderr, line)
    assert.equal(await count(), before)
  })
})

test('what has expired is deleted by a running server', async (context) => {
  const { refresh_token } = await authorize(origin, { application, person })
  await owner.query(`insert into authorization_state (model, id_hash, payload, expires_at) values
    ('Test', '\\x01', '{}', now() - interval '2 minutes'), ('Test', '\\x02', '{}', now() + interval '1 hour')`)
  await owner.query(`insert into sign_in_failures (key_hash, failures, first_at) values
    ('\\x01', 5, now() - interval '16 minutes'), ('\\x02', 5, now() - interval '5 minutes')`)
  await startAnother(context, service.connectionString)
  const left = async () => [
    ...(await owner.query(`select id_hash as id from authorization_state where model = 'Test'`)).rows,
    ...(await owner.query(`select key_hash as id from sign_in_failures where length(key_hash) = 1`)).rows,
  ]
  await until('two of the four are left', async () => (await left()).length === 2)
  for (const { id } of await left()) assert.deepEqual(id, Buffer.from([2]))
  assert.equal((await refresh(origin, application, refresh_token)).status, 200)
})

test('what has piled up is deleted at once, not bit by bit', async (context) => {
  await owner.query(`insert into authorization_state (model, id_hash, payload, expires_at)
    select 'Pile', int4send(number), '{}', now() - interval '2 minutes' from generate_series(1, 60000) as number`)
  await owner.query(`insert into sign_in_failures (key_hash, failures, first_at)
    select int4send(number), 1, now() - interval '16 minutes' from generate_series(1, 60000) as number`)
  await startAnother(context, service.connectionString)
  const left = async () => [
    ...(await owner.query(`select from authorization_state where model = 'Pile' limit 1`)).rows,
    ...(await owner.query('select from sign_in_failures where length(key_hash) = 4 limit 1')).rows,
  ]
  await until('nothing is left', async () => (await left()).length === 0)
})

test('of unfinished authorization requests only the newest are stored', async (context) => {
  const surplus = 50
  await owner.query(
    `insert into authorization_state (model, id_hash, payload, expires_at)
    select 'Interaction', int4send(number), '{}', now() + interval '10 minutes' + number * interval '1 millisecond'
    from generate_series(1, $1::integer) as number`,
    [mostInteractions + surplus],
  )
  await startAnother(context, service.connectionString)
  const { rows } = await owner.query('select int4send($1) as id', [surplus])
  const has = async (id: Buffer) =>
    (await owner.query(`select from authorization_state where id_hash = $1`, [id])).rows.length === 1
  await until('the surplus is gone', async () => !(await has(rows[0].id)))
  const { rows: kept } = await owner.query(`select count(*)::integer as count
    from authorization_state where model = 'Interaction' and length(id_hash) = 4`)
  assert.ok(kept[0].count <= mostInteractions && kept[0].count > mostInteractions - 1_000, `${kept[0].count}`)
  await owner.query(`delete from authorization_state where length(id_hash) = 4`)
})
