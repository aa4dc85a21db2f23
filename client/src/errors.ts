import type { Problem, ProblemCode, ProblemPlace } from './generated/contract.ts'

/** Everything this client throws, but for wrong arguments (`TypeError`) and the reason of a signal that was aborted. */
export class MastheadError extends Error {
  override get name(): string {
    return 'MastheadError'
  }
}

/** The service said no. `code` tells why, and is stable; `errors` tells where, when a place in the request is to blame. */
export class ProblemError<Code extends ProblemCode = ProblemCode> extends MastheadError {
  readonly code: Code
  readonly status: number
  readonly title: string
  readonly detail: string
  readonly errors: readonly ProblemPlace[]
  /** Finds the request in the log of the operator. */
  readonly requestId: string
  /** Address of a page that explains the problem. */
  readonly type: string
  /** How long the service asks to wait, when it does. */
  readonly retryAfterMilliseconds: number | undefined

  constructor(problem: Problem & { code: Code }, retryAfterMilliseconds?: number) {
    super(`${problem.detail} (${problem.code}, request ${problem.requestId})`)
    this.code = problem.code
    this.status = problem.status
    this.title = problem.title
    this.detail = problem.detail
    this.errors = problem.errors ?? []
    this.requestId = problem.requestId
    this.type = problem.type
    this.retryAfterMilliseconds = retryAfterMilliseconds
  }

  override get name(): string {
    return 'ProblemError'
  }
}

/** Whether the service said no, and for one of these reasons when any are given. */
export const isProblem = <Code extends ProblemCode>(error: unknown, ...codes: Code[]): error is ProblemError<Code> =>
  error instanceof ProblemError && (codes.length === 0 || codes.includes(error.code))

/** No answer came: the cause tells why. A write may have been done. */
export class ConnectionError extends MastheadError {
  constructor(request: string, cause: unknown) {
    super(`no answer to ${request}: ${reasonOf(cause)}`, { cause })
  }

  override get name(): string {
    return 'ConnectionError'
  }
}

/** What Node's `fetch` says stands behind its error; that of browsers says all it will. */
const reasonOf = (cause: unknown): string => {
  const reason =
    cause instanceof Error && cause.cause instanceof Error && cause.cause.message !== '' ? cause.cause : cause
  return reason instanceof Error ? reason.message : String(reason)
}

/** No answer came in time. A write may have been done. */
export class TimeoutError extends MastheadError {
  override get name(): string {
    return 'TimeoutError'
  }
}

/** Something answered that is not Masthead: a proxy, or another address than meant. */
export class UnexpectedAnswerError extends MastheadError {
  readonly status: number
  /** How long it asks to wait, when it does. */
  readonly retryAfterMilliseconds: number | undefined

  constructor(message: string, status: number, retryAfterMilliseconds?: number) {
    super(message)
    this.status = status
    this.retryAfterMilliseconds = retryAfterMilliseconds
  }

  override get name(): string {
    return 'UnexpectedAnswerError'
  }
}

/** The user or the authorization server said no, or the answer was not meant for this request. */
export class AuthorizationError extends MastheadError {
  /**
   * Of OAuth 2.0, as `access_denied` or `invalid_grant`; or one of `state_mismatch`, `issuer_mismatch`, `not_a_callback`,
   * `no_refresh_token` and `unexpected_answer`.
   */
  readonly code: string

  constructor(code: string, message: string) {
    super(`${message} (${code})`)
    this.code = code
  }

  override get name(): string {
    return 'AuthorizationError'
  }
}
