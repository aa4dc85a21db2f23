/** Code that verifies an event by the headers of Standard Webhooks, with what each language brings. A test runs it. */
export const verifyingCode = {
  'Node.js': `import { createHmac, timingSafeEqual } from 'node:crypto'

const secret = process.env.WEBHOOK_SECRET // whsec_…

// body: a Buffer of the bytes as they arrived; headers: as node:http gives them.
export const verify = (body, headers) => {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers
  if (!(Math.abs(Date.now() / 1000 - timestamp) <= 300)) throw new Error('The timestamp is off.')
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(body).digest('base64')
  const expected = Buffer.from(\`v1,\${signature}\`)
  // There are two signatures while the secret is rotated.
  const isSigned = signatures.split(' ').some((one) => {
    const given = Buffer.from(one)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  if (!isSigned) throw new Error('The signature is wrong.')
  return JSON.parse(body) // { type, timestamp, data }
}
`,
  Python: `import base64, hashlib, hmac, json, os, time

secret = os.environ['WEBHOOK_SECRET']  # whsec_…

# body: the bytes as they arrived; headers: by their lowercase names.
def verify(body, headers):
    event_id, timestamp = headers['webhook-id'], headers['webhook-timestamp']
    if abs(time.time() - int(timestamp)) > 300:
        raise ValueError('The timestamp is off.')
    key = base64.b64decode(secret.removeprefix('whsec_'))
    signed = f'{event_id}.{timestamp}.'.encode() + body
    expected = b'v1,' + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
    # There are two signatures while the secret is rotated.
    given = headers['webhook-signature'].encode().split(b' ')
    if not any(hmac.compare_digest(expected, one) for one in given):
        raise ValueError('The signature is wrong.')
    return json.loads(body)  # {'type', 'timestamp', 'data'}
`,
  PHP: `<?php
$secret = getenv('WEBHOOK_SECRET'); // whsec_…

// $body: file_get_contents('php://input'); $server: $_SERVER.
function verify(string $secret, string $body, array $server): array {
    $id = $server['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $server['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (abs(time() - (int) $timestamp) > 300) throw new Exception('The timestamp is off.');
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    // There are two signatures while the secret is rotated.
    foreach (explode(' ', $server['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $given) {
        if (hash_equals($expected, $given)) return json_decode($body, true); // type, timestamp, data
    }
    throw new Exception('The signature is wrong.');
}
`,
} as const

export type VerifyingLanguage = keyof typeof verifyingCode
export const verifyingLanguages = Object.keys(verifyingCode) as VerifyingLanguage[] // they are its keys
