import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { basePath } from '@masthead/contract'
import { populatedTenant } from '../../../test/records/populated-tenant.ts'
import { startService } from '../../../test/service.ts'

const service = await startService()
const { token, records } = await populatedTenant(service)
const { hostname, port } = new URL(service.origin)

type Sent = { method?: string; path?: string; version?: string; headers?: Record<string, string> }
type Heard = { head: string; body: string }

const requestOf = ({ method = 'GET', path = '/contacts', version = '1.1', headers = {} }: Sent, id: string): string => {
  const all = { Host: 'masthead.test', Authorization: `Bearer ${token}`, 'X-Request-Id': id, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${basePath}${path} HTTP/${version}\r\n${lines.join('')}\r\n`
}

/** All over one connection, whose last answer ends it. */
const answersTo = async (...sent: Sent[]): Promise<Heard[]> => {
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(sent.map((one, index) => requestOf(one, `id-${index}`)).join(''))
  const heard = (await buffer(socket)).toString('latin1')
  const answers: Heard[] = []
  for (let from = 0; from < heard.length; ) {
    const end = heard.indexOf('\r\n\r\n', from) + 4
    const head = heard.slice(from, end)
    const hasBody = head.startsWith('HTTP/1.1 200') && sent[answers.length]?.method !== 'HEAD'
    from = end + (hasBody ? Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]) : 0)
    answers.push({ head, body: heard.slice(end, from) })
  }
  return answers
}

/** What is different each time has its place, but another value. */
const comparable = ({ head, body }: Heard): Heard => ({
  head: head
    .replace(/(?<=\r\nx-request-id: )id-\d/, '')
    .replace(/(?<=\r\nDate: )[A-Z][a-z]{2}, [\w: ]+ GMT/, '')
    .replaceAll(/[rt]=\d+/g, ''),
  body,
})

const closing = { headers: { Connection: 'close' } }

describe('an answer that is sent once more', () => {
  const { id } = records.contact
  for (const [what, sent] of Object.entries({
    'a list': {},
    'a list, compressed': { headers: { 'Accept-Encoding': 'gzip' } },
    'a record': { path: `/contacts/${id}` },
    'a list that is read anew': { headers: { 'Cache-Control': 'no-cache' } },
  })) {
    test(`has the head that it had at first: ${what}`, async () => {
      const [first] = await answersTo(sent, closing)
      const again = (await answersTo(sent, sent, sent, closing)).slice(0, 3)
      assert.ok(first)
      assert.match(first.head, /^HTTP\/1\.1 200 OK\r\n.*\r\nx-request-id: id-0\r\n.*\r\nConnection: keep-alive\r\n/s)
      assert.match(first.head, /\r\nratelimit: /i)
      for (const [index, answer] of again.entries()) {
        assert.ok(answer.head.includes(`\r\nx-request-id: id-${index}\r\n`))
        assert.deepEqual(comparable(answer), comparable(first))
        const date = Date.parse(/\r\nDate: (.*)\r\n/.exec(answer.head)?.[1] ?? '')
        assert.ok(Math.abs(Date.now() - date) < 60_000)
      }
    })
  }

  test('has no body, nor a word of one, for who has it', async () => {
    const [whole] = await answersTo({}, closing)
    const tag = /\r\netag: (.*)\r\n/i.exec(whole?.head ?? '')?.[1] ?? ''
    const known = { headers: { 'If-None-Match': tag } }
    const [first] = await answersTo(known, closing)
    const again = (await answersTo(known, known, known, closing)).slice(0, 3)
    assert.ok(first)
    assert.match(first.head, /^HTTP\/1\.1 304 Not Modified\r\n/)
    assert.doesNotMatch(first.head, /content-(length|type)/i)
    for (const answer of again) assert.deepEqual(comparable(answer), comparable(first))
  })

  test('tells who does not keep the connection that it ends', async () => {
    const [, last] = await answersTo({}, closing)
    assert.match(last?.head ?? '', /\r\nConnection: close\r\n/i)
    assert.doesNotMatch(last?.head ?? '', /keep-alive/i)
    const [old] = await answersTo({ version: '1.0' })
    assert.match(old?.head ?? '', /^HTTP\/1\.1 200 OK\r\n.*\r\nConnection: close\r\n/is)
    assert.equal(old?.body, last?.body)
  })

  test('has the same head without a body for HEAD', async () => {
    const [got] = await answersTo({}, closing)
    const [headed] = await answersTo({ method: 'HEAD' }, closing)
    assert.ok(got && headed)
    assert.deepEqual(comparable({ ...headed, body: got.body }), comparable(got))
  })
})
