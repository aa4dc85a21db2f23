import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'

/** Where a walk goes on: after this position, as this page. */
export type Mark = { position: number; page: number }

const markBytes = 12
const sealBytes = 12

/** Opaque, and worth nothing to another tenant, list or filter: `context` is part of the seal. */
export const sealCursor = (key: KeyObject, context: string, mark: Mark): string => {
  const bytes = Buffer.alloc(markBytes)
  bytes.writeBigUInt64BE(BigInt(mark.position))
  bytes.writeUInt32BE(mark.page, 8)
  return Buffer.concat([bytes, seal(key, context, bytes)]).toString('base64url')
}

/** Null when it was tampered with or made for another context. */
export const openCursor = (key: KeyObject, context: string, cursor: string): Mark | null => {
  const bytes = Buffer.from(cursor, 'base64url')
  // A text that decodes to the same bytes in another spelling was not made here.
  if (bytes.length !== markBytes + sealBytes || bytes.toString('base64url') !== cursor) return null
  const mark = bytes.subarray(0, markBytes)
  if (!timingSafeEqual(bytes.subarray(markBytes), seal(key, context, mark))) return null
  return { position: Number(mark.readBigUInt64BE()), page: mark.readUInt32BE(8) }
}

const seal = (key: KeyObject, context: string, mark: Buffer): Buffer =>
  createHmac('sha256', key).update(context).update('\n').update(mark).digest().subarray(0, sealBytes)
