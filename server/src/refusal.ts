/** An error that the operator can act on: printed as one line without a stack, followed by steps where one line is not enough. */
export class Refusal extends Error {
  readonly steps: readonly string[]

  constructor(message: string, { steps = [], ...options }: ErrorOptions & { steps?: readonly string[] } = {}) {
    super(message, options)
    this.steps = steps
  }
}
