import { setTimeout as delay } from 'node:timers/promises'
import { remedyFor } from '../database/reachability.ts'
import { isUnavailable } from '../database/unavailable.ts'
import { messageOf, say } from './output.ts'

const timeoutMilliseconds = 30_000
const pauseMilliseconds = 500

/**
 * A server of the operator may come up after us, as in a composition of containers, and any server may be slow while much
 * starts at once: what it does not take meanwhile is tried again.
 */
export const onceItAnswers = async <T>(attempt: () => Promise<T>, stopping?: AbortSignal): Promise<T> => {
  let said = ''
  for (const deadline = Date.now() + timeoutMilliseconds; ; ) {
    try {
      return await attempt()
    } catch (error) {
      if (!isUnavailable(error) || stopping?.aborted || Date.now() > deadline) throw error
      const reason = messageOf(error)
      if (reason !== said) say(`Waiting up to ${timeoutMilliseconds / 1_000} s for the database: ${reason}`)
      said = reason
      await delay(pauseMilliseconds, undefined, stopping && { signal: stopping }).catch(() => {})
    }
  }
}

export const whyUnusable = (error: unknown): Error => {
  const remedy = remedyFor(error)
  const why = `the database of DATABASE_URL cannot be used: ${messageOf(error)}`
  return new Error(remedy ? `${why}; ${remedy}` : why, { cause: error })
}
