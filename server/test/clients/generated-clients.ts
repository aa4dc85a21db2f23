import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { allScopes } from '../../src/identity/people/roles.ts'
import { demoSlug } from '../../src/transfer/demo/demo.ts'
import { type Environment, runMasthead } from '../processes/masthead-process.ts'

/** Clients that a generator makes of the document in OpenAPI 3.0 call every operation of the service and decode every response. */
type Figures = { operations: string[]; decoded: number; values: number; walked: Record<string, [number, number]> }
type Language = {
  generator: string
  /** Packages of Debian, each with a file that it brings. */
  packages: Record<string, string>
  run: (generated: string, folder: string) => { program: string; args: string[]; environment: Record<string, string> }
}

/** The last release with the generator's jar inside of which both languages work; later ones download it. */
const generatorPackage = '@openapitools/openapi-generator-cli'
const generatorVersion = '1.0.15-5.0.0-beta'

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const python = '/usr/lib/python3/dist-packages'

/** The generators that became those of Python and Go in the release that followed. */
const languages: Record<string, Language> = {
  Python: {
    generator: 'python-experimental',
    packages: {
      'python3-urllib3': `${python}/urllib3`,
      'python3-dateutil': `${python}/dateutil`,
      'python3-six': `${python}/six.py`,
      'python3-certifi': `${python}/certifi`,
    },
    run: (generated) => ({
      program: '/usr/bin/python3',
      args: [file('generated-client.py')],
      environment: { PYTHONPATH: generated, PYTHONDONTWRITEBYTECODE: '1' },
    }),
  },
  Go: {
    generator: 'go-experimental',
    packages: { 'golang-go': '/usr/bin/go', 'golang-golang-x-oauth2-dev': '/usr/share/gocode/src/golang.org/x/oauth2' },
    run: (_generated, folder) => ({
      program: '/usr/bin/go',
      args: ['run', file('generated-client.go')],
      environment: {
        GO111MODULE: 'off',
        GOPATH: `${join(folder, 'go')}:/usr/share/gocode`,
        GOCACHE: join(folder, 'cache'),
      },
    }),
  },
}

/** What demo data has not: a choice that nobody knows yet, null wherever it may be, and numbers at the end of their range. */
const oddRecords: Record<string, string> = {
  publications: 'code,issueDecimals\nTRIAL,1.5\n',
  accounts: 'accountId,company,status\nTRIAL,,of a new kind\n',
  contacts: 'externalId,accountId\nkept,TRIAL\nerased,TRIAL\n',
  subscriptions:
    'subscriptionId,accountId,publicationId,status,copies,totalDue\nTRIAL,TRIAL,TRIAL,of a new kind,2147483648,-0.05\n',
  invoices:
    'externalId,accountId,status,totalDue,isOpen\n1,TRIAL,of a new kind,9999999999999.99,\n2,TRIAL,void,-9999999999999.99,0\n',
}

const run = promisify(execFile)
const say = (line: string): boolean => process.stdout.write(`${line}\n`)

/** Of the service at `api`, which has demo data. */
export const tryGeneratedClients = async (api: string, environment: Environment): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-generated-'))
  try {
    const jar = await installGenerator(folder)
    if (jar === undefined) return
    const token = await prepareTenant(api, folder, environment)
    const response = await fetch(`${api}/openapi-3.0.json`)
    const document = join(folder, 'openapi-3.0.json')
    const text = await response.text()
    await writeFile(document, text)
    const operations = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, name = '']) => name)
    assert.ok(operations.length > 0)
    for (const [name, language] of Object.entries(languages)) {
      const missing = missingOf(language.packages)
      if (missing.length > 0) say(`${name}: skipped, it needs packages of Debian: apt-get install ${missing.join(' ')}`)
      else await tryLanguage(name, language, { folder, jar, document, operations, token })
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Brings the odd records, and returns a token for everything. */
const prepareTenant = async (api: string, folder: string, environment: Environment): Promise<string> => {
  const masthead = async (...words: string[]) => {
    const { code, stdout, stderr } = await runMasthead([...words, '--tenant', demoSlug, '--json'], environment)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const paths = Object.keys(oddRecords).map((name) => join(folder, `${name}.csv`))
  await Promise.all(Object.values(oddRecords).map((text, index) => writeFile(paths[index] ?? '', text)))
  await masthead('import', ...paths, '--strict')
  const { token } = await masthead('token', 'create', '--service', 'trial', '--scopes', allScopes.join(','))
  const headers = { authorization: `Bearer ${token}` }
  const found = await fetch(`${api}/contacts?externalId=erased`, { headers })
  const { items } = (await found.json()) as { items: { id: string }[] }
  await masthead('contact', 'erase', items[0]?.id ?? '')
  return token
}

const missingOf = (packages: Record<string, string>): string[] =>
  Object.keys(packages).filter((name) => !existsSync(packages[name] ?? ''))

/** It is 23 MB, so it is no dependency of the workspace. */
const installGenerator = async (folder: string): Promise<string | undefined> => {
  if (!existsSync('/usr/bin/java')) {
    say('generated clients: skipped, the generator needs a package of Debian: apt-get install default-jre-headless')
    return undefined
  }
  const exact = `${generatorPackage}@${generatorVersion}`
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder, exact]
  try {
    await run('npm', args, { cwd: folder })
  } catch {
    say(`generated clients: skipped, npm could not install ${exact}`)
    return undefined
  }
  return join(folder, 'node_modules', generatorPackage, 'bin/openapi-generator.jar')
}

type Trial = { folder: string; jar: string; document: string; operations: string[]; token: string }

const tryLanguage = async (name: string, { generator, run: runOf }: Language, trial: Trial): Promise<void> => {
  const { folder, jar, document, operations, token } = trial
  const generated = join(folder, 'go/src/masthead')
  await rm(generated, { recursive: true, force: true })
  await mkdir(generated, { recursive: true })
  // The code of Python imports a package that Debian lacks, and does not use it.
  await writeFile(join(generated, 'nulltype.py'), '')
  const args = ['-i', document, '-g', generator, '-o', generated, '--package-name', 'masthead']
  await run('/usr/bin/java', ['-jar', jar, 'generate', ...args], { maxBuffer: 2 ** 26 })
  const { program, args: words, environment } = runOf(generated, folder)
  const { PATH = '', HOME = '' } = process.env
  const { stdout } = await run(program, words, { env: { PATH, HOME, TOKEN: token, ...environment } })
  const { operations: called, decoded, values, walked }: Figures = JSON.parse(stdout)
  const plain = (names: string[]): string[] => names.map((one) => one.replaceAll('_', '').toLowerCase()).sort()
  assert.deepEqual(plain(called), plain(operations), name)
  assert.ok(Object.values(walked).every(([records, pages]) => records > pages) && (walked.contacts?.[1] ?? 0) > 1, name)
  const walks = Object.entries(walked).map(([list, [records, pages]]) => `${records} ${list} (pages: ${pages})`)
  say(`${name}: ${called.length} operations, ${decoded} responses with ${values} values decoded; ${walks.join(', ')}`)
}
