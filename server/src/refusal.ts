/** A request of the operator that cannot be met: one clear line, no stack, and where one line is not enough what to do. */
export class Refusal extends Error {
  readonly steps: readonly string[]

  constructor(message: string, { steps = [], ...options }: ErrorOptions & { steps?: readonly string[] } = {}) {
    super(message, options)
    this.steps = steps
  }
}
