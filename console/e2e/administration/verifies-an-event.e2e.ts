import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startReceiver, startWorkerFor, subscribe } from '../../../server/test/outside/webhook-receiver.ts'
import { until } from '../../../server/test/processes/masthead-process.ts'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { type VerifyingLanguage, verifyingCode, verifyingLanguages } from '../../src/webhooks/verifying-code.ts'
import { openConsole } from '../visitor.ts'

/** Whoever copies the code that is shown beside a secret, and runs it on an event that arrived. */

const { service } = await openConsole()
const folder = await mkdtemp(join(tmpdir(), 'masthead-verifying-'))
after(() => rm(folder, { recursive: true, force: true }))

type Given = { body: string; headers: Record<string, string> }

/** How the code is run in each language; it prints the type of the event. */
const programs: Record<VerifyingLanguage, { command: string; end: string; given: (given: Given) => object }> = {
  'Node.js': {
    command: process.execPath,
    end: `
import { readFileSync } from 'node:fs'
const { body, headers } = JSON.parse(readFileSync(0))
console.log(verify(Buffer.from(body), headers).type)`,
    given: (given) => given,
  },
  Python: {
    command: 'python3',
    end: `
import sys
given = json.load(sys.stdin)
print(verify(given['body'].encode(), given['headers'])['type'])`,
    given: (given) => given,
  },
  PHP: {
    command: 'php',
    end: `
$given = json_decode(file_get_contents('php://stdin'), true);
echo verify($secret, $given['body'], $given['server'])['type'], "\\n";`,
    given: ({ body, headers }) => ({
      body,
      server: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [`HTTP_${name.toUpperCase().replaceAll('-', '_')}`, value]),
      ),
    }),
  },
}

const arrive = async () => {
  startWorkerFor(service)
  const tenant = await service.newTenant()
  await tenant.add('accounts', [sampleAccount('A1')])
  const receiver = await startReceiver()
  const { secret } = await subscribe(service, tenant, receiver)
  const token = await tenant.serviceToken()
  await service.call('POST', '/contacts', { token, body: { accountId: 'A1', name: 'Zoë Ångström' } })
  await until('an event arrives', async () => receiver.taken.length > 0)
  const { text: body, headers } = receiver.taken[0] ?? assert.fail('nothing was taken')
  return { secret, body, headers }
}
let arrived: ReturnType<typeof arrive> | undefined

for (const language of verifyingLanguages) {
  const { command, end, given } = programs[language]
  const isInstalled = spawnSync(command, ['--version']).status === 0
  test(`the code in ${language} takes what is signed, and nothing else`, { skip: !isInstalled }, async () => {
    arrived ??= arrive()
    const { secret, body, headers } = await arrived
    const file = join(folder, language === 'Node.js' ? 'verify.mjs' : `verify-${language}`)
    await writeFile(file, verifyingCode[language] + end)
    const run = (changes: Partial<Given> = {}, withSecret = secret) =>
      spawnSync(command, [file], {
        input: JSON.stringify(given({ body, headers, ...changes })),
        env: { ...process.env, WEBHOOK_SECRET: withSecret },
        encoding: 'utf8',
      })
    const taken = run()
    assert.equal(taken.stdout.trim(), 'contact.created', taken.stderr)
    const signature = headers['webhook-signature'] ?? ''
    const rotated = run({ headers: { ...headers, 'webhook-signature': `v1,AAAA ${signature}` } })
    assert.equal(rotated.stdout.trim(), 'contact.created', rotated.stderr)
    const old = String(Number(headers['webhook-timestamp']) - 600)
    const refused = [
      { run: run({ body: body.replace('Zoë', 'Eve') }), because: /The signature is wrong/ },
      { run: run({}, `whsec_${Buffer.alloc(32).toString('base64')}`), because: /The signature is wrong/ },
      { run: run({ headers: { ...headers, 'webhook-signature': 'v1,é' } }), because: /The signature is wrong/ },
      { run: run({ headers: { ...headers, 'webhook-timestamp': old } }), because: /The timestamp is off/ },
    ]
    for (const { run, because } of refused) {
      assert.notEqual(run.status, 0)
      assert.match(run.stdout + run.stderr, because)
    }
  })
}
