import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { basePath } from '@masthead/contract'
import { sampleAccount, sampleContact } from '../records/sample-records.ts'
import { assertDocumented } from '../requests/contract-responses.ts'
import { misfits } from '../requests/judged-responses.ts'
import { type CallResponse, startService } from '../service.ts'

/** The tests of what holds all other answers against the document: it takes true ones, and nothing that differs. */
const service = await startService()
const tenant = await service.newTenant()
const token = await tenant.serviceToken()
await tenant.add('accounts', [sampleAccount('A1')])
const [record] = await tenant.add('contacts', [sampleContact('A1')])
const path = `/contacts/${record?.id}`
const found = await service.call('GET', path, { token })
const lost = await service.call('GET', '/contacts/nobody', { token })
const refused = await service.call('GET', path)

const judged = (method: string, at: string, answer: CallResponse) =>
  assertDocumented(method, `http://masthead.test${basePath}${at}`, answer)

/** The same answer with other headers; null takes one away. */
const withHeader = (answer: CallResponse, name: string, value: string | null): CallResponse => {
  const headers = new Headers(answer.headers)
  if (value === null) headers.delete(name)
  else headers.set(name, value)
  return { ...answer, headers }
}

test('true answers pass', () => {
  judged('GET', path, found)
  judged('GET', '/contacts/nobody', lost)
  judged('GET', path, refused)
  judged('HEAD', path, { ...found, body: null, text: '' })
})

describe('an answer does not pass', () => {
  const { phone: _phone, ...incomplete } = found.body
  const wrong: Record<string, [answer: CallResponse, told: RegExp, method?: string, path?: string]> = {
    'with a status that is not promised': [{ ...found, status: 202 }, /GetContactById does not promise 202/],
    'with one property more': [{ ...found, body: { ...found.body, fax: '1' } }, /NOT have additional properties/],
    'with one property less': [{ ...found, body: incomplete }, /must have required property 'phone'/],
    'with a property of another type': [{ ...found, body: { ...found.body, name: 1 } }, /name must be string,null/],
    'with a null that is not promised': [{ ...found, body: { ...found.body, id: null } }, /id must be string/],
    'with a value in another format': [{ ...found, body: { ...found.body, id: '1' } }, /id must match format "uuid"/],
    'without its body': [{ ...found, body: null, text: '' }, /must be object/],
    'with a body to HEAD': [found, /promises no body/, 'HEAD'],
    'in another content type': [withHeader(found, 'content-type', 'text/json'), /promises no text\/json/],
    'without a header that is promised': [withHeader(found, 'etag', null), /lacks the header ETag/],
    'with a header that is not promised': [withHeader(found, 'x-powered-by', 'x'), /promises no header x-powered-by/],
    'with a header of another shape': [
      withHeader(found, 'x-request-id', 'a b'),
      /X-Request-Id: data must match pattern/,
    ],
    'with a problem that is incomplete': [
      { ...lost, body: { code: 'not_found' } },
      /must have required property 'type'/,
    ],
    'with a problem of no known code': [{ ...lost, body: { ...lost.body, code: 'x' } }, /code must be equal to one of/],
    'with a refusal that does not say how to get in': [
      withHeader(refused, 'www-authenticate', null),
      /GetContactById with 401 lacks the header WWW-Authenticate/,
    ],
    'where no operation is': [found, /the document has no GET \/people, but it is answered with 200/, 'GET', '/people'],
    'as a refusal without a problem where no operation is': [
      { ...lost, body: {} },
      /must have required property/,
      'PUT',
      '/contacts',
    ],
  }
  for (const [what, [answer, told, method = 'GET', at = path]] of Object.entries(wrong))
    test(what, () => assert.throws(() => judged(method, at, answer), told))
})

test('whoever gets such an answer by fetch fails, and so does the file', async () => {
  const impostor = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': '1' }).end('{"items":[]}')
  }).listen(0, '127.0.0.1')
  await once(impostor, 'listening')
  after(() => impostor.close())
  const { port } = impostor.address() as AddressInfo // it listens on a port
  const address = `http://127.0.0.1:${port}${basePath}/contacts`
  await assert.rejects(fetch(address), /GetContacts with 200 lacks the header/)
  await assert.rejects(fetch(new Request(address, { method: 'POST' })), /CreateContactRecord does not promise 200/)
  // Both would make this file fail at its end.
  assert.equal(misfits.splice(0).length, 2)
  assert.equal((await fetch(`http://127.0.0.1:${port}/elsewhere`)).status, 200)
})
