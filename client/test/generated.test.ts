import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { basePath, operations } from '@masthead/contract'
import { startService } from '../../server/test/service.ts'
import { generatedFiles } from '../generator.ts'
import { isProblem, Masthead, type SentRequest } from '../src/index.ts'

test('the generated files equal a fresh generation', async () => {
  for (const [path, fresh] of Object.entries(generatedFiles())) {
    const committed = await readFile(new URL(path.replace('./', '../'), import.meta.url), 'utf8')
    assert.equal(committed, fresh, `run \`npm run generate\`: ${path} is not what the contract says`)
  }
})

test('every operation of the contract is sent by its method, to its path', async () => {
  const service = await startService()
  const sent: SentRequest[] = []
  const masthead = new Masthead({
    baseUrl: service.origin,
    token: await (await service.newTenant()).serviceToken(),
    hooks: { request: (request) => sent.push(request) },
  })
  const { changes, ...resources } = masthead
  assert.deepEqual(await Array.fromAsync(changes.walk()), [])
  for (const methods of Object.values<object>(resources)) {
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(methods))) {
      if (name === 'constructor') continue
      const method: (...given: unknown[]) => PromiseLike<unknown> = Reflect.get(methods, name)
      const given = { list: [{}], create: [{}], update: ['x', {}], download: ['x', 'x'] }[name] ?? ['x']
      const begun = method.apply(methods, given)
      await (name === 'download' ? Array.fromAsync(Object(begun)) : begun).then(
        () => {},
        (error: unknown) => assert.ok(isProblem(error, 'not_found', 'invalid_body'), String(error)),
      )
    }
  }
  const told = sent.map(({ operation, method, url }) => `${operation} ${method} ${new URL(url).pathname}`)
  const promised = operations.map(({ name, operation: { method, path } }) => {
    return `${name} ${method} ${basePath}${path.replaceAll(/\{\w+\}/g, 'x')}`
  })
  assert.deepEqual(told.sort(), promised.sort())
})
