import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { type ReceivedWebhook, verifyWebhook, type WebhookFault, WebhookVerificationError } from '../src/index.ts'

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
const secret = newSecret()
const event = {
  type: 'account.created',
  timestamp: '2026-11-17T05:00:00.000Z',
  data: { accountId: 'A1', company: 'Łódź “Press” 🙂' },
}
const body = JSON.stringify(event)

/** Signed by the library of Standard Webhooks. */
const signed = ({ at = new Date(), secrets = [secret], text = body } = {}) => ({
  headers: {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((one) => new Webhook(one).sign('msg_1', at, text)).join(' '),
  },
  body: text,
})

const faultOf = async (received: Request | ReceivedWebhook, by = secret): Promise<WebhookFault | undefined> => {
  try {
    await verifyWebhook(received, by)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    assert.ok(error.message.includes(error.code) && !error.message.includes(by))
    return error.code
  }
  return undefined
}

const minutes = 60_000
const ago = (milliseconds: number): Date => new Date(Date.now() - milliseconds)

describe('a webhook that the library of Standard Webhooks has signed', () => {
  test('is verified as a request, and as headers and body in any form', async () => {
    const { headers } = signed()
    const bytes = new TextEncoder().encode(body)
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = headers
    const forms: (Request | ReceivedWebhook)[] = [
      new Request('http://localhost/webhooks', { method: 'POST', headers, body }),
      { headers, body },
      { headers: new Headers(headers), body: bytes },
      {
        headers: { 'Webhook-Id': id, 'Webhook-Timestamp': at, 'WEBHOOK-SIGNATURE': signature },
        body: Buffer.from(bytes),
      },
    ]
    for (const form of forms) assert.deepEqual(await verifyWebhook(form, secret), event)
  })

  test('is verified by a secret with or without its prefix', async () => {
    for (const given of [secret, secret.replace('whsec_', ''), `${secret}\n`])
      assert.equal((await verifyWebhook(signed(), given)).type, event.type)
  })

  test('is verified by either secret while one is rotated', async () => {
    const former = newSecret()
    const rotating = signed({ secrets: [secret, former] })
    for (const one of [secret, former]) assert.deepEqual(await verifyWebhook(rotating, one), event)
    assert.equal(await faultOf(rotating, newSecret()), 'signature_mismatch')
  })

  test('is verified when it is up to five minutes old, or ahead', async () => {
    for (const age of [4.9 * minutes, -4.9 * minutes]) assert.equal(await faultOf(signed({ at: ago(age) })), undefined)
    assert.equal(await faultOf(signed({ at: ago(5.1 * minutes) })), 'too_old')
    assert.equal(await faultOf(signed({ at: ago(-5.1 * minutes) })), 'too_new')
  })
})

describe('a webhook is refused', () => {
  test('with another body, another id, another time and another secret', async () => {
    const good = signed()
    const others = [
      { ...good, body: `${body} ` },
      { ...good, body: body.replace('A1', 'A2') },
      { ...good, headers: { ...good.headers, 'webhook-id': 'msg_2' } },
      { ...good, headers: { ...good.headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 10) } },
    ]
    for (const other of others) {
      assert.equal(await faultOf(other), 'signature_mismatch')
      assert.throws(() => new Webhook(secret).verify(other.body, other.headers))
    }
    assert.equal(await faultOf(good, newSecret()), 'signature_mismatch')
  })

  test('without one of its headers, or with several of one', async () => {
    const { headers } = signed()
    for (const name of Object.keys(headers)) {
      assert.equal(await faultOf({ headers: { ...headers, [name]: undefined }, body }), 'missing_header')
      assert.equal(await faultOf({ headers: { ...headers, [name]: '' }, body }), 'missing_header')
      assert.equal(await faultOf({ headers: { ...headers, [name]: ['a', 'b'] }, body }), 'missing_header')
    }
  })

  test('with a time that is none', async () => {
    const { headers } = signed()
    for (const time of ['now', '-1', '1e9', '17e99', ' ', '12345678901234567890'])
      assert.equal(await faultOf({ headers: { ...headers, 'webhook-timestamp': time }, body }), 'invalid_timestamp')
  })

  test('with signatures of another version, that are cut, or that are none', async () => {
    const { headers } = signed()
    const signature = headers['webhook-signature']
    const others = [
      signature.replace('v1,', 'v1a,'),
      signature.replace('v1,', ''),
      signature.slice(0, -5),
      'v1,',
      'v1,!!',
    ]
    for (const other of others)
      assert.equal(await faultOf({ headers: { ...headers, 'webhook-signature': other }, body }), 'signature_mismatch')
  })

  test('whose signature comes after more than anybody needs', async () => {
    const { headers, body } = signed()
    const many = Array.from({ length: 4_000 }, () => 'v1,').join(' ')
    const signature = `${many} ${headers['webhook-signature']}`
    assert.equal(await faultOf({ headers: { ...headers, 'webhook-signature': signature }, body }), 'signature_mismatch')
  })

  test('with a body that is signed, and no event', async () => {
    for (const text of ['', 'x', '[]', '{}', 'null', '{"type":"x"}'])
      assert.equal(await faultOf(signed({ text })), 'invalid_body')
  })
})

test('a secret that is none, and a body that was parsed, are mistakes of the program, and shown nowhere', async () => {
  for (const wrong of ['', 'whsec_', 'whsec_hunter2!'])
    await assert.rejects(verifyWebhook(signed(), wrong), ({ name, message }: Error) => {
      return name === 'TypeError' && !message.includes('hunter')
    })
  // @ts-expect-error: as a framework gives it that parses bodies
  await assert.rejects(verifyWebhook({ ...signed(), body: event }, secret), /parsed/)
})
