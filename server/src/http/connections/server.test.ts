import assert from 'node:assert/strict'
import dns from 'node:dns/promises'
import { syncBuiltinESMExports } from 'node:module'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { until } from '../../../test/processes/masthead-process.ts'
import { sendRaw } from '../../../test/requests/raw-connection.ts'
import { baseUrl, callAt, generous, secret, startService } from '../../../test/service.ts'
import { buildApp } from '../../app.ts'
import { listen } from './server.ts'

const { database, newTenant } = await startService()
const addresses = ['127.0.0.1', '::1']
const own = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? [])

test('every address of localhost is served alike, until the service stops', {
  skip: addresses.every((address) => own.includes(address)) ? false : 'this machine has no ::1',
}, async (context) => {
  context.mock.method(dns, 'lookup', async () => addresses.map((address) => ({ address })))
  syncBuiltinESMExports()
  context.after(() => {
    context.mock.restoreAll()
    syncBuiltinESMExports()
  })
  const app = await buildApp({ database, baseUrl, delegation: { issuer: baseUrl, secret }, rateLimits: generous })
  context.after(() => app.close())
  await listen(app.server, { host: 'localhost', port: 0, reusePort: false })
  const address = app.server.address()
  assert.ok(address !== null && typeof address === 'object')
  const token = await (await newTenant()).serviceToken()
  const origins = ['127.0.0.1', '[::1]'].map((host) => `http://${host}:${address.port}`)
  for (const origin of origins) {
    assert.equal((await callAt(origin, 'GET', '/contacts', { token })).status, 200)
    assert.equal((await callAt(origin, 'GET', '//healthz')).status, 200)
  }
  const [, host = ''] = origins
  assert.equal((await sendRaw(host, 'nonsense\r\n\r\n')).status, 400)
  const expecting = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: wonders\r\n\r\n'
  assert.equal((await sendRaw(host, expecting)).status, 200)
  await app.close()
  for (const origin of origins)
    await until(`${origin} is closed`, () =>
      callAt(origin, 'GET', '//healthz').then(
        () => false,
        () => true,
      ),
    )
})
