import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Role } from '@masthead/contract'
import { ConsoleBrowser, manage } from '../../../test/browsers/console-session.ts'
import {
  actionOf,
  authorize,
  Browser,
  newApplication,
  newPerson,
  type Person,
} from '../../../test/browsers/oauth-browser.ts'
import { linkIn, startMailReceiver } from '../../../test/outside/mail-receiver.ts'
import { runInSession } from '../../../test/processes/command-session.ts'
import { until } from '../../../test/processes/masthead-process.ts'
import { type CallOptions, secret, startService, type TestTenant } from '../../../test/service.ts'

const receiver = await startMailReceiver()
/** Without a mail server, as at first, and with one, on the same database. */
const shown = await startService()
const mailed = await startService({
  connectionString: shown.connectionString,
  mail: { smtpUrl: receiver.url, from: 'Masthead <masthead@masthead.test>' },
})
const { origin, owner } = shown
const environment = { DATABASE_URL: shown.connectionString, MASTHEAD_SECRET: secret }

const masthead = (command: string, input?: string) => runInSession(command.split(' '), environment, input)
const succeed = async (command: string, input?: string): Promise<string> => {
  const { code, stdout, stderr } = await masthead(command, input)
  assert.deepEqual([code, stderr], [0, ''], command)
  return stdout
}

const newAddress = () => `${randomUUID()}@example.com`
const as = (email: string, password: string): Person => ({ id: '', email, password })

/** The console of a person; each call is made with its token. */
const consoleOf = async (person: Person, at = origin) => {
  const { management: token } = await new ConsoleBrowser(at).signIn(person)
  return {
    person,
    call: (method: string, path: string, options: CallOptions = {}) => manage(at, method, path, { token, ...options }),
  }
}
const adminOf = async (tenant: TestTenant, at = origin) => consoleOf(await newPerson(shown, [tenant, 'admin']), at)
type Admin = Awaited<ReturnType<typeof adminOf>>

const invite = async ({ call }: Admin, email: string, role: Role = 'admin') => {
  const made = await call('POST', '/invitations', { body: { email, role } })
  assert.equal(made.status, 201, made.text)
  return made.body
}
const pathOf = (url: string) => new URL(url).pathname

/** By a link that the admin was shown, with a new password. */
const join = async (admin: Admin, email: string, password: string, role: Role = 'admin'): Promise<void> => {
  const { url } = await invite(admin, email, role)
  const joined = await new Browser(origin).visit(pathOf(url), { account: 'new', name: 'Somebody', password })
  assert.equal(joined.status, 303, joined.page)
}

/** The tenants that a password opens; null when it opens nothing. */
const opens = async (email: string, password: string): Promise<string[] | null> => {
  const attempt = await new ConsoleBrowser(origin).signIn(as(email, password)).catch(() => null)
  if (!attempt) return null
  const { body } = await manage(origin, 'GET', '/me', { token: attempt.management })
  return body.tenants.map(({ id }: { id: string }) => id)
}

const accountsOf = async (email: string) =>
  (
    await owner.query('select id, tenant_id, password_hash from users where email_key = $1 order by created_at, id', [
      email,
    ])
  ).rows

const saltsOf = async (email: string) =>
  new Set((await accountsOf(email)).map(({ password_hash }) => password_hash.split('$')[4]))

