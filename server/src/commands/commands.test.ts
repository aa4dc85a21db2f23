import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { operations, scopes, scopesOf } from '@masthead/contract'
import type { Command } from 'commander'
import { type Run, runInSession } from '../../test/processes/command-session.ts'
import { runMasthead, severalAtOnce, spawnMasthead, until } from '../../test/processes/masthead-process.ts'
import { sampleAccount, sampleContact } from '../../test/records/sample-records.ts'
import { secret, startService } from '../../test/service.ts'
import { matchPasswords } from '../identity/passwords.ts'
import { buildProgram } from './program.ts'

const service = await startService()
const environment = { DATABASE_URL: service.connectionString, MASTHEAD_SECRET: secret, LEGACY_ALLOW_PRIVATE: 'true' }
const signingSecret = `whsec_${Buffer.alloc(32, 'x').toString('base64')}`
const day = 86_400_000
const folder = await mkdtemp(join(tmpdir(), 'masthead-commands-'))
after(() => rm(folder, { recursive: true, force: true }))

const textBy = async (run: Run, command: string, input?: string): Promise<string> => {
  const { code, stdout, stderr } = await run(command.split(' '), environment, input)
  assert.deepEqual([code, stderr], [0, ''], command)
  return stdout
}
const text = (command: string, input?: string) => textBy(runInSession, command, input)
const json = async (command: string, input?: string) => JSON.parse(await text(`${command} --json`, input))

/** Every command, as the words that call it. */
const paths = (command: Command, path: string[] = []): { path: string[]; command: Command; isGroup: boolean }[] => [
  { path, command, isGroup: command.commands.length > 0 },
  ...command.commands.flatMap((below) => paths(below, [...path, below.name()])),
]
const commands = paths(await buildProgram())

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

