import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { populatedTenant } from '../../../server/test/records/populated-tenant.ts'
import { freeAddress, startService } from '../../../server/test/service.ts'
import { type ExampleName, examples, type Language, type Place } from '../../src/docs/examples.ts'

/** Whoever copies code from the portal and pastes it, with a token filled in. */

const baseUrl = await freeAddress('localhost')
const service = await startService({ baseUrl })
const { token, records } = await populatedTenant(service)
const { contact, account } = records
const place: Place = { baseUrl, token, accountId: account.accountId, contactId: contact.id }

/** What each prints, in every language. */
const prints: Record<ExampleName, Partial<Record<Language, RegExp>> & { all?: RegExp }> = {
  firstCall: { curl: /^HTTP\/1.1 200/, fetch: /^200 /, client: /^2 \[/, all: new RegExp(contact.id) },
  onePage: { curl: /"page":2/, fetch: /page: 2/, client: /^page 2: 0 of 2$/m },
  walk: { all: new RegExp(contact.id) },
  resume: { curl: /"items":\[\{/, fetch: /items: \[/, client: /^[\w-]{36}$/m },
  changes: { curl: /"change":"written"/, fetch: /hasMore: /, client: /written/, all: new RegExp(contact.id) },
  keepCopy: { curl: /"hasMore":false/, fetch: /accounts [\w-]{36} written/, all: new RegExp(contact.id) },
  follow: { curl: /^event: change$/m, fetch: /^event: change$/m, all: new RegExp(contact.id) },
  search: { curl: /"total":[1-9]/, fetch: /total: [1-9]/, client: /@/ },
  searchInAccount: { curl: /"total":2/, fetch: /total: 2/, client: /^2 \[/ },
  createOnce: { curl: /^HTTP\/1.1 201/, fetch: /^201 /, client: /^[\w-]{36}$/m },
  updateMine: { curl: /^HTTP\/1.1 200/, fetch: /^200$/m, client: /title: 'Editor'/ },
  unchanged: { curl: /^HTTP\/1.1 304/, fetch: /^304$/m, client: /first 2\nsecond 2/ },
  problem: { curl: /pageSize/, fetch: /^400 /, client: /^not_found / },
}

/** They go on until somebody ends them. */
const endless: ReadonlySet<string> = new Set<ExampleName>(['follow'])

const folder = await mkdtemp(join(tmpdir(), 'masthead-examples-'))
after(() => rm(folder, { recursive: true, force: true }))
const source = new URL('../../../client/src/index.ts', import.meta.url).href

const run = async (language: Language, name: string, code: string): Promise<string> => {
  const file = join(folder, `${name}-${language}.${language === 'curl' ? 'sh' : 'mjs'}`)
  await writeFile(file, code.replace("'@masthead/client'", `'${source}'`))
  const [program, given] = language === 'curl' ? ['sh', ['-eu', file]] : [process.execPath, [file]]
  // What one leaves behind is nothing to the next.
  const cwd = await mkdtemp(join(folder, 'run-'))
  if (endless.has(name)) return runUntil(new RegExp(contact.id), program, given, cwd)
  const { stdout } = await promisify(execFile)(program, given, { cwd })
  return stdout
}

/** A shell does not end what it started, so both are in a group of their own. */
const runUntil = async (expected: RegExp, program: string, given: string[], cwd: string): Promise<string> => {
  const child = spawn(program, given, { cwd, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  for await (const part of child.stdout.setEncoding('utf8')) {
    printed += part
    if (expected.test(printed)) break
  }
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
  return printed
}

for (const name of Object.keys(examples) as ExampleName[]) {
  // its keys are the names
  test(`${name} does what the portal says, in every language`, async () => {
    const written = Object.entries(examples[name].code) as [Language, (place: Place) => string][] // languages are its keys
    for (const [language, code] of written) {
      const printed = await run(language, name, code(place))
      const { all = /./, [language]: expected = /./ } = prints[name]
      assert.match(printed, expected, `${name} by ${language}`)
      assert.match(printed, all, `${name} by ${language}`)
    }
  })
}

test('the walk passes every page, and each record comes once', async () => {
  const smaller = (code: string) => code.replace(/pageSize(=|: )200/, 'pageSize$11')
  for (const language of ['curl', 'fetch', 'client'] as const) {
    const code = examples.walk.code[language](place)
    const printed = await run(language, 'smaller-walk', smaller(code))
    assert.notEqual(smaller(code), code)
    const { body } = await service.call('GET', '/contacts', { token })
    for (const { id } of body.items) assert.equal(printed.split(id).length - 1, 1, language)
  }
})
