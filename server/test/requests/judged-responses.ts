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

/** Throws when the document promises another answer than this one. */
export const judge = (method: string, address: string, answer: Omit<Answer, 'body'>): void => {
  try {
    const isJson = /\bjson\b/.test(answer.headers.get('content-type') ?? '') && answer.text !== ''
    assertDocumented(method, address, { ...answer, body: isJson ? JSON.parse(answer.text) : null })
  } catch (error) {
    misfits.push(error)
    throw error
  }
}

const { fetch: send } = globalThis

globalThis.fetch = async (...given) => {
  const response = await send(...given)
  const { status, headers, url } = response
  const { origin, pathname } = new URL(url)
  if (garblers.has(origin) || !pathname.startsWith(basePath)) return response
  // A stream has no end to wait for.
  if (headers.get('content-type')?.startsWith('text/event-stream')) return response
  // When the connection breaks before its end, the caller shall see that by itself.
  const text = await response
    .clone()
    .text()
    .catch(() => null)
  const [target, { method = target instanceof Request ? target.method : 'GET' } = {}] = given
  if (text !== null) judge(method.toUpperCase(), url, { status, headers, text })
  return response
}