before(async () => {
  // Nobody imports there.
  await text('tenant create still --name Still')
  await text('tenant create acme --name Acme --default-assignee T-1')
  await text(
    'user create --tenant acme --email ada@acme.example --name Ada --role admin --legacy-user-id L-1 --proven --password-stdin',
    'correct horse\n',
  )
})

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
    const [{ id }] = await json('token list --tenant words')
    assert.match(
      await text(`token rotate ${id} --overlap 2h`),
      /^mh_svc_\w{38}\n(.*\n)+The old token works until .*\n$/,
    )
    assert.match(await text(`token revoke ${id}`), /^Token sync is revoked\.\n$/)
    assert.match(await text('token list --tenant words'), / revoked /)
  })

  test('fails with one line that says what to do, and prints nothing else', async () => {
    const user = 'user create --tenant acme --email eve@acme.example --name Eve --role viewer --password-stdin'
    const token = 'token create --tenant acme --service x --scopes contacts:read'
    const attach = 'legacy attach --tenant acme --url http://localhost:1 --secret-stdin'
    const failures: [command: string, complaint: RegExp, input?: string][] = [
      ['tenan list', /unknown command 'tenan' \(Did you mean tenant\?\); see `masthead --help`/],
      ['tenant crate', /unknown command 'crate' \(Did you mean create\?\); see `masthead tenant --help`/],
      ['tenant list --jsn', /unknown option '--jsn' \(Did you mean --json\?\)/],
      ['tenant create x', /required option '--name <name>' not specified; see `masthead tenant create --help`/],
      ['tenant create x y --name x', /too many arguments/],
      ['tenant create acme --name Again', /there is already a tenant "acme"/],
      ['tenant create Acme_Press --name Acme', /"Acme_Press" cannot be a slug: use 1 to 63 of a-z, 0-9 and -/],
      [`import ${folder}`, /say whose records they are: --tenant <slug>/],
      ['import --tenant acme', /missing required argument 'paths'; see `masthead import --help`/],
      ['import undo x --tenant still', /there is no import "x" in this tenant; `masthead import list` shows them/],
      ['demo --accounts many', /--accounts must be a whole number from 1 to 1000000, not "many"/],
      ['demo --tenant acme', /the tenant "acme" was not made for demo data: choose another/],
      ['export --tenant acme', /required option '--to <folder>' not specified; see `masthead export --help`/],
      [
        `export --tenant nobody --to ${folder}/nobody`,
        /there is no tenant "nobody"; `masthead tenant list` shows them/,
      ],
      ['user list --tenant nobody', /there is no tenant "nobody"; `masthead tenant list` shows them/],
      [user.replace('viewer', 'boss'), /'boss' is invalid\. Allowed choices are admin, editor, viewer; see/],
      [user.replace(' --password-stdin', ''), /pipe the password in, with --password-stdin/],
      [user, /a password needs at least 8 characters/, 'seven77\n'],
      [user.replace('eve@acme.example', 'eve'), /"eve" is not an e-mail address/, 'correct horse'],
      [user.replace('eve@', 'ada@'), /ada@acme\.example is already a member of this tenant/, 'correct horse'],
      ['user invite --tenant acme --email ada@acme.example --role admin', /already a member of this tenant; `masthead/],
      ['user invite --tenant acme --email eve --role admin', /"eve" is not an e-mail address: write it like/],
      ['user set-password --email eve@acme.example --password-stdin', /there is no user eve@/, 'correct horse'],
      ['member role --tenant acme --email eve@x --role admin', /eve@x is not a member of this tenant/],
      [token.replace('contacts', 'contact'), /no scope "contact:read"\. Did you mean contacts:read\?/],
      [token.replace('contacts:read', ','), /name at least one scope/],
      [token.replace('--service x', ''), /say whose token it is: --user <email> or --service <name>/],
      [`${token} --user ada@acme.example`, /say whose token it is/],
      [token.replace('--service x', '--user ada@acme.example'), /say what the token is for: --name/],
      [`${token} --expires soon`, /"soon" is not a duration: write 90d, 24h, 30m or 45s/],
      [`${token} --expires 0d`, /expires at once/],
      ['token revoke garbage', /there is no token "garbage"; `masthead token list` shows their ids/],
      ['token rotate 00000000-0000-7000-8000-000000000000', /there is no token "0000/],
      [attach, /the secret must be whsec_ and base64 of 24 to 64 bytes/, 'hunter22'],
      [attach.replace('http://localhost:1', 'localhost'), /--url must be an address like https:/, signingSecret],
      [attach.replace('localhost', 'a:b@localhost'), /--url must not hold a user or a password/, signingSecret],
      [attach.replace('acme', 'nobody'), /there is no tenant "nobody"/, signingSecret],
      ['legacy detach --tenant acme', /no legacy system attached; `masthead legacy attach` does that/],
      ['legacy retry --tenant acme', /no legacy system attached/],
      [
        'webhook create --tenant acme --url http://localhost:1 --events contact.create',
        /there is no event "contact\.create"\. Did you mean contact\.created\?/,
      ],
      ['webhook create --tenant acme --url http://localhost:1 --events ,', /name at least one type/],
      [
        'webhook test x --tenant acme',
        /there is no webhook endpoint "x" in this tenant; `masthead webhook list` shows/,
      ],
      ['serve --port http', /--port must be a port number from 0 to 65535, not "http"/],
    ]
    for (const [command, complaint, input] of failures) {
      const words = [...command.split(' ').filter(Boolean), '--json']
      assertRefusal(await runInSession(words, environment, input), complaint, command)
    }
    const guarded = { ...environment, LEGACY_ALLOW_PRIVATE: '' }
    for (const [url, complaint] of [
      [
        'http://example.com/',
        /--url must begin with https:\/\/, because deliveries hold records of people; ALLOW_PRIVATE/,
      ],
      ['https://127.0.0.1/', /127\.0\.0\.1 is a private address; ALLOW_PRIVATE_ADDRESSES=true allows it/],
    ] as const) {
      const words = ['webhook', 'create', '--tenant', 'acme', '--url', url, '--events', 'contact.created']
      assertRefusal(await runInSession(words, guarded), complaint)
    }
    const empty = await runInSession(['tenant', 'create', 'x', '--name', ' '], environment)
    assertRefusal(empty, /a tenant needs a name/)
    assert.deepEqual((await json('tenant list')).map(({ slug }: { slug: string }) => slug).includes('x'), false)
  })

  test('says what to do, whatever is missing, unknown or away', async () => {
    const away = { ...environment, DATABASE_URL: `postgres://a:b@127.0.0.1:${await unusedPort()}/x` }
    const samples: Record<string, string> = {
      ...{ '--tenant': 'nobody', '--scopes': 'contacts:read', '--url': 'http://localhost:1/in', '--since': '30d' },
      ...{ '--events': 'contact.created', '--time-zone': 'UTC', '--to': join(folder, 'none', 'file') },
    }
    /** What is not mandatory by itself, but needed. */
    const more: Record<string, string[]> = {
      ...{ 'token create': ['--service', 'x'], 'user create': ['--name', 'x', '--password-stdin'] },
      ...{ 'audit export': ['--tenant', 'nobody'], import: ['--tenant', 'nobody'] },
    }
    // These ask no database, refuse DATABASE_URL, or examine what is away.
    const apart =
      /^(|status|serve|work|doctor|openapi|completion|backup|restore|service .*|import (suggest|template)|upgrade check)$/
    for (const { path, command } of commands.filter(({ isGroup }) => !isGroup)) {
      const name = path.join(' ')
      const mandatory = command.options.filter((option) => option.mandatory)
      const words = [
        ...path,
        ...command.registeredArguments.flatMap(({ argChoices, required }) =>
          required ? (argChoices?.[0] ?? 'nothing') : [],
        ),
        ...mandatory.flatMap(({ long = '', argChoices, required }) =>
          required ? [long, argChoices?.[0] ?? samples[long] ?? 'nothing'] : [long],
        ),
      ]
      const complete = [...words, ...(more[name] ?? [])]
      const help = `see \`masthead ${name} --help\`\n`
      const unknown = await runInSession([...words, '--nonsense'], environment)
      assertRefusal(unknown, /unknown option '--nonsense'/, name)
      assert.ok(unknown.stderr.endsWith(help), unknown.stderr)
      if (words.length > path.length) {
        const missing = await runInSession(path, environment)
        assertRefusal(missing, /missing required argument|required option/, name)
        assert.ok(missing.stderr.endsWith(help), missing.stderr)
      }
      if (apart.test(name)) continue
      const input = name === 'legacy attach' ? signingSecret : 'correct horse'
      assertRefusal(await runInSession(complete, away, input), /; see that the server runs, and that it can/, name)
      if (complete.includes('nobody'))
        assertRefusal(await runInSession(complete, environment, input), /"nobody"; `masthead tenant list` shows/, name)
    }
  })

  test('says the same in a process of its own as in a session of these tests', async () => {
    const { slug } = await service.newTenant()
    for (const command of [
      ...[
        'openapi',
        `import list --tenant ${slug} --json`,
        'tenant --help',
        'tenan list',
        'tenant list --jsn',
        'token',
      ],
      ...['tenant create acme --name Again', 'user set-password --email eve@acme.example --password-stdin'],
    ]) {
      const given = [command.split(' '), environment, 'correct horse'] as const
      assert.deepEqual(await runInSession(...given), await runMasthead(...given), command)
    }
  })

  test('tells in one line what is wrong with its environment, without the password in it', async () => {
    const wrongPassword = new URL(service.connectionString)
    wrongPassword.password = 'hunter22'
    const cases: [environment: Record<string, string>, complaint: RegExp][] = [
      [
        { DATABASE_URL: `postgres://a:hunter22@127.0.0.1:${await unusedPort()}/x` },
        /DATABASE_URL cannot be used: .*ECONNREFUSED/,
      ],
      [{ DATABASE_URL: wrongPassword.href }, /DATABASE_URL cannot be used: password authentication failed/],
      [{ DATABASE_URL: 'mysql://a:hunter22@localhost/x' }, /DATABASE_URL must be an address like postgres:/],
      [{ DATABASE_URL: 'postgres://a:hunter22@localhost:99999/x' }, /DATABASE_URL cannot be used: Invalid URL/],
      [
        { MASTHEAD_DATA_DIR: `${thisFile}/data` },
        /cannot be made, because \S+ is a file, not a folder: choose another folder by --data-dir/,
      ],
      [{ ...environment, PORT: 'http' }, /PORT must be a port number/],
      [{ ...environment, REDIS_URL: 'http://a:hunter22@localhost' }, /REDIS_URL must be an address like redis:/],
      [{ ...environment, RATE_LIMIT_ADDRESS: '0' }, /RATE_LIMIT_ADDRESS must be a whole number from 1 on, not "0"/],
      [{ ...environment, LEGACY_ALLOW_PRIVATE: 'yes' }, /LEGACY_ALLOW_PRIVATE must be true or false, not "yes"/],
      [{ ...environment, BASE_URL: 'api.example.com' }, /BASE_URL must be an address like https:/],
    ]
    await severalAtOnce(cases, async ([given, complaint]) => {
      const outcome = await runMasthead(['tenant', 'list', '--json'], given)
      assertRefusal(outcome, complaint)
      assert.ok(!outcome.stderr.includes('hunter22'), outcome.stderr)
    })
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

  test('fails when its output cannot be written', { skip: !existsSync('/dev/full') }, async () => {
    const full = openSync('/dev/full', 'w')
    const outcome = await spawnMasthead(['openapi'], {}, full).ended.finally(() => closeSync(full))
    assertRefusal(outcome, /the output could not be written: ENOSPC/)
  })
})

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
    assert.equal(listed.lastUsedAt, later.at.toISOString())
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

const thisFile = fileURLToPath(import.meta.url)
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const assertRefusal = (
  { code, stdout, stderr }: { code: number | null; stdout: string; stderr: string },
  complaint: RegExp,
  message?: string,
): void => {
  assert.deepEqual([code, stdout], [1, ''], message)
  assert.match(stderr, /^masthead: [^\n]+\n$/, message)
  assert.match(stderr, complaint, message)
  assert.match(stderr, saysWhatToDo, message)
}

/** What is wrong, and after it what to do; or what must be given instead. */
const saysWhatToDo = /^masthead: .*(.[:;.)] \S|must (be|have|hold) |needs at least |say |give |name at least |pipe )/

const assertNear = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual - expected) < 60_000, `${new Date(actual).toISOString()} is far from what was expected`)

const passwordHashOf = async (email: string): Promise<string> => {
  const { rows } = await service.owner.query('select password_hash from users where email = $1', [email])
  return rows[0]?.password_hash
}

const unusedPort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address ? address.port : 0
}
