import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { runMasthead, startServing, until } from '../processes/masthead-process.ts'
import { readMetrics, sumOf } from '../processes/served-metrics.ts'
import { found, sendCanaries } from '../records/canaries.ts'
import { baseUrl, freeAddress, secret, startService } from '../service.ts'

const service = await startService()
const environment = { DATABASE_URL: service.connectionString, MASTHEAD_SECRET: secret, BASE_URL: baseUrl }

type Line = Record<string, unknown> & { err?: { code: string; message: string } }

const start = async (more: Record<string, string>) => {
  const url = await freeAddress('localhost')
  const serving = await startServing(['--port', new URL(url).port], { ...environment, ...more })
  after(() => serving.kill())
  const lines = (): Line[] =>
    serving.said.stderr
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  return { url, serving, lines }
}

/** Standard error of a command, of which nobody reads until they listen to the other end. */
const stalledPipe = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'masthead-pipe-'))
  const path = join(folder, 'pipe')
  await promisify(execFile)('mkfifo', [path])
  const end = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const pipe = openSync(path, constants.O_WRONLY)
  await rm(folder, { recursive: true })
  const reader = new Socket({ fd: end, readable: true, writable: false })
  after(() => reader.destroy())
  return { pipe, reader }
}

/** Sends many requests over one connection without waiting for a response, and returns the statuses of all. */
const sendPipelined = async (url: string, count: number): Promise<string[]> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  const head = `GET /nothing HTTP/1.1\r\nhost: ${hostname}\r\nx-request-id: ${'x'.repeat(120)}`
  const requests = Array.from({ length: count }, (_none, number) => `${head}${number}\r\n`)
  socket.write(`${requests.join('\r\n')}connection: close\r\n\r\n`)
  return [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = '']) => status)
}

