import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Command } from 'commander'
import { storeDelivery } from '../../test/outside/stored-deliveries.ts'
import { signingSecret, startCommands } from '../../test/processes/commands-on-acme.ts'
import { everyCommand } from '../../test/processes/every-command.ts'
import { runMasthead, spawnMasthead } from '../../test/processes/masthead-process.ts'
import { sampleAccount, sampleContact } from '../../test/records/sample-records.ts'
import { buildProgram } from './program.ts'

const { service, textBy, text, json } = await startCommands()
const commands = await everyCommand()
const folder = await mkdtemp(join(tmpdir(), 'masthead-commands-'))
after(() => rm(folder, { recursive: true, force: true }))

/** What `--help` prints, by the program itself but in this process, as every process takes its time to start. */
const helpOf = async (path: readonly string[]): Promise<string> => {
  let help = ''
  const program = await buildProgram(path[0])
  const listenTo = (command: Command) => {
    command.exitOverride().configureOutput({ writeOut: (text) => (help += text) })
    command.commands.forEach(listenTo)
  }
  listenTo(program)
  const asked = program.parseAsync([...path, '--help'], { from: 'user' })
  await assert.rejects(asked, { code: 'commander.helpDisplayed', exitCode: 0 })
  return help
}

describe('every command', { concurrency: 2 }, () => {
  test('has --help, which needs no database', async () => {
    for (const { path, isGroup } of commands) {
      const help = await helpOf(path)
      assert.ok(help.startsWith(`Usage: ${['masthead', ...path].join(' ')} `), help)
      if (!isGroup) assert.match(help, /^ {2}--json /m)
    }
    for (const path of [[], ['serve'], ['tenant', 'create']]) {
      const outcome = await runMasthead([...path, '--help'], { DATABASE_URL: 'postgres://127.0.0.1:1/none' })
      assert.deepEqual(outcome, { code: 0, stdout: await helpOf(path), stderr: '' })
    }
  })

  test('answers one JSON document with --json, as a process of its own', async () => {
    const json = async (command: string, input?: string) =>
      JSON.parse(await textBy(runMasthead, `${command} --json`, input))
    const { id: personal } = await json(
      'token create --tenant acme --user ada@acme.example --name x --scopes contacts:read',
    )
    const { id: ofService } = await json('token create --tenant acme --service sync --scopes contacts:read')
    const password = 'another horse'
    let applicationId = ''
    let importId = ''
    let [endpoint, event] = ['', '']
    const answers: Record<string, () => Promise<unknown>> = {
      'tenant create': () => json('tenant create beta --name Beta'),
      'tenant set': () => json('tenant set acme --time-zone Europe/Berlin'),
      'tenant list': () => json('tenant list'),
      'user create': () => json('user create --tenant beta --email ada@acme.example --existing --role viewer'),
      'user invite': () => json('user invite --tenant beta --email eve@beta.example --role viewer'),
      'user list': () => json('user list --tenant beta'),
      'user set-password': () => json('user set-password --email ADA@acme.example --password-stdin', password),
      'user set-subject': () => json('user set-subject --email ada@acme.example --subject sub-1'),
      'member role': () => json('member role --tenant beta --email ada@acme.example --role editor'),
      'member remove': () => json('member remove --tenant beta --email ada@acme.example'),
      'token create': () => json('token create --tenant acme --service x --name y --scopes contacts:read'),
      'token list': () => json('token list --tenant acme'),
      'token revoke': () => json(`token revoke ${personal}`),
      'token rotate': () => json(`token rotate ${ofService}`),
      'app register': async () => {
        const given = '--name Report --redirect-uri https://report.example/a --scopes contacts:read --refresh'
        const registered = await json(`app register ${given}`)
        applicationId = registered.clientId
        return registered
      },
      'app list': () => json('app list'),
      'app disable': () => json(`app disable ${applicationId}`),
      'app enable': () => json(`app enable ${applicationId}`),
      export: () => json(`export --tenant acme --to ${folder}`),
      // A group that is a command too.
      import: async () => {
        const imported = await json(`import ${folder} --tenant acme`)
        importId = imported.id
        return imported
      },
      'import suggest': () => json(`import suggest ${join(folder, 'contacts.csv')}`),
      'import template': () => json(`import template tasks --to ${join(folder, 'template.csv')}`),
      'import list': () => json('import list --tenant acme'),
      'import undo': () => json(`import undo ${importId} --tenant acme`),
      demo: () => json('demo --tenant demo --accounts 2'),
      'keys rotate': () => json('keys rotate'),
      'legacy attach': () =>
        json('legacy attach --tenant beta --url http://localhost:1/in?key=hunter22 --secret-stdin', signingSecret),
      'legacy status': () => json('legacy status --tenant beta'),
      'legacy retry': () => json('legacy retry --tenant beta'),
      'legacy detach': () => json('legacy detach --tenant beta --discard'),
      'webhook create': async () => {
        const given = '--url http://localhost:1/in --events contact.created,import.undone --description Sync'
        const made = await json(`webhook create --tenant beta ${given}`)
        endpoint = made.id
        return made
      },
      'webhook list': () => json('webhook list --tenant beta'),
      'webhook test': async () => {
        const sent = await json(`webhook test ${endpoint} --tenant beta`)
        event = sent.id
        return sent
      },
      'webhook deliveries': () => json(`webhook deliveries ${endpoint} --tenant beta --state waiting`),
      'webhook delivery': () => json(`webhook delivery ${endpoint} ${event} --tenant beta`),
      'webhook resend': () => json(`webhook resend ${endpoint} ${event} --tenant beta`),
      'webhook replay': () => json(`webhook replay ${endpoint} --tenant beta --since 30d`),
      'webhook disable': () => json(`webhook disable ${endpoint} --tenant beta`),
      'webhook enable': () => json(`webhook enable ${endpoint} --tenant beta`),
      'webhook rotate-secret': () => json(`webhook rotate-secret ${endpoint} --tenant beta`),
      'webhook delete': () => json(`webhook delete ${endpoint} --tenant beta`),
      'audit verify': () => json('audit verify'),
      'audit export': () => json(`audit export --tenant acme --to ${join(folder, 'audit.ndjson')}`),
      'contact erase': async () => {
        const tenant = await service.newTenant()
        await tenant.add('accounts', [sampleAccount('C-1')])
        const [contact] = await tenant.add('contacts', [sampleContact('C-1')])
        return json(`contact erase ${contact?.id}`)
      },
      'service install': () => json('service install --print'),
      completion: () => json('completion bash'),
      status: () => json('status'),
      migrate: () => json('migrate'),
      'upgrade check': () => json('upgrade check'),
      doctor: () => json('doctor'),
      openapi: () => json('openapi'),
    }
    const shown: Record<string, unknown> = {}
    for (const [command, answer] of Object.entries(answers)) shown[command] = await answer()
    // Tested apart: these do not end, need a service that runs, are for an embedded database, for one with Citus, or for systemd.
    const others = ['serve', 'work', 'probe', 'backup', 'restore', 'shard init', 'shard status', 'shard isolate']
    others.push('service uninstall')
    const expected = commands.filter(({ isGroup }) => !isGroup).map(({ path }) => path.join(' '))
    assert.deepEqual([...Object.keys(shown), ...others].sort(), [...expected, 'import'].sort())

    const keysOf = (command: string) => Object.keys(shown[command] ?? {})
    assert.deepEqual(keysOf('tenant create'), ['id', 'slug', 'name', 'defaultAssignee', 'timeZone', 'createdAt'])
    assert.deepEqual(keysOf('user create'), ['id', 'email', 'name', 'role', 'legacyUserId', 'createdAt'])
    for (const key of ['id', 'token', 'scopes', 'expiresAt']) assert.ok(keysOf('token create').includes(key), key)
    assert.match(applicationId, /^app_[a-z0-9]{20}$/)
    assert.deepEqual(keysOf('export'), ['tenant', 'to', 'files'])
    assert.deepEqual(keysOf('import'), ['id', 'files', 'refusals'])
    assert.deepEqual(keysOf('import undo'), ['id', 'removed', 'restored', 'keptCount', 'kept'])
    assert.deepEqual(keysOf('demo'), ['tenant', 'token', 'resources'])
    const { rows } = await service.owner.query('select max(version) as version from migrations')
    assert.deepEqual(shown.migrate, { applied: [], version: rows[0]?.version })
    assert.ok(!JSON.stringify(shown['token list']).includes('mh_'))
    assert.deepEqual(keysOf('legacy attach'), ['url', 'attachedAt'])
    const kept = ['waiting', 'failed', 'oldestWaiting', 'lastError', 'lastErrorAt']
    assert.deepEqual(keysOf('legacy status'), ['attached', 'url', 'attachedAt', ...kept])
    assert.deepEqual(shown['legacy retry'], { retried: 0, hastened: 0 })
    assert.deepEqual(shown['legacy detach'], { discarded: 0 })
    const secretOnce = ['id', 'url', 'events', 'description', 'secret']
    assert.deepEqual([keysOf('webhook create'), keysOf('webhook rotate-secret')], [secretOnce, secretOnce])
    for (const command of ['list', 'disable', 'enable', 'delete', 'test', 'deliveries'])
      assert.ok(!JSON.stringify(shown[`webhook ${command}`]).includes('whsec_'), command)
    assert.deepEqual(shown['webhook replay'], { replayed: 1, isDisabled: false })
    assert.deepEqual(keysOf('audit export'), ['entries', 'to'])
    assert.deepEqual(keysOf('contact erase'), ['id', 'tenant', 'images', 'answers', 'deliveries', 'exports'])
    assert.doesNotMatch(JSON.stringify(shown), /hunter22|eHh4/)
  })

  test('says in words what it did', async () => {
    const steps: [command: string, expected: RegExp, input?: string][] = [
      [
        'tenant create words --name Words',
        /^Tenant words created\.\nNext, its first admin: masthead user invite --tenant words .*\n$/,
      ],
      [
        'app register --name Report --native --redirect-uri com.example.report:/back --scopes contacts:read',
        /^app_[a-z0-9]{20}\nReport is registered; this is its client_id\.\n$/,
      ],
      [
        'app list',
        /^clientId +name +scopes +redirectUris +state\n(.*\n)*app_.* com\.example\.report:\/back +enabled\n/,
      ],
      ['keys rotate', /signs from now on\.\n/],
      [
        'tenant list',
        /^slug +name +defaultAssignee +timeZone +createdAt +measuredAs\n(.*\n)*words +Words +- +UTC +\d{4}-.*\n$/,
      ],
      [
        'user invite --tenant words --email eve@words.example --role viewer',
        /^http:\/\/localhost:8080\/oauth2\/invitations\/\S{43}\nOpen it, or send it to eve@words\.example: .* viewer of words\.\nIt is shown only now, /,
      ],
      ['user list --tenant words', /^No member yet: masthead user create\n$/],
      [
        'user create --tenant words --email bob@words.example --name Bob --role editor --password-stdin',
        /^bob@words\.example is now editor of words\.\n$/,
        'correct horse',
      ],
      ['user list --tenant words', /\nbob@words\.example +Bob +editor +false +- +\d{4}-.*\n$/],
      ['user set-password --email bob@words.example --password-stdin', /has a new password\. /, 'battery staple'],
      ['member role --tenant words --email bob@words.example --role admin', /is now admin of words\.\n$/],
      ['token list --tenant words', /^No token yet: masthead token create\n$/],
      [
        'token create --tenant words --user bob@words.example --name laptop --scopes contacts:read,tasks:write',
        /^mh_pat_\w{38}\nIt is shown only now\. It may contacts:read, tasks:write until .*\nTry it: curl .*\/contacts\?pageSize=3"\nTo end it: masthead token revoke .*\n$/,
      ],
      ['token create --tenant words --service sync --scopes contacts:read', /^mh_svc_\w{38}\n/],
      ['token list --tenant words', / personal +bob@words\.example +laptop .*\n.* service +sync +sync .*\n$/],
      ['member remove --tenant words --email bob@words.example', /is no longer a member of words\.\n$/],
      [
        `export --tenant words --to ${folder}/words`,
        /^resource +rows +file\n(.*\n)+\nAll records of words are in .*\n$/,
      ],
      ['import list --tenant words', /^No import yet: masthead import <folder> --tenant <slug>\n$/],
      [
        `import ${folder}/words --tenant words`,
        /^file +resource +created +changed +unchanged +refused\n(.*\n)+\nTo undo it: masthead import undo \S+ --tenant words\n$/,
      ],
      ['import list --tenant words', /^id +startedAt +state +files +created +changed +refused\n.* done +6 +0 +0 +0\n$/],
      [
        'demo --tenant trial --accounts 1 --seed 9',
        /^resource +created .*\n(.*\n)+\nTenant trial, token:\nmh_svc_\w{38}\n$/,
      ],
      ['legacy status --tenant words', /^No legacy system: masthead legacy attach\n$/],
      [
        'legacy attach --tenant words --url http://localhost:1/in --secret-stdin',
        /^Writes of words are delivered to http:\/\/localhost:1\/in\.\n$/,
        signingSecret,
      ],
      ['legacy status --tenant words', /^url .*\nhttp:\/\/localhost:1\/in +\d{4}-\S+ +0 +0 +- +- +-\n$/],
      ['legacy retry --tenant words', /^0 failed and 0 waiting deliveries are tried now\.\n$/],
      ['legacy detach --tenant words', /^words has no legacy system any more\.\n$/],
      ['webhook list --tenant words', /^No endpoints: masthead webhook create\n$/],
      [
        'webhook create --tenant words --url http://localhost:1/in?key=1 --events contact.created',
        /^Events are sent to http:\/\/localhost:1\/in\?…, endpoint [0-9a-f-]{36}\.\nSecret: whsec_\S{44}\nIt is shown only now\./,
      ],
      [
        'webhook list --tenant words',
        /^id +kind +url .*\n[0-9a-f-]{36} +webhook +\S+\?… +contact\.created +ok +0 +0\n$/,
      ],
      ['migrate', /^Nothing to do: schema version \d+\.\n$/],
    ]
    for (const [command, expected, input] of steps) assert.match(await text(command, input), expected)
    const [endpoint] = await json('webhook list --tenant words')
    const [{ id: tenantId }] = (await service.owner.query(`select id from tenants where slug = 'words'`)).rows
    for (const expected of [
      /^\S+ is enabled\.\n1 delivery failed: masthead webhook replay /,
      /\n2 deliveries failed: /,
    ]) {
      await storeDelivery(service.owner, tenantId, { endpointId: endpoint.id, hasFailed: true })
      assert.match(await text(`webhook enable ${endpoint.id} --tenant words`), expected)
    }
    const [{ id }] = await json('token list --tenant words')
    assert.match(
      await text(`token rotate ${id} --overlap 2h`),
      /^mh_svc_\w{38}\n(.*\n)+The old token works until .*\n$/,
    )
    assert.match(await text(`token revoke ${id}`), /^Token sync is revoked\.\n$/)
    assert.match(await text('token list --tenant words'), / revoked /)
  })

  test('belongs to a program that tells its version', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    for (const flag of ['--version', '-V']) assert.equal(await text(flag), `${version}\n`)
  })

  test('of a group shows how it is used when called without one of the group, and fails', async () => {
    const { code, stdout, stderr } = await runMasthead(['token'], {})
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^Usage: masthead token /)
  })

  test('ends quietly when the reader of its output has gone', async () => {
    const { child, said, ended } = spawnMasthead(['openapi'], {})
    child.stdout?.destroy()
    await once(child, 'close')
    assert.deepEqual([(await ended).code, said.stderr], [0, ''])
  })
})
