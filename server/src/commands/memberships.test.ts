import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInSession } from '../../test/processes/command-session.ts'
import { startCommands } from '../../test/processes/commands-on-acme.ts'
import { until } from '../../test/processes/masthead-process.ts'
import { assertRefusal } from '../../test/processes/refusal.ts'
import { matchPasswords } from '../identity/people/passwords.ts'

const { service, environment, text, json, passwordHashOf } = await startCommands()

describe('a membership', { concurrency: 3 }, () => {
  const bob = '--tenant acme --email bob@acme.example'
  const create = `user create ${bob} --name Bob --role editor --password-stdin`

  test('decides within a second what a personal access token may do', async () => {
    await text(create, 'correct horse')
    const { token } = await json(
      'token create --tenant acme --user bob@acme.example --name x --scopes contacts:read,contacts:write',
    )
    const write = () => service.call('POST', '/contacts', { token, body: { accountId: 'none' } })
    assert.equal((await write()).status, 422)
    await json(`member role ${bob} --role viewer`)
    await until('it is refused', async () => (await write()).status === 403)
    const refused = await write()
    assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_role'])
    assert.equal((await service.call('GET', '/contacts', { token })).status, 200)
    await json(`member role ${bob} --role admin`)
    await until('it is let in', async () => (await write()).status === 422)

    await json(`member remove ${bob}`)
    await until('it has ended', async () => (await write()).status === 401)
    const ended = await service.call('GET', '/contacts', { token })
    assert.deepEqual([ended.status, ended.body.code], [401, 'invalid_token'])
    await text(create, 'correct horse')
    assert.equal((await service.call('GET', '/contacts', { token })).status, 401)
  })

  test('of a proven address leaves name and password as they are in a second tenant, until set-password', async () => {
    await text('tenant create second --name Second')
    const email = '--email Carol@example.com'
    const first = `user create --tenant acme ${email} --name Carol --role viewer --proven --password-stdin`
    await text(first, 'first password')
    const second = 'user create --tenant second --email carol@EXAMPLE.com --role admin'
    const refused = await runInSession(
      [...second.split(' '), '--name', 'C', '--password-stdin'],
      environment,
      'another one',
    )
    assertRefusal(refused, /has a proven account already: `--existing` adds it/)
    const added = await text(`${second} --existing`)
    assert.match(added, /^Carol@example\.com is now admin of second\.\nThis is the account that the address had before/)
    assert.doesNotMatch(added, /created/)
    assert.deepEqual(await matchPasswords('first password', [await passwordHashOf('Carol@example.com')]), [true])
    // The line end of `echo` is not part of the password, a space is.
    await text(`user set-password ${email} --password-stdin`, ' third password \n')
    assert.deepEqual(await matchPasswords(' third password ', [await passwordHashOf('Carol@example.com')]), [true])
  })
})

describe('a task', () => {
  test('goes to who is named, else the acting user, else who the token names, else who the tenant names, else nobody', async () => {
    await text('tenant create bare --name Bare')
    await text(
      'user create --tenant acme --email plain@acme.example --name P --role editor --password-stdin',
      'correct horse',
    )
    const scopesGiven = '--scopes tasks:write,accounts:write'
    const assignee = async (command: string, userId?: string) => {
      const { token } = await json(`token create ${command} ${scopesGiven}`)
      const account = await service.call('POST', '/accounts', { token, body: { company: 'Task Ltd' } })
      const body = {
        accountId: account.body.accountId,
        title: 'Call',
        dueDate: '2026-12-01',
        ...(userId && { userId }),
      }
      const answer = await service.call('POST', '/tasks', { token, body })
      assert.equal(answer.status, 201, answer.text)
      return answer.body.userId
    }
    assert.equal(await assignee('--tenant acme --user ada@acme.example --name x', 'given'), 'given')
    assert.equal(await assignee('--tenant acme --service x --default-assignee S-1', 'given'), 'given')
    assert.equal(await assignee('--tenant acme --user ada@acme.example --name x'), 'L-1')
    assert.equal(await assignee('--tenant acme --service x --default-assignee S-1'), 'S-1')
    assert.equal(await assignee('--tenant acme --service x'), 'T-1')
    assert.equal(await assignee('--tenant acme --user plain@acme.example --name x'), 'T-1')
    assert.equal(await assignee('--tenant bare --service x'), '')
  })
})
