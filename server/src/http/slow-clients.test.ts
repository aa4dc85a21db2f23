import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { basePath } from '@masthead/contract'
import { until } from '../../test/masthead-process.ts'
import { sampleAccount, sampleContact } from '../../test/sample-records.ts'
import { startService } from '../../test/service.ts'

/** Long enough for a busy machine to answer everybody else. */
const patienceMilliseconds = 2_000
const service = await startService({
  patienceMilliseconds,
  rateLimits: { token: 1_000_000, tenant: 1_000_000, atOnce: 50 },
})
const tenant = await service.newTenant()
const token = await tenant.serviceToken()
const { hostname, port } = new URL(service.origin)
const megabyte = 1024 * 1024

const open = async (): Promise<Socket> => {
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}
const openMany = (count: number): Promise<Socket[]> => Promise.all(Array.from({ length: count }, open))
const request = (method: string, path: string, ...headers: string[]): string =>
  [
    `${method} ${basePath}${path} HTTP/1.1`,
    'Host: masthead.test',
    `Authorization: Bearer ${token}`,
    ...headers,
    '',
    '',
  ].join('\r\n')
const heard = (socket: Socket): (() => string) => {
  let text = ''
  socket.on('data', (data) => (text += data))
  return () => text
}
const connections = (): Promise<number> =>
  new Promise((resolve, reject) =>
    service.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
/** Those of `fetch`, which it keeps, are let go first. */
const allGone = () => until('every connection has ended', async () => (await connections()) === 0)

const assertServesOthers = async () => {
  const begun = performance.now()
  const other = await tenant.serviceToken()
  const answer = await service.call('GET', '/accounts', { token: other, headers: { connection: 'close' } })
  assert.equal(answer.status, 200)
  assert.ok(performance.now() - begun < patienceMilliseconds, 'others wait')
}

before(async () => {
  await tenant.add('accounts', [sampleAccount('LARGE')])
  const large = Array.from({ length: 200 }, () => sampleContact('LARGE', { notes: 'n'.repeat(10_000) }))
  await tenant.add('contacts', large)
})

test('a request that comes byte by byte is told that it did not arrive in time', { timeout: 30_000 }, async () => {
  const body = JSON.stringify({ accountId: 'LARGE', name: 'Slow' }).padEnd(1_000)
  const whole = request('POST', '/contacts', 'Content-Type: application/json', `Content-Length: ${body.length}`)
  const slow = await openMany(60)
  const answers = slow.map(heard)
  const closed = slow.map((socket) => once(socket, 'close'))
  let over = false
  const dribble = async (socket: Socket, index: number) => {
    // Half of them are slow from the first byte on, the others in the body.
    if (index % 2 === 0) socket.write(whole)
    for (const byte of index % 2 === 0 ? body : whole) {
      if (over || socket.destroyed) return
      socket.write(byte)
      await delay(100)
    }
  }
  const dribbling = Promise.all(slow.map(dribble))
  await assertServesOthers()
  const begun = performance.now()
  await Promise.all(closed)
  assert.ok(performance.now() - begun < 3 * patienceMilliseconds)
  over = true
  await dribbling
  for (const answer of answers) {
    assert.match(answer(), /^HTTP\/1\.1 400 Bad Request\r\n/)
    assert.match(answer(), /"code":"malformed_request"/)
  }
  const { body: page } = await service.call('GET', '/contacts?search=slow', { token, headers: { connection: 'close' } })
  assert.equal(page.total, 0)
  await allGone()
})

test('callers that do not read cost no more than their answers, are let go, and may call again', {
  timeout: 30_000,
}, async () => {
  const rss = () => process.memoryUsage().rss
  const before = rss()
  const stalled = await openMany(70)
  for (const socket of stalled) {
    socket.pause()
    // Many on one connection, of which most are refused.
    const get = request('GET', '/contacts?pageSize=200')
    socket.write(get.repeat(19) + request('GET', '/contacts?pageSize=200', 'Connection: close'))
  }
  const call = () => service.call('GET', '/accounts', { token, headers: { connection: 'close' } })
  await until('the token has all that it may', async () => (await call()).status === 429)
  await assertServesOthers()
  const grown = (rss() - before) / megabyte
  assert.ok(grown < 400, `it takes ${Math.round(grown)} MB`)
  await until('the token may call again', async () => (await call()).status === 200)
  await allGone()
  for (const socket of stalled) socket.destroy()
})

test('callers that vanish in the middle of a request or an answer leave nothing behind', {
  timeout: 30_000,
}, async () => {
  const create = request('POST', '/contacts', 'Content-Type: application/json', 'Content-Length: 1000')
  const get = request('GET', '/contacts?pageSize=200')
  for (const [index, socket] of (await openMany(150)).entries()) {
    const texts = [create.slice(0, 60), `${create}{"accountId":"LARGE",`, get, get.repeat(3)]
    const vanish = () => (index % 2 === 0 ? socket.resetAndDestroy() : socket.destroy())
    socket.write(texts[index % 4] ?? '')
    // Some have begun to read.
    if (index % 8 > 5) socket.once('data', vanish)
    else setTimeout(vanish, index)
  }
  await allGone()
  const page = await service.call('GET', '/contacts', { token, headers: { connection: 'close' } })
  assert.equal(page.body.total, 200)
  const all = Array.from({ length: 50 }, () =>
    service.call('GET', '/accounts', { token, headers: { connection: 'close' } }),
  )
  for (const answer of await Promise.all(all)) assert.equal(answer.status, 200)
})

test('thousands that connect and say nothing, or nothing that is HTTP, are let go', { timeout: 30_000 }, async () => {
  const idle = await openMany(2_000)
  for (const socket of idle.slice(0, 500)) socket.write('\0\0\0\r\n\r\n')
  await assertServesOthers()
  await allGone()
  for (const socket of idle) socket.destroy()
})
