import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { requireTool } from '../../tools/tool.ts'
import { openapi30 } from '../src/index.ts'

type Finding = { code: string | number; path: (string | number)[]; message: string }
type Linter = { setRuleset: (rules: object) => void; run: (document: object) => Promise<Finding[]> }
const { Spectral }: { Spectral: new () => Linter } = requireTool('@stoplight/spectral-core')
const { oas }: { oas: object } = requireTool('@stoplight/spectral-rulesets')

/** The document in the eyes of the linters that integrators use, in their strictest rules and without one warning. */
const committed = fileURLToPath(new URL('../src/openapi.json', import.meta.url))
const document = JSON.parse(await readFile(committed, 'utf8'))
const older = openapi30('https://api.gazette.test') as Record<string, unknown> // it is a document
/** One that says twice the same name, and lacks what every operation should say. */
const faulty = structuredClone(document)
faulty.paths['/contacts'].get.operationId = faulty.paths['/accounts'].get.operationId
delete faulty.paths['/contacts'].get.description

describe('Redocly', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-lint-'))
  after(() => rm(folder, { recursive: true, force: true }))
  const redocly = requireTool.resolve('@redocly/cli/bin/cli.js')

  const lint = (path: string) =>
    new Promise<{ failed: boolean; said: string }>((resolve) => {
      const given = [redocly, 'lint', path, '--extends', 'recommended-strict', '--format', 'stylish']
      // It would tell its makers of its use.
      const options = { cwd: folder, env: { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } }
      execFile(process.execPath, given, options, (error, stdout, stderr) =>
        resolve({ failed: error !== null, said: stdout + stderr }),
      )
    })

  test('finds nothing in the document', async () => {
    const { failed, said } = await lint(committed)
    assert.ok(!failed && !/warning|error/i.test(said), said)
  })

  test('finds nothing in the document of version 3.0', async () => {
    const path = join(folder, 'older.json')
    await writeFile(path, JSON.stringify(older))
    const { failed, said } = await lint(path)
    assert.ok(!failed && !/warning|error/i.test(said), said)
  })

  test('finds what is wrong in another', async () => {
    const path = join(folder, 'faulty.json')
    await writeFile(path, JSON.stringify(faulty))
    const { failed, said } = await lint(path)
    assert.ok(failed && /operation-operationId-unique/.test(said), said)
  })
})

describe('Spectral', () => {
  const linter = new Spectral()
  linter.setRuleset({
    extends: [[oas, 'all']],
    rules: {
      // Every publisher runs a service of its own: whom to ask is not for the document to say.
      'info-contact': 'off',
      // OpenAPI 3.1 has the identifier instead, and allows only one of the two.
      'license-url': 'off',
      // They stand in the order of the description.
      'openapi-tags-alphabetical': 'off',
    },
  })
  const lint = async (given: Record<string, unknown>): Promise<string[]> =>
    (await linter.run(given))
      // OpenAPI 3.1 lets the schemes of other tokens name the roles that a call needs, and lists them nowhere.
      .filter(({ code, path }) => code !== 'oas3-operation-security-defined' || path.includes('oauth2'))
      .map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`)

  test('finds nothing in the document', async () => {
    assert.deepEqual(await lint(document), [])
    assert.deepEqual(await lint(older), [])
  })

  test('finds what is wrong in another', async () => {
    const scoped = structuredClone(faulty)
    scoped.paths['/contacts'].get.security[2].oauth2 = ['service-api/contacts:burn']
    const found = (await lint(scoped)).map((one) => one.split(' ', 1)[0])
    assert.deepEqual(found.sort(), [
      'oas3-operation-security-defined',
      'operation-description',
      'operation-operationId-unique',
    ])
  })
})
