import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { operations, scopes, scopesOf } from '@masthead/contract'
import { runInSession } from '../../test/processes/command-session.ts'
import { startCommands } from '../../test/processes/commands-on-acme.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { assertRefusal } from '../../test/processes/refusal.ts'

const { service, environment, text, json, passwordHashOf } = await startCommands()
const day = 86_400_000
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('a token', { concurrency: 3 }, () => {
  test('is a prefix, 32 random characters of base62 and the CRC-32 of all that in six more', async () => {
    const personal = await json('token create --tenant acme --user ada@acme.example --name x --scopes contacts:read')
    const ofService = await json('token create --tenant acme --service x --scopes contacts:read')
    for (const [token, prefix] of [
      [personal.token, 'mh_pat_'],
      [ofService.token, 'mh_svc_'],
    ]) {
      assert.match(token, new RegExp(`^${prefix}[0-9A-Za-z]{38}$`))
      let number = 0
      for (const digit of token.slice(-6)) number = number * 62 + base62.indexOf(digit)
      assert.equal(number, crc32(token.slice(0, -6)))
      assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
      const other = token.at(10) === 'a' ? 'b' : 'a'
      for (const broken of [token.slice(0, -1), `${token}0`, token.slice(0, 10) + other + token.slice(11)]) {
        const answer = await service.call('GET', '/contacts', { token: broken })
        assert.deepEqual([answer.status, answer.body.code], [401, 'invalid_token'])
        assert.match(answer.body.detail, /not complete/)
      }
    }
  })

  test('opens exactly the operations of its scopes', async () => {
    const granted = ['contacts:read', 'tasks:write']
    const { token } = await json(`token create --tenant acme --service some --scopes ${granted.join()}`)
    const { token: every } = await json(
      `token create --tenant acme --service all --scopes ${Object.keys(scopes).join()}`,
    )
    for (const { name, operation } of operations) {
      const path = operation.path.replaceAll(/\{\w+\}/g, 'none')
      const body = operation.body ? { body: {} } : {}
      const { status } = await service.call(operation.method, path, { token, ...body })
      assert.equal(
        status !== 403,
        scopesOf(operation).some((scope) => granted.includes(scope)),
        `${name}: ${status}`,
      )
      assert.ok(
        ![401, 403].includes((await service.call(operation.method, path, { token: every, ...body })).status),
        name,
      )
    }
  })

  test('of a user lives 90 days unless told otherwise, and at most 366', async () => {
    const create = 'token create --tenant acme --user ada@acme.example --name x --scopes contacts:read'
    const lifetimeOf = ({ expiresAt, createdAt }: Record<string, string>) =>
      Math.round((Date.parse(expiresAt ?? '') - Date.parse(createdAt ?? '')) / day)
    assert.equal(lifetimeOf(await json(create)), 90)
    assert.equal(lifetimeOf(await json(`${create} --expires 366d`)), 366)
    assert.equal(lifetimeOf(await json('token create --tenant acme --service x --scopes contacts:read')), 365)
    const longer = await runInSession(`${create} --expires 367d`.split(' '), environment)
    assertRefusal(longer, /a personal access token lives at most 366 days/)
    const seconds = await runInSession(`${create} --expires ${366 * 86_400 + 1}s`.split(' '), environment)
    assert.equal(seconds.code, 1)
  })

  test('is stored as its SHA-256 only, and a password as argon2id', async () => {
    const { token } = await json('token create --tenant acme --service secret --scopes contacts:read')
    const password = 'Tr0ub4dor&3-stored-nowhere'
    await text('user create --tenant acme --email s@acme.example --name S --role viewer --password-stdin', password)
    const { rows: tables } = await service.owner.query<{ name: string }>(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
    )
    assert.ok(tables.length > 5)
    for (const { name } of tables) {
      for (const secret of [token, password]) {
        const { rows } = await service.owner.query(
          `select 1 from ${name} as stored where position($1 in stored::text) > 0 or position($2 in stored::text) > 0`,
          [secret, Buffer.from(secret).toString('hex')],
        )
        assert.equal(rows.length, 0, name)
      }
    }
    const hash = createHash('sha256').update(token).digest()
    const { rows: stored } = await service.owner.query('select 1 from access_tokens where secret_hash = $1', [hash])
    assert.equal(stored.length, 1)
    assert.match(await passwordHashOf('s@acme.example'), /^\$argon2id\$/)
  })

  test('remembers the minute of its last use', async () => {
    const { id, token } = await json('token create --tenant acme --service used --scopes contacts:read')
    const lastUse = async () => {
      const { rows } = await service.owner.query('select last_used_at as at, xmin from access_tokens where id = $1', [
        id,
      ])
      return rows[0]
    }
    const begun = Date.now()
    assert.equal((await lastUse()).at, null)
    await service.call('GET', '/contacts', { token })
    await until('the use is noted', async () => (await lastUse()).at !== null)
    const first = await lastUse()
    assert.equal(first.at.getTime() % 60_000, 0)
    assert.ok(first.at.getTime() > begun - 60_000 && first.at.getTime() <= Date.now())
    for (let use = 0; use < 5; use++) await service.call('GET', '/contacts', { token })
    const later = await lastUse()
    // Unless a minute has just begun, nothing was written again.
    if (later.at.getTime() === first.at.getTime()) assert.equal(later.xmin, first.xmin)
    const listed = (await json('token list --tenant acme')).find((one: { id: string }) => one.id === id)
    // A minute that has just begun may be noted while the list is made.
    const noted = [later, await lastUse()].map(({ at }) => at.toISOString())
    assert.ok(noted.includes(listed.lastUsedAt), `${listed.lastUsedAt} is none of ${noted}`)
  })

  test('that is revoked ends within a second, for good', async () => {
    const { id, token } = await json('token create --tenant acme --service gone --scopes contacts:read')
    assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
    const revoked = await json(`token revoke ${id}`)
    const use = () => service.call('GET', '/contacts', { token })
    await until('it is refused', async () => (await use()).status === 401)
    const answer = await use()
    assert.deepEqual([answer.status, answer.body.code], [401, 'invalid_token'])
    assert.match(answer.body.detail, /revoked/)
    assert.equal((await json(`token revoke ${id}`)).revokedAt, revoked.revokedAt)
    assertRefusal(await runInSession(['token', 'rotate', id], environment), /this token has ended/)
  })
})

