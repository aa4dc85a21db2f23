import { ConnectionError, isProblem, ProblemError, TimeoutError, UnexpectedAnswerError } from './errors.ts'

/** How a call failed that may go well the next time. */
export type Failure = ProblemError | ConnectionError | TimeoutError | UnexpectedAnswerError

const shortestPauseMilliseconds = 250
export const longestPauseMilliseconds = 8_000

/**
 * Reads are repeated, and writes that do the same when they are done twice: a POST by its idempotency key, PATCH and
 * DELETE by their nature. Not so with `If-Match`: a repeated one is refused when only the answer of the first was lost.
 */
export const mayRepeat = (failure: Failure, isIdempotent: boolean): boolean => {
  const status = 'status' in failure ? failure.status : undefined
  // It was refused before anything was done.
  if (status === 429) return true
  if (!isIdempotent) return false
  return status === undefined || [502, 503, 504].includes(status) || isProblem(failure, 'request_in_progress')
}

/** Whether a read may go well the next time. */
export const isPassing = (error: unknown): error is Failure =>
  [ProblemError, ConnectionError, TimeoutError, UnexpectedAnswerError].some((kind) => error instanceof kind) &&
  mayRepeat(error as Failure, true) // it is one of them

/** Full jitter, so that those who failed together do not come back together; on top of what the service asks for. */
export const pauseMilliseconds = (failure: Failure, attempt: number): number => {
  const asked = ('retryAfterMilliseconds' in failure && failure.retryAfterMilliseconds) || 0
  return asked + Math.random() * Math.min(longestPauseMilliseconds, shortestPauseMilliseconds * 2 ** attempt)
}

/** RFC 9110 §10.2.3: seconds or a date. */
export const readRetryAfter = (header: string | null): number | undefined => {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1_000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}