describe('a stranger who was invited by a friend to the address of somebody else', () => {
  for (const how of ['user create', 'an invitation'] as const) {
    for (const stays of [true, false]) {
      test(`and ${stays ? 'stays' : 'was removed'}, does not get into a tenant that adds the address by ${how}`, async () => {
        const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
        const [adminA, adminB] = [await adminOf(a), await adminOf(b)]
        const email = newAddress()
        await join(adminA, email, 'the password of the stranger')
        assert.deepEqual(await opens(email, 'the password of the stranger'), [a.id])
        if (!stays) {
          const [member] = await accountsOf(email)
          assert.equal((await adminA.call('DELETE', `/members/${member?.id}`)).status, 200)
          assert.deepEqual(await accountsOf(email), [])
        }
        if (how === 'user create')
          await succeed(
            `user create --tenant ${b.slug} --email ${email} --name Owner --role admin --password-stdin`,
            'the password of the owner',
          )
        else await join(adminB, email, 'the password of the owner')
        assert.deepEqual(await opens(email, 'the password of the owner'), [b.id])
        assert.deepEqual(await opens(email, 'the password of the stranger'), stays ? [a.id] : null)
      })
    }
  }

  test('cannot join another tenant with that account, nor have it added by the operator', async () => {
    const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
    const [adminA, adminB] = [await adminOf(a), await adminOf(b)]
    const email = newAddress()
    await join(adminA, email, 'the password of the stranger')
    const { url } = await invite(adminB, email)
    const refused = await new Browser(origin).visit(pathOf(url), {
      account: 'existing',
      password: 'the password of the stranger',
    })
    assert.equal(refused.status, 422)
    const { code, stderr } = await masthead(`user create --tenant ${b.slug} --email ${email} --role admin --existing`)
    assert.deepEqual([code, /no proven account/.test(stderr)], [1, true])
    assert.deepEqual(await opens(email, 'the password of the stranger'), [a.id])
  })
})

describe('several accounts of one address', () => {
  test('with the same password: the user is asked for the tenant at sign-in, and lands in it', async () => {
    const [a, b, c] = [await shown.newTenant('A'), await shown.newTenant('B'), await shown.newTenant('C')]
    const email = newAddress()
    for (const tenant of [a, b]) await join(await adminOf(tenant), email, 'one and the same')
    await join(await adminOf(c), email, 'another password')
    const browser = new Browser(origin)
    const page = await browser.follow(new ConsoleBrowser(origin).addressOf().address)
    const choice = await browser.follow(actionOf(page, 'sign-in') ?? '', { email, password: 'one and the same' })
    assert.match(choice.page, /Choose an organisation/)
    const offered = [...choice.page.matchAll(/name="tenant" value="([^"]+)"/g)].map(([, id]) => id)
    assert.deepEqual(offered.sort(), [a.id, b.id].sort())
    const action = /action="([^"]+\/account)"/.exec(choice.page)?.[1] ?? ''
    // One that the password does not open.
    assert.match((await browser.follow(action, { tenant: c.id })).page, /Choose an organisation/)
    const called = await browser.follow(action, { tenant: b.id })
    assert.match(called.address, /code=/)
    const { rows } = await owner.query(
      `select consents.tenant_id from consents join users on users.id = user_id where email_key = $1`,
      [email],
    )
    assert.deepEqual(rows, [{ tenant_id: b.id }])
  })

  test('are not opened by a choice that was offered before the password changed', async () => {
    const [a, b, c] = [await shown.newTenant('A'), await shown.newTenant('B'), await shown.newTenant('C')]
    const email = newAddress()
    for (const tenant of [a, b]) await join(await adminOf(tenant), email, 'of the stranger')
    const browser = new Browser(origin)
    const page = await browser.follow(new ConsoleBrowser(origin).addressOf().address)
    const choice = await browser.follow(actionOf(page, 'sign-in') ?? '', { email, password: 'of the stranger' })
    const action = /action="([^"]+\/account)"/.exec(choice.page)?.[1] ?? ''
    await succeed(`user set-password --tenant ${a.slug} --email ${email} --proven --password-stdin`, 'of the owner')
    await succeed(`user create --tenant ${c.slug} --email ${email} --role admin --existing`)
    const { address } = await browser.follow(action, { tenant: c.id })
    assert.doesNotMatch(address, /code=/)
    const { rows } = await owner.query('select from consents where tenant_id = $1', [c.id])
    assert.equal(rows.length, 0)
  })

  test('do not help each other to guess passwords', async () => {
    const email = newAddress()
    for (const password of ['of the stranger', 'of the victim'])
      await join(await adminOf(await shown.newTenant()), email, password)
    const browser = new Browser(origin)
    const attempt = async (password: string) => {
      const page = await browser.follow(new ConsoleBrowser(origin).addressOf({ prompt: 'login' }).address)
      return (await browser.visit(actionOf(page, 'sign-in') ?? '', { email, password })).status
    }
    const statuses = []
    for (const password of ['a', 'b', 'c', 'd', 'of the stranger', 'e']) statuses.push(await attempt(password))
    assert.deepEqual(statuses, [401, 401, 401, 401, 303, 429])
    // The stranger sets the next guess as the own password, and it is right: nothing tells so.
    const [stranger, victim] = await accountsOf(email)
    await owner.query('update users set password_hash = $2 where id = $1', [stranger?.id, victim?.password_hash])
    const page = await browser.follow(new ConsoleBrowser(origin).addressOf({ prompt: 'login' }).address)
    const signedIn = await browser.follow(actionOf(page, 'sign-in') ?? '', { email, password: 'of the victim' })
    assert.doesNotMatch(signedIn.page, /Choose an organisation/)
    assert.match(signedIn.address, /code=/)
  })

  test('share a salt, so that a sign-in costs the same however many there are', async () => {
    const email = newAddress()
    for (const password of ['the first password', 'the second password', 'the third password'])
      await join(await adminOf(await shown.newTenant()), email, password)
    assert.deepEqual([(await accountsOf(email)).length, (await saltsOf(email)).size], [3, 1])
  })

  test('are named by a tenant when the operator sets a password', async () => {
    const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
    const email = newAddress()
    await join(await adminOf(a), email, 'the password for a')
    await join(await adminOf(b), email, 'the password for b')
    const command = `user set-password --email ${email} --password-stdin`
    const { stderr } = await masthead(command, 'a new password')
    assert.match(stderr, /has 2 accounts: name a tenant of one with --tenant/)
    await succeed(`${command} --tenant ${b.slug}`, 'a new password')
    assert.deepEqual(await opens(email, 'a new password'), [b.id])
    assert.equal(await opens(email, 'the password for b'), null)
    assert.deepEqual(await opens(email, 'the password for a'), [a.id])
  })
})

