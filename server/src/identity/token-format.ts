import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

export type TokenKind = 'personal' | 'service'

const prefixes: Record<TokenKind, string> = { personal: 'mh_pat_', service: 'mh_svc_' }
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const shape = /^mh_(?:pat|svc)_[0-9A-Za-z]{38}$/

/** A prefix, 32 random characters and a checksum, which finds a mistyped token without asking the database. */
export const newToken = (kind: TokenKind): string => {
  const start = prefixes[kind] + Array.from({ length: 32 }, () => alphabet[randomInt(62)]).join('')
  return start + checksum(start)
}

export const isWellFormedToken = (token: string): boolean =>
  shape.test(token) && checksum(token.slice(0, -6)) === token.slice(-6)

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ''
  for (let place = 0; place < 6; place++) {
    digits = alphabet[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
