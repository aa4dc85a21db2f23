/** A response to a read, as it came: whoever gets it again gets it anew, and may change it. */
type CachedResponse = { text: string; etag: string; link: string | null }

/** Kept beside the text of a response, by estimate. */
const overheadBytes = 500

/** Kept by their tags, for the token that they came for. Bounded; what was used longest ago goes first. */
export class ResponseCache {
  readonly #mostBytes: number
  readonly #responses = new Map<string, CachedResponse>()
  #bytes = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  find(token: string, url: string): CachedResponse | undefined {
    const key = keyOf(token, url)
    const response = this.#responses.get(key)
    if (response) {
      this.#responses.delete(key)
      this.#responses.set(key, response)
    }
    return response
  }

  keep(token: string, url: string, response: CachedResponse): void {
    const key = keyOf(token, url)
    this.#drop(key)
    if (weightOf(key, response) > this.#mostBytes) return
    this.#responses.set(key, response)
    this.#bytes += weightOf(key, response)
    for (const oldest of this.#responses.keys()) {
      if (this.#bytes <= this.#mostBytes) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const response = this.#responses.get(key)
    if (!response) return
    this.#responses.delete(key)
    this.#bytes -= weightOf(key, response)
  }
}

const keyOf = (token: string, url: string): string => `${token} ${url}`

/** A character takes up to two bytes. */
const weightOf = (key: string, { text }: CachedResponse): number => overheadBytes + 2 * (key.length + text.length)