describe('a link that was mailed', () => {
  test('is shown to nobody else, and reaches the address in the spelling by which it is known', async () => {
    const tenant = await shown.newTenant('Herald')
    const admin = await adminOf(tenant, mailed.origin)
    const email = `\u212Aate.${randomUUID()}@Example.com`
    const { url, ...invitation } = await invite(admin, email)
    assert.equal(url, null)
    assert.equal(invitation.email, email)
    const mail = receiver.mails.at(-1) ?? assert.fail('there is no mail')
    assert.deepEqual([mail.from, mail.to], ['masthead@masthead.test', [email.toLowerCase()]])
    assert.match(mail.source, /^Subject: Invitation to Herald on Masthead\r$/m)
    assert.equal((await new Browser(origin).visit(pathOf(linkIn(mail)))).status, 200)
  })

  test('proves the address: its owner takes over, and what strangers had made of it ends', async () => {
    const [a, b, c] = [await shown.newTenant('A'), await shown.newTenant('B'), await shown.newTenant('C')]
    const email = newAddress()
    await join(await adminOf(a), email, 'the password of the stranger')
    await join(await adminOf(b), email, 'the password of another', 'viewer')
    const stranger = await consoleOf(as(email, 'the password of the stranger'))
    const made = await stranger.call('POST', '/tokens', {
      body: { name: 'kept for later', scopes: ['contacts:read'], expiresInDays: 7 },
    })
    const { token } = made.body
    assert.equal((await shown.call('GET', '/contacts', { token })).status, 200)
    await invite(stranger, newAddress())

    await invite(await adminOf(c, mailed.origin), email, 'editor')
    const link = pathOf(linkIn(receiver.mails.at(-1) ?? assert.fail('there is no mail')))
    const joined = await new Browser(origin).visit(link, { account: 'new', name: 'Owner', password: 'of the owner' })
    assert.equal(joined.status, 303, joined.page)

    assert.deepEqual((await opens(email, 'of the owner'))?.sort(), [a.id, b.id, c.id].sort())
    assert.equal(await opens(email, 'the password of the stranger'), null)
    assert.equal(await opens(email, 'the password of another'), null)
    assert.equal(
      (await shown.call('GET', '/contacts', { token, headers: { 'cache-control': 'no-cache' } })).status,
      401,
    )
    assert.equal((await stranger.call('GET', '/me')).status, 401)
    assert.equal((await accountsOf(email)).length, 1)
    const invitations = await owner.query('select from invitations where tenant_id = $1', [a.id])
    assert.equal(invitations.rowCount, 0)
  })

  test('lets somebody whose address is proven join with the account that they have, and with no other', async () => {
    const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
    const known = await newPerson(shown, [a, 'viewer'])
    await invite(await adminOf(b, mailed.origin), known.email, 'editor')
    const link = pathOf(linkIn(receiver.mails.at(-1) ?? assert.fail('there is no mail')))
    const another = await new Browser(origin).visit(link, { account: 'new', name: 'X', password: 'another password' })
    assert.equal(another.status, 422)
    assert.match(another.page, /You have an account with this address/)
    const joined = await new Browser(origin).visit(link, { account: 'existing', password: known.password })
    assert.equal(joined.status, 303, joined.page)
    assert.deepEqual((await opens(known.email, known.password))?.sort(), [a.id, b.id].sort())
  })

  test('that the mail server refuses leaves no invitation, and says so', async () => {
    const tenant = await shown.newTenant('A')
    const admin = await adminOf(tenant, mailed.origin)
    receiver.isRefusing = true
    const refused = await admin.call('POST', '/invitations', { body: { email: newAddress(), role: 'viewer' } })
    receiver.isRefusing = false
    assert.deepEqual([refused.status, refused.body.code], [503, 'unavailable'])
    assert.match(refused.body.detail, /mail server rejected the message/)
    assert.deepEqual((await admin.call('GET', '/invitations')).body.items, [])
  })

  test('is taken by a mail server that is slower than a transaction may idle', async () => {
    const admin = await adminOf(await shown.newTenant('A'), mailed.origin)
    const { promise, resolve } = Promise.withResolvers<void>()
    receiver.held = promise
    const inviting = invite(admin, newAddress())
    const hasIdledLong = async () =>
      (
        await owner.query(`select from pg_stat_activity where datname = current_database()
        and state = 'idle in transaction' and state_change < now() - interval '5.5 seconds'`)
      ).rowCount === 1
    await until('the transaction has idled', hasIdledLong)
    resolve()
    await inviting
    const link = pathOf(linkIn(receiver.mails.at(-1) ?? assert.fail('there is no mail')))
    assert.equal((await new Browser(origin).visit(link)).status, 200)
  })

  test('tells somebody whose account belongs to another organisation to choose a new password', async () => {
    const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
    const email = newAddress()
    await join(await adminOf(a), email, 'the password for a')
    await invite(await adminOf(b, mailed.origin), email)
    const link = pathOf(linkIn(receiver.mails.at(-1) ?? assert.fail('there is no mail')))
    const told = await new Browser(origin).visit(link, { account: 'existing', password: 'the password for a' })
    assert.match(told.page, /That account belongs to another organisation/)
  })

  test('goes to an address five times a day', async () => {
    const admin = await adminOf(await shown.newTenant('A'), mailed.origin)
    const email = newAddress()
    for (let mail = 0; mail < 5; mail++) await invite(admin, email)
    const sixth = await admin.call('POST', '/invitations', { body: { email, role: 'viewer' } })
    assert.deepEqual([sixth.status, sixth.body.code], [409, 'conflict'])
  })
})