describe('rotating a token', { concurrency: 3 }, () => {
  const status = async (token: string) => (await service.call('GET', '/contacts', { token })).status

  test('makes a successor of the same kind while the old one lives on for the overlap', async () => {
    const old = await json(
      'token create --tenant acme --service r --scopes contacts:read --expires 10d --default-assignee D-1',
    )
    const rotated = await json(`token rotate ${old.id} --overlap 1h`)
    for (const key of ['kind', 'name', 'service', 'scopes', 'defaultAssignee']) assert.deepEqual(rotated[key], old[key])
    assert.notEqual(rotated.token, old.token)
    assert.deepEqual([await status(old.token), await status(rotated.token)], [200, 200])
    assert.equal(rotated.replaces.id, old.id)
    assertNear(Date.parse(rotated.replaces.expiresAt), Date.now() + 3_600_000)
    assertNear(Date.parse(rotated.expiresAt), Date.now() + 10 * day)
  })

  test('gives the full life again when the same token is rotated twice', async () => {
    const old = await json('token create --tenant acme --service r --scopes contacts:read --expires 10d')
    await json(`token rotate ${old.id} --overlap 1h`)
    assertNear(Date.parse((await json(`token rotate ${old.id}`)).expiresAt), Date.now() + 10 * day)
    const listed = (await json('token list --tenant acme')).find(({ id }: { id: string }) => id === old.id)
    assertNear(Date.parse(listed.expiresAt), Date.now() + 3_600_000)
  })

  test('lives on for 24 hours when no overlap is given, but never longer than before', async () => {
    const long = await json('token create --tenant acme --service r --scopes contacts:read')
    assertNear(Date.parse((await json(`token rotate ${long.id}`)).replaces.expiresAt), Date.now() + day)
    const short = await json('token create --tenant acme --service r --scopes contacts:read --expires 1h')
    assert.equal((await json(`token rotate ${short.id}`)).replaces.expiresAt, short.expiresAt)
  })

  test('ends the old one at once with --overlap 0s', async () => {
    const old = await json('token create --tenant acme --service r --scopes contacts:read')
    const { token } = await json(`token rotate ${old.id} --overlap 0s`)
    assert.deepEqual([await status(old.token), await status(token)], [401, 200])
  })

  test('is refused for a personal access token', async () => {
    const { id, token } = await json(
      'token create --tenant acme --user ada@acme.example --name x --scopes contacts:read',
    )
    assertRefusal(await runInSession(['token', 'rotate', id], environment), /only service tokens are rotated/)
    assert.equal(await status(token), 200)
  })
})

const assertNear = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) < 60_000, `${new Date(actual).toISOString()} is far from what was expected`)
