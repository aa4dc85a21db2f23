import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { injectRequest } from '../../test/requests/injected-request.ts'
import { baseUrl, startService } from '../../test/service.ts'
import { addConsole } from './console.ts'
import { atOwnServer } from './sign-in-place.ts'

const service = await startService()
const get = (path: string, headers: Record<string, string> = {}) => service.call('GET', `/${path}`, { headers })
const built = new URL('../../../console/dist/', import.meta.url)
const page = await readFile(new URL('index.html', built), 'utf8')
const paths: string[] = JSON.parse(await readFile(new URL('paths.json', built), 'utf8'))
const [script = ''] = /\/assets\/index-[\w-]+\.js/.exec(page) ?? []

describe('the console', () => {
  test('is at each of its paths, and is asked for again each time', async () => {
    assert.ok(paths.includes('/accounts/$id') && paths.includes('/t/$tenant/accounts/$id'))
    for (const path of paths) {
      const { status, headers, text } = await get(`${path.replace('$tenant', 'acme').replace('$id', 'any%20id')}?a=b`)
      assert.deepEqual([path, status, headers.get('cache-control'), text === page], [path, 200, 'no-cache', true])
      assert.match(headers.get('content-type') ?? '', /^text\/html/)
    }
  })

  test('is nowhere else', async () => {
    for (const path of [
      '/nothing',
      '/accounts/1/2',
      '/t',
      '/t/acme/nothing',
      '/t/acme/docs',
      '/accountsx',
      '/assets/',
      '/assets/nothing.js',
      '/assets/..%2findex.html',
      `/assets/${'a'.repeat(300)}.js`,
    ]) {
      const { status, body } = await get(path)
      assert.deepEqual([path, status, body?.code], [path, 404, 'not_found'])
    }
    const mistyped = await service.call('GET', '//acounts', { headers: { accept: 'text/html,*/*' } })
    assert.equal(mistyped.status, 404)
    assert.match(mistyped.text, /<!doctype html>/i)
    const inApi = await service.call('GET', '/acounts', { headers: { accept: 'text/html,*/*' } })
    assert.equal(inApi.body.status, 401)
    assert.equal((await service.call('POST', '//accounts')).status, 404)
    assert.equal((await service.call('POST', '//')).status, 405)
  })

  test('may load scripts and styles from its own address only, and be framed by nobody', async () => {
    const policy = (await get('/')).headers.get('content-security-policy') ?? ''
    const directives = new Map(policy.split('; ').map((one) => [one.split(' ')[0], one.split(' ').slice(1).join(' ')]))
    assert.equal(directives.get('default-src'), "'none'")
    for (const name of ['script-src', 'style-src', 'frame-src', 'form-action'])
      assert.equal(directives.get(name), "'self'")
    assert.equal(directives.get('connect-src'), `'self' ${baseUrl}`)
    for (const name of ['frame-ancestors', 'base-uri']) assert.equal(directives.get(name), "'none'")
    assert.doesNotMatch(policy, /unsafe/)
  })

  test('says when a copy is still good', async () => {
    const { headers } = await get('/')
    const again = await get('/', { 'if-none-match': headers.get('etag') ?? '' })
    assert.deepEqual([again.status, again.text], [304, ''])
  })

  test('loads files that never change under their names', async () => {
    const { status, headers } = await get(script)
    assert.equal(status, 200)
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.match(headers.get('content-type') ?? '', /^text\/javascript/)
  })

  test('comes compressed as the browser accepts it', async () => {
    const plain = await readFile(new URL(`.${script}`, built))
    for (const [encoding, decompress] of Object.entries({
      br: brotliDecompressSync,
      gzip: gunzipSync,
      zstd: zstdDecompressSync,
    })) {
      const { headers, rawPayload } = await injectRequest(service.app, {
        url: script,
        headers: { 'accept-encoding': encoding },
      })
      assert.deepEqual([headers['content-encoding'], headers.vary], [encoding, 'accept-encoding'])
      assert.ok(decompress(rawPayload).equals(plain), encoding)
    }
    const { headers, rawPayload } = await injectRequest(service.app, { url: script })
    assert.deepEqual([headers['content-encoding'], rawPayload.equals(plain)], [undefined, true])
  })

  test('says how to build it where it is not built', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'masthead-test-'))
    after(() => rm(empty, { recursive: true }))
    const { app, call } = await startService({ connectionString: service.connectionString })
    addConsole(app.pages, atOwnServer(baseUrl), pathToFileURL(`${empty}/`))
    const { status, text } = await call('GET', '//')
    assert.equal(status, 503)
    assert.match(text, /npm run build/)
    assert.equal((await call('GET', '//accounts')).status, 404)
  })
})
