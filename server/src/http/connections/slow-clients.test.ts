import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { basePath } from '@masthead/contract'
import { until } from '../../../test/processes/masthead-process.ts'
import { sampleAccount, sampleContact } from '../../../test/records/sample-records.ts'
import { baseUrl, generous, openPort, secret, startService } from '../../../test/service.ts'
import { type App, buildApp } from '../../app.ts'

/** Long enough for a busy machine to answer everybody else. */
const timeoutMilliseconds = 3_000
const service = await startService({
  timeoutMilliseconds,
  rateLimits: { ...generous, atOnce: 50 },
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
  socket.on('data', (data) => (text += data)).resume()
  return () => text
}
const connectionsOf = ({ server }: App): Promise<number> =>
  new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))))
const allGone = () => until('every connection has ended', async () => (await connectionsOf(service.app)) === 0)

const assertServesOthers = async () => {
  const other = await tenant.serviceToken()
  const begun = performance.now()
  const answer = await service.call('GET', '/accounts', { token: other, headers: { connection: 'close' } })
  assert.equal(answer.status, 200)
  assert.ok(performance.now() - begun < timeoutMilliseconds, 'others wait')
}

before(async () => {
  await tenant.add('accounts', [sampleAccount('LARGE')])
  const large = Array.from({ length: 200 }, () => sampleContact('LARGE', { notes: 'n'.repeat(10_000) }))
  await tenant.add('contacts', large)
  // The first read of a process takes long on a busy machine, whoever else calls.
  await service.call('GET', '/accounts', { token })
})

