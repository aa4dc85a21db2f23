import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isPublicAddress, readEndpointUrl, shownUrl } from './addresses.ts'

describe('an address', () => {
  test('is public when it is one of the internet at large', () => {
    for (const address of ['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.63.255.255', '192.0.1.1', '2606:4700::1111']) {
      assert.equal(isPublicAddress(address), true, address)
    }
  })

  test('is not public when it is private, loopback, link-local, shared, reserved, or holds one of those', () => {
    const others = [
      ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.255'],
      ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.168.0.1', '198.18.0.1'],
      ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
      ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '::7f00:1', '64:ff9b::7f00:1'],
      ...['64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1', 'fc00::1'],
      ...['fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '', 'localhost', '1.1.1', '1.1.1.1.1'],
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
      ['http://8.8.8.8/', /must begin with https:\/\/, because .*; ALLOW_PRIVATE_ADDRESSES=true allows it/],
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
      await assert.rejects(readEndpointUrl(`https://${host}/`, false), /is a private address; ALLOW_PRIVATE/, host)
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
