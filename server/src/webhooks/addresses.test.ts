import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import { isPublicAddress, lookUpPublic, readEndpointUrl, resolver, shownUrl } from './addresses.ts'

/** A name server that knows these hosts, and says nothing to a question about any other. */
const startNameServer = async (hosts: Record<string, readonly string[]>): Promise<string> => {
  const server = createSocket('udp4')
  server.on('message', (question, { port }) => {
    const answer = answerTo(question, hosts)
    if (answer) server.send(answer, port, '127.0.0.1')
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return `127.0.0.1:${server.address().port}`
}

/** RFC 1035 §4.1: one question, and an address of IPv4 for each answer. */
const answerTo = (question: Buffer, hosts: Record<string, readonly string[]>): Buffer | null => {
  const labels: string[] = []
  let at = 12
  for (let length = question.readUInt8(at); length > 0; length = question.readUInt8(at)) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const known = hosts[labels.join('.')]
  if (!known) return null
  const addresses = question.readUInt16BE(at + 1) === 1 ? known : []
  const header = Buffer.from(question.subarray(0, 12))
  for (const [index, value] of [0x8180, 1, addresses.length, 0, 0].entries()) header.writeUInt16BE(value, 2 + index * 2)
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  )
  return Buffer.concat([header, question.subarray(12, at + 5), ...records])
}

describe('the name of a host', () => {
  test('leads to its public addresses and no others, and one whose server is silent delays nobody', async () => {
    const known = {
      'public.example': ['8.8.8.8'],
      'both.example': ['10.0.0.1', '1.1.1.1'],
      'private.example': ['10.0.0.1'],
    }
    const before = resolver.getServers()
    resolver.setServers([await startNameServer(known)])
    after(() => resolver.setServers(before))
    const silent = Array.from({ length: 8 }, () => readEndpointUrl('https://silent.example/', false).catch(String))
    const found = await new Promise((resolve, reject) =>
      lookUpPublic('both.example', { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))),
    )
    assert.deepEqual(found, [{ address: '1.1.1.1', family: 4 }])
    assert.equal(await readEndpointUrl('https://public.example/', false), 'https://public.example/')
    await assert.rejects(readEndpointUrl('https://private.example/', false), /private\.example is a private address/)
    for (const complaint of await Promise.all(silent)) assert.match(complaint, /silent\.example cannot be found/)
  })
})

describe('an address', () => {
  test('is public when it is one of the internet at large', () => {
    for (const address of ['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.63.255.255', '192.0.1.1', '2606:4700::1111']) {
      assert.equal(isPublicAddress(address), true, address)
    }
  })

  test('is not public when it is private, loopback, link-local, shared, reserved, or holds one of those', () => {
    const others = [
      '0.0.0.0',
      '0.1.2.3',
      '10.0.0.1',
      '100.64.0.1',
      '100.127.255.255',
      '127.0.0.1',
      '127.255.255.255',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
      '192.0.0.8',
      '192.0.2.1',
      '192.168.0.1',
      '198.18.0.1',
      '198.51.100.1',
      '203.0.113.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:8.8.8.8',
      '::ffff:7f00:1',
      '::7f00:1',
      '64:ff9b::7f00:1',
      '64:ff9b:1::1',
      '100::1',
      '2001::1',
      '2001:db8::1',
      '2002:7f00:1::',
      '3fff::1',
      '5f00::1',
      'fc00::1',
      'fd12:3456::1',
      'fe80::1',
      'fe80::1%eth0',
      'fec0::1',
      'ff02::1',
      '',
      'localhost',
      '1.1.1',
      '1.1.1.1.1',
    ]
    for (const address of others) assert.equal(isPublicAddress(address), false, address)
  })
})

describe('the address of a legacy system', () => {
  test('is refused with a line that says why', async () => {
    const refusals: [url: string, complaint: RegExp][] = [
      ['legacy.example', /must be an address like https:/],
      ['ftp://legacy.example/', /must be an address like https:/],
      ['https://ada:hunter22@8.8.8.8/', /must not hold a user or a password/],
      ['https://8.8.8.8/#part', /after #/],
      ['http://8.8.8.8/', /must begin with https:\/\/, because .*; set ALLOW_PRIVATE_ADDRESSES=true to allow it/],
      ['https://nowhere.invalid/', /the host nowhere\.invalid cannot be found/],
    ]
    for (const [url, complaint] of refusals) await assert.rejects(readEndpointUrl(url, false), complaint, url)
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '[::1]',
      '[::ffff:10.0.0.1]',
      '169.254.169.254',
    ]) {
      await assert.rejects(readEndpointUrl(`https://${host}/`, false), /is a private address; set ALLOW_PRIVATE/, host)
    }
    await assert.rejects(readEndpointUrl('https://localhost/', false), /localhost is a private address/)
    await assert.rejects(readEndpointUrl('https://localhost/', false, 'admin'), /localhost is a private address$/)
    await assert.rejects(readEndpointUrl('http://8.8.8.8/', false, 'admin'), /^Error: `url` must begin .* of people$/)
  })

  test('may be public, and anything of http when private ones are allowed', async () => {
    assert.equal(await readEndpointUrl('https://8.8.8.8/in?key=1', false), 'https://8.8.8.8/in?key=1')
    assert.equal(await readEndpointUrl('https://[2606:4700::1111]:8443/', false), 'https://[2606:4700::1111]:8443/')
    assert.equal(await readEndpointUrl('http://localhost:9/', true), 'http://localhost:9/')
    await assert.rejects(readEndpointUrl('https://a:b@localhost/', true), /user or a password/)
  })

  test('is shown without its query', () => {
    assert.equal(shownUrl('https://legacy.example/in?key=hunter22'), 'https://legacy.example/in?…')
    assert.equal(shownUrl('https://legacy.example/in'), 'https://legacy.example/in')
  })
})