describe('the log', () => {
  test('holds nothing that a caller sent or was given, and finds what failed by its request id', async () => {
    const { url, serving, lines } = await start({ LOG_LEVEL: 'debug', WORKERS: '2' })
    const { secrets, failures } = await sendCanaries(service, url)
    const { code, stdout, stderr } = await serving.stop()
    assert.equal(code, 0)
    assert.deepEqual(found(secrets, stdout + stderr), [])
    assert.deepEqual(
      failures.map(({ status }) => status),
      [500, 500, 500, 500, 503, 503, 500],
    )
    for (const { requestId, status } of failures) {
      const told = lines().filter(({ reqId }) => reqId === requestId)
      assert.deepEqual(
        told.map(({ level }) => level),
        [status === 500 ? 'error' : 'warn', 'info'],
      )
      assert.ok(told[0]?.err?.message)
    }
    const reasons = lines().flatMap(({ err }) => (err ? [`${err.code} ${err.message}`] : []))
    assert.ok(reasons.includes('P0001 the database refused a value'))
    assert.ok(reasons.includes('22P02 the database refused a value'))
    assert.ok(reasons.includes('42P01 relation "invoices" does not exist'))
  })

  test('has a line for each request, with who called and how long it took', async () => {
    const { url, serving, lines } = await start({})
    const tenant = await service.newTenant()
    const token = await tenant.serviceToken()
    const headers = { authorization: `Bearer ${token}`, 'x-request-id': 'one' }
    await fetch(`${url}/customer-api/v1/contacts/nobody`, { headers })
    await fetch(`${url}/readyz`, { headers: { 'x-request-id': 'two' } })
    await fetch(`${url}/nowhere`, { headers: { 'x-request-id': 'three' } })
    await until('they are logged', () => lines().length >= 2)
    const { pid, time, milliseconds, token: id, ...line }: Line = lines()[0] ?? {}
    assert.deepEqual(line, {
      level: 'info',
      reqId: 'one',
      operation: 'GetContactById',
      method: 'GET',
      path: '/customer-api/v1/contacts/:contactId',
      status: 404,
      tenant: tenant.id,
      principal: 'service',
      msg: 'answered',
    })
    assert.equal(pid, serving.pid)
    assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000)
    assert.ok(Number(milliseconds) > 0)
    const { rows } = await service.owner.query('select id from access_tokens where tenant_id = $1', [tenant.id])
    assert.equal(id, rows[0].id)
    await serving.stop()
    assert.deepEqual(
      lines().map(({ reqId, operation }) => [reqId, operation]),
      [
        ['one', 'GetContactById'],
        ['three', 'other'],
      ],
    )
  })

  for (const workers of ['1', '2']) {
    test(`that nobody reads stops nobody, and tells then what is missing, with WORKERS=${workers}`, async () => {
      const { pipe, reader } = await stalledPipe()
      const url = await freeAddress('localhost')
      const more = { WORKERS: workers, METRICS_PORT: '0', RATE_LIMIT: 'off' }
      const serving = await startServing(['--port', new URL(url).port], { ...environment, ...more }, pipe)
      after(() => serving.kill())
      closeSync(pipe)
      // Each leaves a line of some 300 bytes: more than fill the pipe, and the MiB that waits for it in each thread.
      const requests = 4_500 * Number(workers)
      const sendAll = async (count: number) => {
        const answers = await Promise.all(Array.from({ length: 20 }, () => sendPipelined(url, count / 20)))
        assert.deepEqual(answers.flat(), Array(count).fill('404'))
      }
      await sendAll(requests)
      const dropped = async () =>
        sumOf(await readMetrics(serving.announced.metrics ?? ''), 'masthead_log_lines_dropped_total')
      assert.ok((await dropped()) > 0)

      const lines: Line[] = []
      let rest = ''
      reader.setEncoding('utf8').on('data', (data) => {
        const read = (rest + data).split('\n')
        rest = read.pop() ?? ''
        lines.push(...read.map((line) => JSON.parse(line)))
      })
      const missing = () => lines.reduce((sum, line) => sum + Number(line.dropped ?? 0), 0)
      await until('every line is there or counted', () => {
        const answered = lines.filter(({ msg }) => msg === 'answered').length
        // A line of something else may be among those that are missing.
        return answered + missing() >= requests
      })
      assert.equal(await dropped(), missing())

      reader.pause()
      await sendAll(1_000)
      assert.equal((await serving.stop()).code, 0)
    })
  }

  test('whose reader has gone counts each missing line once', async () => {
    const { pipe, reader } = await stalledPipe()
    const url = await freeAddress('localhost')
    const serving = await startServing(['--port', new URL(url).port], { ...environment, METRICS_PORT: '0' }, pipe)
    after(() => serving.kill())
    closeSync(pipe)
    await once(reader.destroy(), 'close')
    const requests = 50
    for (let sent = 0; sent < requests; sent++) await (await fetch(`${url}/nothing`)).text()
    let dropped = 0
    // The last lines wait for a moment before they are tried.
    await until('each line is counted', async () => {
      dropped = sumOf(await readMetrics(serving.announced.metrics ?? ''), 'masthead_log_lines_dropped_total')
      return dropped >= requests
    })
    assert.equal(dropped, requests)
    assert.equal((await serving.stop()).code, 0)
  })

  test('says nothing of requests on a terminal', async () => {
    const { url, serving } = await start({
      NODE_OPTIONS: `--import=${new URL('../processes/terminal.ts', import.meta.url)}`,
    })
    await fetch(`${url}/docs/reference/frame`)
    assert.equal((await serving.stop()).stderr, '')
  })

  test('has levels', async () => {
    const { code, stderr } = await runMasthead(['serve'], { ...environment, LOG_LEVEL: 'loud' })
    const levels = 'debug, info, warn, error, silent'
    assert.deepEqual([code, stderr], [1, `masthead: LOG_LEVEL must be one of ${levels}, not "loud"\n`])
  })
})
