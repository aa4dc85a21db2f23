import { type ProblemCode, type ProblemPlace, problems } from '@masthead/contract'
import type { Refusal } from './refusal.ts'

type More = { errors?: ProblemPlace[]; headers?: Record<string, string> }

/** An error that the caller sees as problem details, by a code of the contract. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly errors: ProblemPlace[]
  readonly headers: Record<string, string>

  constructor(code: ProblemCode, detail: string, { errors = [], headers = {} }: More = {}) {
    super(detail)
    this.code = code
    this.errors = errors
    this.headers = headers
  }

  get status(): number {
    return problems[this.code].status
  }
}

/** What an operator would be refused at the command line is a conflict for a caller. */
export const conflictOf = ({ sentence }: Refusal): Problem => new Problem('conflict', sentence)

/** A server that restarts or gives its place to another is back within seconds. */
export const retryAfterSeconds = 1

/** Something is away for a moment, or has too much to do. */
export const unavailable = (detail: string, seconds = retryAfterSeconds): Problem =>
  new Problem('unavailable', detail, { headers: { 'retry-after': String(seconds) } })

/** A problem with one property of the body. */
export const invalidProperty = (property: string, code: string, detail: string): Problem =>
  new Problem('invalid_body', detail, { errors: [{ pointer: `/${property}`, code, detail }] })
