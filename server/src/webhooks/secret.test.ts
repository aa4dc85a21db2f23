import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { openSigningSecret, readSigningSecret, sealSigningSecret, signedHeaders } from './secret.ts'

describe('a signing secret', () => {
  test('is base64 of 24 to 64 bytes, with or without its prefix and a line end', () => {
    for (const length of [24, 32, 64]) {
      const base64 = randomBytes(length).toString('base64')
      for (const given of [base64, `whsec_${base64}`, `whsec_${base64}\n`]) {
        assert.equal(readSigningSecret(given), base64)
      }
    }
  })

  test('is refused when it is anything else, without being repeated', () => {
    const base64 = randomBytes(32).toString('base64')
    const others = ['', 'whsec_', 'hunter22', `whsec_${base64.slice(1)}`, `whsec_whsec_${base64}`, `${base64}!`]
    for (const given of [...others, randomBytes(23).toString('base64'), randomBytes(65).toString('base64')]) {
      assert.throws(
        () => readSigningSecret(given),
        ({ message }: Error) => /whsec_ and base64 of 24 to 64 bytes/.test(message) && !message.includes('hunter22'),
      )
    }
  })

  test('opens only for its tenant, under the secret of the installation', () => {
    const base64 = randomBytes(32).toString('base64')
    const sealed = sealSigningSecret('one', 'tenant', base64)
    assert.equal(sealed.includes(base64), false)
    assert.deepEqual(openSigningSecret('one', 'tenant', sealed), Buffer.from(base64, 'base64'))
    assert.deepEqual([openSigningSecret('two', 'tenant', sealed), openSigningSecret('one', 'x', sealed)], [null, null])
  })

  test('signs what the library of Standard Webhooks verifies, and nothing else', () => {
    const secret = randomBytes(24)
    const webhook = new Webhook(`whsec_${secret.toString('base64')}`)
    for (const body of ['{}', '{"name":"Łódź \\u0001 “x” 🙂"}']) {
      const headers = signedHeaders([secret], 'msg_1', body, new Date())
      assert.deepEqual(webhook.verify(body, headers), JSON.parse(body))
      assert.throws(() => webhook.verify(`${body} `, headers), /No matching signature/)
      assert.throws(() => webhook.verify(body, { ...headers, 'webhook-id': 'msg_2' }), /No matching signature/)
    }
  })

  test('signs beside a former one, and the library takes either', () => {
    const [secret, former] = [randomBytes(32), randomBytes(32)]
    const headers = signedHeaders([secret, former], 'msg_1', '{}', new Date())
    assert.match(headers['webhook-signature'] ?? '', /^v1,\S+ v1,\S+$/)
    for (const known of [secret, former]) new Webhook(`whsec_${known.toString('base64')}`).verify('{}', headers)
    const stranger = new Webhook(`whsec_${randomBytes(32).toString('base64')}`)
    assert.throws(() => stranger.verify('{}', headers), /No matching signature/)
  })
})
