import { createCipheriv, createDecipheriv, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { type ListedName, listedNames } from '@masthead/contract'
import { beginning, type Point } from './timelines.ts'

/** Where a walk goes on: after this position, as this page; and where its list stood before its first page, where that is known. */
export type Mark = { position: number; page: number; since: Point | null }

/** How far a copy has got in each list; a list that is not there is at its beginning. */
export type Progress = ReadonlyMap<ListedName, Point>

/**
 * Where a walk through a sorted or freely filtered list goes on: after the record with this value and position. `isUncounted`
 * says that more match than are counted.
 */
export type UntalliedMark = Mark & { key: string | null; isUncounted: boolean }

const markBytes = 12
const versionBytes = 6
const timelineBytes = 4
const pointBytes = versionBytes + timelineBytes
const sealBytes = 12

/** Opaque, and worth nothing to another tenant, list or filter: `context` is part of the seal. */
export const sealCursor = (key: KeyObject, context: string, { position, page, since }: Mark): string => {
  const bytes = Buffer.alloc(markBytes + (since ? pointBytes : 0))
  bytes.writeBigUInt64BE(BigInt(position))
  bytes.writeUInt32BE(page, 8)
  if (since) writePoint(bytes, markBytes, since)
  return sealed(key, context, bytes)
}

/** Null when it was tampered with or made for another context. */
export const openCursor = (key: KeyObject, context: string, cursor: string): Mark | null => {
  const bytes = opened(key, context, cursor)
  if (bytes?.length !== markBytes && bytes?.length !== markBytes + pointBytes) return null
  const since = bytes.length > markBytes ? readPoint(bytes, markBytes) : null
  return { position: Number(bytes.readBigUInt64BE()), page: bytes.readUInt32BE(8), since }
}

/**
 * Likewise, and encrypted: it holds a value of a record, such as a name, and addresses are written to logs. The queries of such lists
 * are others, so the context tells both kinds of cursor apart.
 */
export const sealUntalliedCursor = (key: KeyObject, context: string, mark: UntalliedMark): string => {
  const { position, page, since, isUncounted } = mark
  const point = since && [since.version, since.timeline]
  return encrypted(key, context, Buffer.from(JSON.stringify([position, page, point, mark.key, isUncounted])))
}

export const openUntalliedCursor = (key: KeyObject, context: string, cursor: string): UntalliedMark | null => {
  const bytes = decrypted(key, context, cursor)
  if (!bytes) return null
  // It is as it was sealed.
  const [position, page, point, value, isUncounted] = JSON.parse(bytes.toString()) as [
    number,
    number,
    [number, string] | null,
    string | null,
    boolean,
  ]
  return { position, page, since: point && { version: point[0], timeline: point[1] }, key: value, isUncounted }
}

/** The point of each list has the place that the list has in the contract. */
export const sealProgress = (key: KeyObject, tenantId: string, progress: Progress): string => {
  const bytes = Buffer.alloc((listedNames.findLastIndex((name) => progress.has(name)) + 1) * pointBytes)
  for (const [place, name] of listedNames.entries()) {
    const point = progress.get(name)
    if (point) writePoint(bytes, place * pointBytes, point)
  }
  return sealed(key, progressContext(tenantId), bytes)
}

export const openProgress = (key: KeyObject, tenantId: string, cursor: string): Progress | null => {
  const bytes = opened(key, progressContext(tenantId), cursor)
  if (!bytes) return null
  const points = listedNames
    .slice(0, bytes.length / pointBytes)
    .map((name, place) => [name, readPoint(bytes, place * pointBytes)] as const)
  return new Map(points.filter(([, { version }]) => version > 0))
}

/** No list has such a name. */
const progressContext = (tenantId: string): string => JSON.stringify([tenantId, 'changes'])

const writePoint = (bytes: Buffer, offset: number, { version, timeline }: Point): void => {
  bytes.writeUIntBE(version, offset, versionBytes)
  bytes.write(timeline, offset + versionBytes, timelineBytes, 'hex')
}

const readPoint = (bytes: Buffer, offset: number): Point => {
  const version = bytes.readUIntBE(offset, versionBytes)
  const timeline = bytes.toString('hex', offset + versionBytes, offset + pointBytes)
  if (version === 0) return beginning
  return { version, timeline: timeline === unnamed ? '' : timeline }
}
/** How the empty name is written. */
const unnamed = '0'.repeat(2 * timelineBytes)

const sealed = (key: KeyObject, context: string, bytes: Buffer): string =>
  Buffer.concat([bytes, seal(key, context, bytes)]).toString('base64url')

const opened = (key: KeyObject, context: string, cursor: string): Buffer | null => {
  const bytes = Buffer.from(cursor, 'base64url')
  const end = bytes.length - sealBytes
  // A text that decodes to the same bytes in another spelling was not made here.
  if (end < 0 || bytes.toString('base64url') !== cursor) return null
  const content = bytes.subarray(0, end)
  return timingSafeEqual(bytes.subarray(end), seal(key, context, content)) ? content : null
}

const seal = (key: KeyObject, context: string, content: Buffer): Buffer =>
  createHmac('sha256', key).update(context).update('\n').update(content).digest().subarray(0, sealBytes)

const cipher = 'aes-256-gcm'
const ivBytes = sealBytes
const tagBytes = 16

const keyFor = (key: KeyObject): Buffer => createHmac('sha256', key).update('cursors with values').digest()

/** The same place has the same cursor: the seal of what is encrypted is the nonce, so no two contents share one. */
const encrypted = (key: KeyObject, context: string, content: Buffer): string => {
  const iv = seal(key, context, content)
  const encryption = createCipheriv(cipher, keyFor(key), iv, { authTagLength: tagBytes }).setAAD(Buffer.from(context))
  const bytes = Buffer.concat([encryption.update(content), encryption.final()])
  return Buffer.concat([iv, bytes, encryption.getAuthTag()]).toString('base64url')
}

const decrypted = (key: KeyObject, context: string, cursor: string): Buffer | null => {
  const bytes = Buffer.from(cursor, 'base64url')
  const end = bytes.length - tagBytes
  if (end < ivBytes || bytes.toString('base64url') !== cursor) return null
  const decryption = createDecipheriv(cipher, keyFor(key), bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
  decryption.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(end))
  try {
    return Buffer.concat([decryption.update(bytes.subarray(ivBytes, end)), decryption.final()])
  } catch {
    return null
  }
}
