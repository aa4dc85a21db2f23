/** An error that the operator can act on: printed as one line without a stack, followed by steps where one line is not enough. */
export class Refusal extends Error {
  readonly steps: readonly string[]

  constructor(message: string, { steps = [], ...options }: ErrorOptions & { steps?: readonly string[] } = {}) {
    super(message, options)
    this.steps = steps
  }

  /** The message as it is shown elsewhere than on the command line. It may begin with an e-mail address, which stays as it is. */
  get sentence(): string {
    return `${this.message.replace(/^[a-z]+(?=[ ,])/, (word) => word.charAt(0).toUpperCase() + word.slice(1))}.`
  }
}
