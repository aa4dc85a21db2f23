import { basePath } from '@masthead/contract'
import { type Answer, assertDocumented } from './contract-responses.ts'

/**
 * Every answer of the customer API that a test gets is held against the OpenAPI document, whoever asked and whichever
 * process answered. Whoever starts a service loads this file, which stands behind `fetch`; other doors call `judge`.
 */

/** What was wrong: some callers take every failure for a broken connection, so the file fails at its end too. */
export const misfits: unknown[] = []
process.once('exit', () => {
  if (misfits.length === 0) return
  process.stderr.write(`Answers that are not as the OpenAPI document says:\n${misfits.join('\n')}\n`)
  process.exitCode = 1
})

/** Origins at which somebody stands between the service and its caller, and garbles answers on purpose. */
export const garblers = new Set<string>()

/** Throws when the document promises another answer than this one; returns its body where that is JSON. */
export const judge = (method: string, address: string, answer: Omit<Answer, 'body'>): unknown => {
  try {
    const isJson = /\bjson\b/.test(answer.headers.get('content-type') ?? '') && answer.text !== ''
    const body: unknown = isJson ? JSON.parse(answer.text) : null
    assertDocumented(method, address, { ...answer, body })
    return body
  } catch (error) {
    misfits.push(error)
    throw error
  }
}

const { fetch: send } = globalThis

/** Whether the document tells of what is answered here. */
const isJudged = ({ url, headers }: Response): boolean => {
  const { origin, pathname } = new URL(url)
  // A stream has no end to wait for.
  const isStream = headers.get('content-type')?.startsWith('text/event-stream')
  return !garblers.has(origin) && pathname.startsWith(basePath) && !isStream
}

globalThis.fetch = async (...given) => {
  const response = await send(...given)
  if (!isJudged(response)) return response
  const { status, headers, url } = response
  // When the connection breaks before its end, the caller shall see that by itself.
  const text = await response
    .clone()
    .text()
    .catch(() => null)
  const [target, { method = target instanceof Request ? target.method : 'GET' } = {}] = given
  if (text !== null) judge(method.toUpperCase(), url, { status, headers, text })
  return response
}

/** The same for a caller that reads the whole answer: to read it twice, and to parse it twice, costs as much as to make it. */
export const fetchWhole = async (address: string, init: RequestInit & { method: string }) => {
  const response = await send(address, init)
  const { status, headers, url } = response
  const text = await response.text()
  if (isJudged(response)) return { status, headers, text, body: judge(init.method, url, { status, headers, text }) }
  const isJson = headers.get('content-type')?.includes('json') && text !== ''
  return { status, headers, text, body: isJson ? JSON.parse(text) : null }
}
