import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sampleAccount, sampleContact } from '../../server/test/records/sample-records.ts'
import { startService } from '../../server/test/service.ts'
import { requireTool, toolsFolder } from '../../tools/tool.ts'

/** The types that `openapi-typescript` makes of the document, under `openapi-fetch`: as the client's README shows it. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const project = await mkdtemp(join(tmpdir(), 'masthead-types-'))
after(() => rm(project, { recursive: true, force: true }))
await symlink(join(toolsFolder, 'node_modules'), join(project, 'node_modules'))
await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }))

const readme = await readFile(join(root, 'client/README.md'), 'utf8')
const [, command = ''] = /^npx openapi-typescript (.*)$/m.exec(readme) ?? []
const [, example = ''] = /```ts\n(import createClient [\s\S]*?)```/.exec(readme) ?? []

const service = await startService()
const tenant = await service.newTenant()
await tenant.add('accounts', [sampleAccount('A1')])
const names = ['Ada', 'Grace', 'Mary', 'Hedy', 'Joan']
await tenant.add(
  'contacts',
  names.map((name) => sampleContact('A1', { name })),
)
const environment = { MASTHEAD_URL: service.origin, MASTHEAD_TOKEN: await tenant.serviceToken() }

/** What it prints; fails with all of it when it fails. */
const run = async (program: string, ...given: string[]): Promise<string> => {
  const options = { cwd: project, env: environment }
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...given], options).catch((error) => {
    throw new Error(`${program} failed: ${error.stdout}${error.stderr}`)
  })
  return stdout
}

// It needs the TypeScript of its own that stands beside it: the one of the house has no programming interface.
const generator = join(dirname(requireTool.resolve('openapi-typescript')), '../bin/cli.js')
await run(generator, ...command.replace('$MASTHEAD_URL', service.origin).split(' '))

const compile = async (programs: Record<string, string>): Promise<void> => {
  for (const [name, code] of Object.entries(programs)) await writeFile(join(project, name), code)
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit']
  const modern = ['--target', 'es2024', '--lib', 'es2024', '--module', 'nodenext', '--allowImportingTsExtensions']
  const node = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
  await run(join(root, 'node_modules/typescript/bin/tsc'), ...strict, ...modern, ...node, ...Object.keys(programs))
}

const walk = `
import type { components } from './masthead.d.ts'
const body: components['schemas']['ContactInput'] = { accountId: 'A1', firstName: 'Radia', phone: null }
const made = await masthead.POST('/contacts', { body, params: { header: { 'Idempotency-Key': 'once' } } })
if (made.error) throw new Error(made.error.code)
const names: (string | null)[] = []
for (let cursor: string | null | undefined; cursor !== null; ) {
  const query = { accountId: 'A1', pageSize: 2, ...(cursor && { cursor }) }
  const { data, error, response } = await masthead.GET('/contacts', { params: { query } })
  if (error) throw new Error(error.detail)
  names.push(...data.items.map((contact) => contact.name))
  const [, next] = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
  cursor = next ? new URL(next).searchParams.get('cursor') : null
}
const lost = await masthead.GET('/contacts/{contactId}', { params: { path: { contactId: 'nobody' } } })
console.log(JSON.stringify([names, made.data.id.length, lost.error?.code]))
`

describe('a client made by the tools of others', () => {
  test('creates a contact, walks over all, and is told of a problem', async () => {
    await compile({ 'example.ts': example + walk })
    const printed = await run('example.ts')
    assert.deepEqual(JSON.parse(printed), [[...names, 'Radia'], 36, 'not_found'])
  })

  test('is not compiled with a name that is wrong, a field that is missing, or a null that is forgotten', async () => {
    const mistakes = [
      ["'/contacts'", "'/contcats'", /'"\/contcats"' is not assignable/],
      ['contact.name', 'contact.nmae', /Property 'nmae' does not exist/],
      ['firstName:', 'fristName:', /'fristName' does not exist in type/],
      ["accountId: 'A1', firstName", 'firstName', /Property 'accountId' is missing/],
      ['(string | null)[]', 'string[]', /'string \| null' is not assignable/],
      ["{ contactId: 'nobody' }", '{}', /Property 'contactId' is missing/],
    ] as const
    const programs = mistakes.map(([right, wrong], index): [string, string] => {
      assert.ok(walk.includes(right))
      return [`wrong-${index}.ts`, example + walk.replace(right, wrong)]
    })
    const said = await compile(Object.fromEntries(programs)).then(
      () => '',
      (error) => error.message,
    )
    for (const [index, [, , told]] of mistakes.entries()) {
      const errors = said.split(/^(?=\S)/m).filter((one: string) => one.includes(`wrong-${index}.ts(`))
      assert.match(errors.join(''), told, said)
    }
  })
})