describe('an invitation that was shown', () => {
  test('ends with the right of who makes it, also while the mail is still on its way', async () => {
    const tenant = await shown.newTenant('A')
    const [boss, leaver] = [await adminOf(tenant), await adminOf(tenant, mailed.origin)]
    const invited = newAddress()
    const { promise, resolve } = Promise.withResolvers<void>()
    receiver.held = promise
    const inviting = leaver.call('POST', '/invitations', { body: { email: invited, role: 'admin' } })
    await until('the mail is on its way', () => receiver.waiting === 1)
    assert.equal((await boss.call('DELETE', `/members/${leaver.person.id}`)).status, 200)
    resolve()
    assert.equal((await inviting).status, 401)
    assert.deepEqual((await boss.call('GET', '/invitations')).body.items, [])
  })

  test('has the same page for an address with an account and for one without', async () => {
    const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
    const admin = await adminOf(b)
    const known = await newPerson(shown, [a, 'viewer'])
    const pages = []
    for (const email of [known.email, newAddress()]) {
      const { url } = await invite(admin, email)
      const address = pathOf(url)
      const normal = (page: string) => page.replaceAll(email, 'EMAIL').replaceAll(address, 'ADDRESS')
      const first = await new Browser(origin).visit(address)
      const wrong = await new Browser(origin).visit(address, { account: 'existing', password: 'not the password' })
      pages.push([first.status, normal(first.page), wrong.status, normal(wrong.page)])
    }
    assert.deepEqual(pages[0], pages[1])
  })

  test('makes an account of its own also where the address is proven: the link proves nothing', async () => {
    const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
    const known = await newPerson(shown, [a, 'viewer'])
    await join(await adminOf(b), known.email, 'the password of the inviter')
    assert.deepEqual(await opens(known.email, 'the password of the inviter'), [b.id])
    assert.deepEqual(await opens(known.email, known.password), [a.id])
  })

  test('to one address by two tenants at once makes two accounts', async () => {
    const tenants = [await shown.newTenant('A'), await shown.newTenant('B')]
    const email = newAddress()
    await Promise.all(
      tenants.map(async (tenant, index) => join(await adminOf(tenant), email, `the password of racer ${index}`)),
    )
    for (const [index, { id }] of tenants.entries())
      assert.deepEqual(await opens(email, `the password of racer ${index}`), [id])
    assert.equal((await saltsOf(email)).size, 1)
  })
})

