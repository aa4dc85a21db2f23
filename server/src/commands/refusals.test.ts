import assert from 'node:assert/strict'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runInSession } from '../../test/processes/command-session.ts'
import { signingSecret, startCommands } from '../../test/processes/commands-on-acme.ts'
import { everyCommand } from '../../test/processes/every-command.ts'
import { runMasthead, severalAtOnce, spawnMasthead } from '../../test/processes/masthead-process.ts'
import { assertRefusal } from '../../test/processes/refusal.ts'

const { service, environment, text, json } = await startCommands()
const commands = await everyCommand()
const thisFile = fileURLToPath(import.meta.url)
const folder = await mkdtemp(join(tmpdir(), 'masthead-refusals-'))
after(() => rm(folder, { recursive: true, force: true }))

// Nobody imports there.
before(() => text('tenant create still --name Still'))

describe('every command', { concurrency: 2 }, () => {
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
      [user, /a password must have at least 8 characters/, 'seven77\n'],
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
        /--url must begin with https:\/\/, because deliveries hold records of people; set ALLOW_PRIVATE/,
      ],
      ['https://127.0.0.1/', /127\.0\.0\.1 is a private address; set ALLOW_PRIVATE_ADDRESSES=true to allow it/],
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
      '--tenant': 'nobody',
      '--scopes': 'contacts:read',
      '--url': 'http://localhost:1/in',
      '--since': '30d',
      '--events': 'contact.created',
      '--time-zone': 'UTC',
      '--to': join(folder, 'none', 'file'),
    }
    /** What is not mandatory by itself, but needed. */
    const more: Record<string, string[]> = {
      'token create': ['--service', 'x'],
      'user create': ['--name', 'x', '--password-stdin'],
      'audit export': ['--tenant', 'nobody'],
      import: ['--tenant', 'nobody'],
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
      'openapi',
      `import list --tenant ${slug} --json`,
      'tenant --help',
      'tenan list',
      'tenant list --jsn',
      'token',
      'tenant create acme --name Again',
      'user set-password --email eve@acme.example --password-stdin',
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

  test('fails when its output cannot be written', { skip: !existsSync('/dev/full') }, async () => {
    const full = openSync('/dev/full', 'w')
    const outcome = await spawnMasthead(['openapi'], {}, full).ended.finally(() => closeSync(full))
    assertRefusal(outcome, /the output could not be written: ENOSPC/)
  })
})

const unusedPort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address ? address.port : 0
}
