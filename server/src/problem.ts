import { type ProblemCode, type ProblemPlace, problems } from '@masthead/contract'

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

/** A problem with one property of the body. */
export const invalidProperty = (property: string, code: string, detail: string): Problem =>
  new Problem('invalid_body', detail, { errors: [{ pointer: `/${property}`, code, detail }] })