describe('the operator', () => {
  test('says that an address is proven, and the account takes over', async () => {
    const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
    const email = newAddress()
    await join(await adminOf(a), email, 'the password of the stranger')
    const told = await succeed(
      `user create --tenant ${b.slug} --email ${email} --name Owner --role viewer --proven --password-stdin`,
      'of the owner',
    )
    assert.match(told, new RegExp(`took over the membership of ${a.slug}`))
    assert.deepEqual((await opens(email, 'of the owner'))?.sort(), [a.id, b.id].sort())
    assert.equal(await opens(email, 'the password of the stranger'), null)
  })

  test('says so with a new password of an account that is there', async () => {
    const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
    const email = newAddress()
    for (const tenant of [a, b]) await join(await adminOf(tenant), email, `the password for ${tenant.name}`)
    await succeed(`user set-password --tenant ${a.slug} --email ${email} --proven --password-stdin`, 'of the owner')
    assert.deepEqual((await opens(email, 'of the owner'))?.sort(), [a.id, b.id].sort())
    assert.equal((await accountsOf(email)).length, 1)
  })

  test('gives a new password, and what the old one gave ends: sessions, consents and tokens', async () => {
    const tenant = await shown.newTenant('A')
    const person = await newPerson(shown, [tenant, 'admin'])
    const intruder = await consoleOf(person)
    const { token } = (
      await intruder.call('POST', '/tokens', {
        body: { name: 'for later', scopes: ['contacts:read'], expiresInDays: 7 },
      })
    ).body
    const application = await newApplication(shown)
    const { access_token: delegated } = await authorize(origin, { application, person })
    const headers = { 'cache-control': 'no-cache' }
    for (const one of [token, delegated])
      assert.equal((await shown.call('GET', '/contacts', { token: one, headers })).status, 200)
    await succeed(`user set-password --email ${person.email} --password-stdin`, 'another password')
    const isRefused = async (one: string) =>
      (await shown.call('GET', '/contacts', { token: one, headers })).status === 401
    for (const one of [token, delegated]) await until('it has ended', () => isRefused(one))
    assert.equal((await intruder.call('GET', '/me')).status, 401)
  })
})

