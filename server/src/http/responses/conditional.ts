import { hash } from 'node:crypto'
import { Problem } from '../../problem.ts'

/** A strong validator: equal bodies, equal tags, on every node. */
export const entityTag = (body: string | Buffer): string => `"${hash('sha1', body, 'base64url')}"`

const ofEncoding = /\.(?:zstd|br|gzip)"$/

/** The entity tags of a conditional header; null when it was not sent. */
export type Tags = readonly string[] | '*' | null

/** RFC 9110 §13.1.2: `If-None-Match` compares weakly. */
export const isCurrent = (ifNoneMatch: Tags, tag: string): boolean =>
  ifNoneMatch !== null && (ifNoneMatch === '*' || ifNoneMatch.some((one) => one === tag || one === `W/${tag}`))

/** RFC 9110 §13.1.1: `If-Match` compares strongly, so a weak tag never matches. */
export const requireMatch = (ifMatch: Tags, body: string): void => {
  const tag = entityTag(body)
  // Whatever encoding it came in, it is the same version.
  if (ifMatch === null || ifMatch === '*' || ifMatch.some((one) => one.replace(ofEncoding, '"') === tag)) return
  throw new Problem('precondition_failed', `The record has changed: its version is now ${tag}.`, {
    headers: { etag: tag },
    errors: [{ header: 'If-Match', code: 'not_current', detail: 'Names another version than the current one.' }],
  })
}

export const readTags = (header: string, text: string | undefined): Tags => {
  if (text === undefined) return null
  if (text.trim() === '*') return '*'
  if (/^\s*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:\s*,\s*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")*\s*$/.test(text)) {
    return text.match(/(?:W\/)?"[^"]*"/g) ?? []
  }
  const detail = `\`${header}\` must hold entity tags in quotation marks, as \`ETag\` gave them, or \`*\`.`
  throw new Problem('invalid_header', detail, { errors: [{ header, code: 'malformed', detail }] })
}
