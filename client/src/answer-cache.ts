/** An answer to a read, as it came: whoever gets it again gets it anew, and may change it. */
type KeptAnswer = { text: string; etag: string; link: string | null }

/** Kept beside the text of an answer, by estimate. */
const overheadBytes = 500

/** Kept by their tags, for the token that they came for. Bounded; what was used longest ago goes first. */
export class AnswerCache {
  readonly #mostBytes: number
  readonly #answers = new Map<string, KeptAnswer>()
  #bytes = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  find(token: string, url: string): KeptAnswer | undefined {
    const key = keyOf(token, url)
    const answer = this.#answers.get(key)
    if (answer) {
      this.#answers.delete(key)
      this.#answers.set(key, answer)
    }
    return answer
  }

  keep(token: string, url: string, answer: KeptAnswer): void {
    const key = keyOf(token, url)
    this.#drop(key)
    if (weightOf(key, answer) > this.#mostBytes) return
    this.#answers.set(key, answer)
    this.#bytes += weightOf(key, answer)
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= this.#mostBytes) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const answer = this.#answers.get(key)
    if (!answer) return
    this.#answers.delete(key)
    this.#bytes -= weightOf(key, answer)
  }
}

const keyOf = (token: string, url: string): string => `${token} ${url}`

/** A character takes up to two bytes. */
const weightOf = (key: string, { text }: KeptAnswer): number => overheadBytes + 2 * (key.length + text.length)