describe('a user', () => {
  test('changes the password, keeps one token, and all else ends', async () => {
    const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
    const person = await newPerson(shown, [a, 'admin'], [b, 'viewer'])
    const [here, elsewhere] = [await consoleOf(person), await consoleOf(person)]
    const make = async (name: string) =>
      (await here.call('POST', '/tokens', { body: { name, scopes: ['contacts:read'], expiresInDays: 7 } })).body
    const [kept, other] = [await make('kept'), await make('other')]
    const { body } = await here.call('GET', '/me/credentials')
    assert.deepEqual(body.tokens.map(({ name }: { name: string }) => name).sort(), ['kept', 'other'])
    const change = { currentPassword: person.password, newPassword: 'a new long password', keepTokens: [kept.id] }
    const changed = await here.call('PATCH', '/me/password', { body: change })
    assert.equal(changed.status, 200, changed.text)
    assert.deepEqual(
      changed.body.tokens.map(({ name }: { name: string }) => name),
      ['kept'],
    )
    const headers = { 'cache-control': 'no-cache' }
    assert.equal((await shown.call('GET', '/contacts', { token: kept.token, headers })).status, 200)
    assert.equal((await shown.call('GET', '/contacts', { token: other.token, headers })).status, 401)
    for (const { call } of [here, elsewhere]) assert.equal((await call('GET', '/me')).status, 401)
    assert.equal(await opens(person.email, person.password), null)
    assert.deepEqual((await opens(person.email, 'a new long password'))?.length, 2)
  })

  test('with many tokens changes the password while others change theirs', async () => {
    const tenant = await shown.newTenant('A')
    const { call, person } = await adminOf(tenant)
    await owner.query(
      `insert into access_tokens (id, tenant_id, kind, user_id, lineage_id, name, scopes, secret_hash, expires_at)
        select gen_random_uuid(), $1, 'personal', $2::text::uuid, gen_random_uuid(), 'many', '{contacts:read}',
          sha256(convert_to($2::text || n::text, 'UTF8')), now() + interval '1 day' from generate_series(1, 5000) as n`,
      [tenant.id, person.id],
    )
    const body = { name: 'one more', scopes: ['contacts:read'], expiresInDays: 7 }
    assert.equal((await call('POST', '/tokens', { body })).body.code, 'conflict')
    const change = { currentPassword: person.password, newPassword: 'a new long password' }
    assert.equal((await call('PATCH', '/me/password', { body: change })).status, 200)
    const noted = await owner.query(
      `select from audit_entries where tenant_id = $1 and resource = 'tokens' and action = 'revoked'`,
      [tenant.id],
    )
    assert.equal(noted.rowCount, 5_000)
  })

  test('must know the old password, and has five guesses', async () => {
    const { call } = await adminOf(await shown.newTenant('A'))
    const guess = () =>
      call('PATCH', '/me/password', { body: { currentPassword: 'a wrong guess', newPassword: 'of the intruder' } })
    for (let guesses = 0; guesses < 5; guesses++) {
      const { status, body } = await guess()
      assert.deepEqual([status, body.errors[0].pointer], [422, '/currentPassword'])
    }
    const { status, headers } = await guess()
    assert.equal(status, 429)
    assert.ok(Number(headers.get('retry-after')) > 0)
  })

  test('does not change a password that was changed meanwhile', async () => {
    const { call, person } = await adminOf(await shown.newTenant('A'))
    const lock = `select pg_advisory_lock(hashtextextended('masthead address ' || $1, 0))`
    await owner.query(lock, [person.email])
    const change = { currentPassword: person.password, newPassword: 'of the intruder' }
    const changing = call('PATCH', '/me/password', { body: change })
    const isWaiting = async () =>
      (await owner.query(`select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`))
        .rowCount === 1
    await until('the change waits', isWaiting)
    await owner.query(`update users set password_hash = '' where id = $1`, [person.id])
    await owner.query(lock.replace('pg_advisory_lock', 'pg_advisory_unlock'), [person.email])
    const { status, body } = await changing
    assert.deepEqual([status, body.code], [409, 'conflict'])
    const same = { currentPassword: person.password, newPassword: person.password }
    assert.equal((await call('PATCH', '/me/password', { body: same })).body.errors[0].pointer, '/newPassword')
  })

  test('cannot keep a token of somebody else by naming it', async () => {
    const tenant = await shown.newTenant('A')
    const [mine, theirs] = [await adminOf(tenant), await adminOf(tenant)]
    const body = { name: 'x', scopes: ['contacts:read'], expiresInDays: 7 }
    const { id, token } = (await theirs.call('POST', '/tokens', { body })).body
    const change = { currentPassword: mine.person.password, newPassword: 'a new long password', keepTokens: [id] }
    assert.deepEqual((await mine.call('PATCH', '/me/password', { body: change })).body.tokens, [])
    assert.equal((await shown.call('GET', '/contacts', { token })).status, 200)
  })

  test('who leaves the last tenant is gone with the sessions, and the audit log still tells who it was', async () => {
    const tenant = await shown.newTenant('A')
    const [admin, leaver] = [await adminOf(tenant), await adminOf(tenant)]
    const [address, expired] = [newAddress(), newAddress()]
    await invite(leaver, expired)
    await owner.query('update invitations set expires_at = now() where tenant_id = $1', [tenant.id])
    await invite(leaver, address)
    assert.equal((await admin.call('DELETE', `/members/${leaver.person.id}`)).status, 200)
    assert.deepEqual(await accountsOf(leaver.person.email), [])
    const sessions = await owner.query('select from authorization_state where account_id = $1', [leaver.person.id])
    assert.equal(sessions.rowCount, 0)
    const { body } = await admin.call('GET', '/audit-entries')
    type Shown = {
      action: string
      resource: string
      author: { name: string }
      recordName: string
      after: { email: string } | null
    }
    const entries: Shown[] = body.items
    const invitation = entries.find(({ action, resource }) => resource === 'invitations' && action === 'created')
    assert.equal(invitation?.author.name, leaver.person.email)
    const withdrawn = entries.filter(({ action, resource }) => resource === 'invitations' && action === 'withdrawn')
    assert.deepEqual(
      withdrawn.map(({ after }) => after?.email),
      [address],
    )
    const removal = entries.find(({ action, resource }) => resource === 'members' && action === 'removed')
    assert.equal(removal?.recordName, leaver.person.email)
  })

  test('who leaves one of two tenants stays in the other', async () => {
    const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
    const person = await newPerson(shown, [a, 'viewer'], [b, 'viewer'])
    assert.equal((await (await adminOf(a)).call('DELETE', `/members/${person.id}`)).status, 200)
    assert.deepEqual(await opens(person.email, person.password), [b.id])
  })
})

describe('the audit log', () => {
  test('tells of a sign-in in the tenant that was chosen, and of a failure in that of the installation', async () => {
    const [a, b] = [await shown.newTenant('A'), await shown.newTenant('B')]
    const person = await newPerson(shown, [a, 'viewer'], [b, 'viewer'])
    await new ConsoleBrowser(origin).signIn(person, { tenant: b.id })
    assert.equal(await opens(person.email, 'a wrong password'), null)
    const { rows } = await owner.query(
      `select tenant_id, action from audit_entries where resource = 'sign_ins' and record_id = $1 order by number`,
      [person.id],
    )
    assert.deepEqual(rows, [
      { tenant_id: b.id, action: 'succeeded' },
      { tenant_id: '00000000-0000-0000-0000-000000000000', action: 'failed' },
    ])
  })
})
