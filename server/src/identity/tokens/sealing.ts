import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** All keys of an installation are derived from its secret, which is not in the database. */
export const deriveKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'masthead', purpose, 32))

const nonceBytes = 12
const tagBytes = 16

/** Encrypts with AES-256-GCM; `context` binds the result to its place in the database. */
export const seal = (key: Buffer, context: string, text: string): Buffer => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** Throws when the key or the context differs, or the bytes were changed. */
export const unseal = (key: Buffer, context: string, sealed: Buffer): string => {
  // Without a fixed length a shorter tag would be accepted, which is easier to guess.
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8')
}
