import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { largest, mediaTypesOf, type Operation } from '@masthead/contract'
import { Problem } from '../../../problem.ts'
import { bodyTooLarge, cutOff, unsupportedMediaType } from '../../responses/problems.ts'
import { bodyJudge } from './body-judge.ts'

/** The bytes of the body; undefined where none was sent. Who sends too many, or not all of them, is heard no further. */
export const readBytes = (
  request: IncomingMessage,
  response: ServerResponse,
  most = largest.bodyBytes,
): Promise<Buffer> | undefined => {
  const { 'content-length': length = '0', 'transfer-encoding': transfer } = request.headers
  if (length === '0' && transfer === undefined) return undefined
  const chunks: Buffer[] = []
  let received = 0
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const fail = (error: Error) => {
    response.shouldKeepAlive = false
    request.off('data', take)
    reject(error)
  }
  const take = (chunk: Buffer) => {
    received += chunk.length
    if (received > most) fail(bodyTooLarge(most))
    else chunks.push(chunk)
  }
  if (Number(length) > most) fail(bodyTooLarge(most))
  // Nothing more is told of a request whose sender left before.
  else if (request.destroyed) fail(cutOff())
  else
    request
      .on('data', take)
      .once('end', () => resolve(Buffer.concat(chunks, received)))
      .once('error', fail)
  return promise
}

export type BodyReader = (headers: IncomingHttpHeaders, bytes: Buffer | undefined) => unknown

/** Reads and checks the body of an operation. */
export const bodyReader = (operation: Operation): BodyReader => {
  const { body: schema } = operation
  if (!schema) return refuseBody
  const judge = bodyJudge(schema)
  const accepted = mediaTypesOf(operation)
  return (headers, bytes) => {
    requireMediaType(headers['content-type'], accepted)
    refuseEncoding(headers['content-encoding'])
    const value = parseJson(bytes)
    const errors = judge(value)
    if (errors.length === 0) return value
    throw new Problem('invalid_body', errors.map(({ detail }) => detail).join(' '), { errors })
  }
}

const refuseBody: BodyReader = (_headers, bytes) => {
  if (!bytes?.length) return undefined
  const detail = 'This operation takes no body.'
  throw new Problem('invalid_body', detail, { errors: [{ pointer: '', code: 'not_expected', detail }] })
}

const requireMediaType = (contentType: string | undefined, accepted: readonly string[]): void => {
  const [type = '', ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '')
  if (accepted.includes(type) && (charset === undefined || charset === 'utf-8' || charset === 'utf8')) return
  const detail = `Send \`Content-Type: ${accepted[0]}\`${contentType ? `, not \`${contentType.slice(0, 100)}\`` : ''}.`
  throw unsupportedMediaType(detail)
}

/** A few packed bytes can unpack to gigabytes. */
const refuseEncoding = (encoding: string | undefined): void => {
  if (encoding === undefined || encoding.trim() === '' || encoding.toLowerCase() === 'identity') return
  const detail = `Send the body as it is, without \`Content-Encoding: ${encoding.slice(0, 100)}\`: packed bodies are not taken.`
  throw unsupportedMediaType(detail, 'Content-Encoding')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const parseJson = (bytes: Buffer | undefined): unknown => {
  if (!bytes?.length) throw malformed('The body is empty; send a JSON object.')
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'it is not UTF-8'
    throw malformed(`The body is not JSON: ${reason.slice(0, 200)}.`)
  }
}

const malformed = (detail: string): Problem =>
  new Problem('malformed_body', detail, { errors: [{ pointer: '', code: 'not_json', detail }] })
