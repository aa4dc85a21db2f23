/** A cell that cannot be read, and why. */
export class WrongCell {
  readonly text: string
  readonly reason: string
  /** The reason without the value, by which refusals are grouped. */
  readonly rule: string

  constructor(text: string, reason: string, rule = reason) {
    this.text = text
    this.reason = reason
    this.rule = rule
  }
}

/** What a field is given: null empties it, undefined leaves it as it is. */
export type GivenValue = string | null | undefined | WrongCell
