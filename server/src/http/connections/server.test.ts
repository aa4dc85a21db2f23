import assert from 'node:assert/strict'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { until } from '../../../test/processes/masthead-process.ts'
import { sendRaw } from '../../../test/requests/raw-connection.ts'
import { baseUrl, callAt, generous, openPort, secret, startService } from '../../../test/service.ts'
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

test('a stop sends to its end what a slow caller still reads, and waits for nobody who asks for nothing', async (context) => {
  const app = await buildApp({ database, baseUrl, delegation: { issuer: baseUrl, secret }, rateLimits: generous })
  context.after(() => app.close())
  const { port } = new URL(await openPort(app))
  const open = async (text: string) => {
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(text)
    return socket
  }
  const [silent, half] = await Promise.all([open(''), open('GET /docs/reference/frame HTT')])
  const slow = await open('GET /docs/reference/frame/scalar.js HTTP/1.1\r\nHost: masthead.test\r\n\r\n')
  await once(slow, 'readable')
  // The time after which a stop cuts everything off never comes.
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const closed = app.close()
  const received = await buffer(slow)
  const [head = ''] = received.toString('latin1').split('\r\n\r\n', 1)
  const [, length = ''] = /content-length: (\d+)/i.exec(head) ?? []
  assert.equal(received.length, head.length + 4 + Number(length))
  await closed
  for (const socket of [silent, half]) if (!socket.closed) await once(socket.resume(), 'close')
})
