import { setTimeout as delay } from 'node:timers/promises'
import { basePath, documentPath } from '@masthead/contract'
import { codeOf, messageOf } from '../error-message.ts'
import { Refusal } from '../refusal.ts'
import { type LiveOperation, readDocument } from './live-document.ts'
import { addressOf, type Filling } from './requests.ts'

/** A response, and the request that it belongs to. */
export type ServiceResponse = {
  requestId: string
  /** The request as text: the response may echo it. */
  sent: string
  status: number
  statusText: string
  headers: ReadonlyMap<string, string>
  text: string
  /** Undefined where it is no JSON. */
  body: unknown
}

const timeoutMilliseconds = 30_000

export type LiveService = ReturnType<typeof liveService>

export const liveService = (url: string, signal: AbortSignal) => {
  let sentCount = 0

  const request = async (path: string, options: RequestInit): Promise<Response> => {
    const timeout = AbortSignal.timeout(timeoutMilliseconds)
    try {
      return await fetch(url + path, { ...options, redirect: 'manual', signal: AbortSignal.any([signal, timeout]) })
    } catch (error) {
      signal.throwIfAborted()
      throw new Refusal(`no service answers at ${url} (${reasonOf(error)}): start it, or name its address with --url`)
    }
  }

  const get = async (path: string): Promise<string> => {
    const response = await request(path, {})
    if (response.ok) return response.text()
    throw new Refusal(`${url}${path} answers ${response.status}: give the address of a Masthead`)
  }

  /** A rate-limited request is sent again after the time that the service asks for. */
  const send = async (operation: LiveOperation, filling: Filling, token: string): Promise<ServiceResponse> => {
    const requestId = `probe-${process.pid}-${++sentCount}`
    const address = addressOf(operation, filling)
    const body = filling.body === null ? null : JSON.stringify(filling.body)
    const headers = {
      authorization: `Bearer ${token}`,
      'x-request-id': requestId,
      ...filling.headers,
      ...(body !== null && { 'content-type': 'application/json' }),
    }
    const response = await request(basePath + address, { method: operation.method, headers, body })
    const text = await response.text()
    if (response.status === 429) {
      const seconds = Number(response.headers.get('retry-after')) || 1
      await delay(seconds * 1_000, undefined, { signal })
      return send(operation, filling, token)
    }
    return {
      requestId,
      status: response.status,
      statusText: response.statusText,
      headers: new Map(response.headers),
      text,
      body: parsed(text),
      sent: `${decodeURIComponent(address)} ${Object.values(filling.headers).join(' ')} ${body ?? ''}`,
    }
  }

  return {
    url,
    send,
    operations: async () => readDocument(await get(documentPath)),
    /** The issuer of delegated tokens that the service accepts, and their audience. */
    resource: async () => {
      const text = await get(`/.well-known/oauth-protected-resource${basePath}`)
      const { resource, authorization_servers: [issuer] = [] } = Object(JSON.parse(text))
      return { issuer: String(issuer), audience: String(resource) }
    },
  }
}

/** `fetch` gives the reason in the cause alone. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return codeOf(cause) || messageOf(cause)
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