test('a request that comes byte by byte is told that it did not arrive in time', async () => {
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
  await Promise.all(closed)
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

test('callers that do not read cost no more than their answers, are let go, and may call again', async () => {
  const rss = () => process.memoryUsage().rss
  const before = rss()
  // More than the systems on both sides hold for them.
  const [callers, requests] = [3, 5]
  const stalled = await openMany(callers)
  const closed = stalled.map((socket) => once(socket, 'close'))
  for (const socket of stalled) {
    const get = request('GET', '/contacts?pageSize=200')
    socket.pause().write(get.repeat(requests - 1) + request('GET', '/contacts?pageSize=200', 'Connection: close'))
  }
  await assertServesOthers()
  await allGone()
  const grown = (rss() - before) / megabyte
  assert.ok(grown < 400, `it takes ${Math.round(grown)} MB`)
  const answers = stalled.map(heard)
  await Promise.all(closed)
  for (const answer of answers) assert.ok(answer().length < requests * 2 * megabyte, 'it was answered to the end')
  await assertMayCall()
})

test('callers that do not read, but go on to send what cannot be read, are let go and cost no listeners', async (context) => {
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  const stalled = await openMany(3)
  const sending = setInterval(() => {
    for (const socket of stalled) socket.write('\0')
  }, 50)
  context.after(() => {
    clearInterval(sending)
    process.off('warning', note)
  })
  for (const socket of stalled) socket.pause().write(request('GET', '/contacts?pageSize=200').repeat(5))
  await assertServesOthers()
  await allGone()
  assert.deepEqual(warnings, [])
  await assertMayCall()
})

/** As many at once as ever. */
const assertMayCall = () =>
  until('fifty may be in flight again', async () => {
    const all = Array.from({ length: 50 }, () =>
      service.call('GET', '/accounts', { token, headers: { connection: 'close' } }),
    )
    return (await Promise.all(all)).every(({ status }) => status === 200)
  })

test('callers that vanish in the middle of a request or an answer leave nothing behind', async () => {
  const create = request('POST', '/contacts', 'Content-Type: application/json', 'Content-Length: 1000')
  const get = request('GET', '/contacts?pageSize=20')
  for (const [index, socket] of (await openMany(150)).entries()) {
    const texts = [create.slice(0, 60), `${create}{"accountId":"LARGE",`, get, get.repeat(3)]
    const vanish = () => (index % 2 === 0 ? socket.resetAndDestroy() : socket.destroy())
    socket.write(texts[index % 4] ?? '')
    // Some have begun to read.
    if (index % 8 > 5) socket.once('data', vanish)
    else setTimeout(vanish, index)
  }
  await allGone()
  await assertMayCall()
  const { body } = await service.call('GET', '/contacts', { token, headers: { connection: 'close' } })
  assert.equal(body.total, 200)
})

test('callers that send many requests at once and vanish give back all that they took', async () => {
  const get = request('GET', '/accounts')
  for (let round = 0; round < 10; round++) {
    const socket = await open()
    socket.write(get.repeat(20))
    // As soon as the first is answered, and before.
    if (round % 2 === 0) await once(socket, 'readable')
    socket.resetAndDestroy()
  }
  await allGone()
  await assertMayCall()
})

test('thousands that connect and say nothing, or nothing that is HTTP, are let go', async () => {
  const idle = await openMany(2_000)
  for (const socket of idle.slice(0, 500)) socket.write('\0\0\0\r\n\r\n')
  await assertServesOthers()
  await allGone()
  for (const socket of idle) socket.destroy()
})

/** A machine of its own on a network of its own, when we may make one; says why not otherwise. */
const otherMachine = () => {
  const name = `masthead${process.pid}`
  const link = `mh${process.pid}`
  // Of the network that RFC 2544 keeps for tests, a piece for each process.
  const network = `198.18.${(process.pid >> 6) & 255}`
  const host = (process.pid & 63) * 4
  const ip = (...words: string[]) => execFileSync('ip', words, { stdio: 'pipe' })
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return { reason: 'only root can make a network' }
  try {
    ip('netns', 'add', name)
    ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
  } catch (error) {
    return { reason: `no network can be made here: ${error instanceof Error ? error.message : error}` }
  }
  after(() => {
    ip('link', 'delete', link)
    ip('netns', 'delete', name)
  })
  ip('address', 'add', `${network}.${host + 1}/30`, 'dev', link)
  ip('link', 'set', link, 'up')
  ip('-n', name, 'address', 'add', `${network}.${host + 2}/30`, 'dev', 'eth0')
  ip('-n', name, 'link', 'set', 'eth0', 'up')
  return {
    name,
    address: `${network}.${host + 1}`,
    reason: null,
    /** Nothing that is sent to it or by it arrives any more, and nobody is told. */
    vanish: () => ip('-n', name, 'address', 'flush', 'dev', 'eth0'),
  }
}

const machine = otherMachine()

test('a caller whose machine vanishes is let go', {
  skip: machine.reason ?? false,
}, async (context) => {
  if (machine.reason !== null) return
  const { database } = service
  const delegation = { issuer: baseUrl, secret }
  const app = await buildApp({ database, baseUrl, delegation, rateLimits: null, timeoutMilliseconds })
  context.after(() => app.close())
  const url = new URL(await openPort(app, { host: machine.address }))
  const half = request('POST', '/contacts', 'Content-Type: application/json', 'Content-Length: 1000')
  const texts = ['', half.slice(0, 60), `${half}{`, request('GET', '/contacts?pageSize=200')]
  const program = `
    const { connect } = require('node:net')
    const texts = ${JSON.stringify(texts)}
    let connected = 0
    for (const text of texts) {
      const socket = connect(${url.port}, '${machine.address}', () => {
        socket.write(text, () => ++connected === texts.length && console.log('sent'))
      })
    }`
  const words = ['netns', 'exec', machine.name, process.execPath, '-e', program]
  const caller = spawn('ip', words, { stdio: ['ignore', 'pipe', 'inherit'] })
  context.after(() => caller.kill('SIGKILL'))
  await once(caller.stdout, 'data')
  const count = () => connectionsOf(app)
  await until('all have connected', async () => (await count()) === texts.length)
  machine.vanish()
  await until('every connection has ended', async () => (await count()) === 0)
})
