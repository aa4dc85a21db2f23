import { createHmac, randomBytes } from 'node:crypto'
import { deriveKey, seal, unseal } from '../identity/tokens/sealing.ts'
import { Refusal } from '../refusal.ts'

/** Signing secrets have the form of Standard Webhooks: `whsec_` and base64. */
const prefix = 'whsec_'
const fewestBytes = 24
const mostBytes = 64

/** Returns the base64 of a secret with or without the prefix. No message repeats the secret. */
export const readSigningSecret = (given: string): string => {
  const base64 = given.trim().replace(prefix, '')
  const bytes = Buffer.from(base64, 'base64')
  if (base64 === '' || bytes.toString('base64') !== base64 || bytes.length < fewestBytes || bytes.length > mostBytes) {
    throw new Refusal(
      `the secret must be ${prefix} and base64 of ${fewestBytes} to ${mostBytes} bytes: \`echo "${prefix}$(openssl rand -base64 32)"\` makes one`,
    )
  }
  return base64
}

/** The base64 of a new secret, and the secret as it is shown. */
export const newSigningSecret = (): { base64: string; secret: string } => {
  const base64 = randomBytes(32).toString('base64')
  return { base64, secret: prefix + base64 }
}

// Secrets of legacy systems were the first, and are still encrypted under this key.
const sealingKey = (installationSecret: string): Buffer => deriveKey(installationSecret, 'legacy systems')

/** The tenant is bound in, so that the secret opens nowhere else. */
export const sealSigningSecret = (installationSecret: string, tenantId: string, base64: string): Buffer =>
  seal(sealingKey(installationSecret), tenantId, base64)

/** Returns null when it was sealed under another installation secret. */
export const openSigningSecret = (installationSecret: string, tenantId: string, sealed: Buffer): Buffer | null => {
  try {
    return Buffer.from(unseal(sealingKey(installationSecret), tenantId, sealed), 'base64')
  } catch {
    return null
  }
}

/** The headers of Standard Webhooks for an attempt at this time, with a signature of each secret. */
export const signedHeaders = (
  secrets: readonly Buffer[],
  id: string,
  body: string,
  now: Date,
): Record<string, string> => {
  const timestamp = String(Math.floor(now.getTime() / 1_000))
  const sign = (secret: Buffer) => createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
  const signatures = secrets.map((secret) => `v1,${sign(secret)}`)
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
