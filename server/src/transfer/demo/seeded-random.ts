export type Weighted<T> = readonly (readonly [value: T, weight: number])[]

export const weighted = <T>(values: readonly T[], weights: readonly number[]): Weighted<T> =>
  values.map((value, index) => [value, weights[index] ?? 0])

/** sfc32: fast, and its 128 bits of state keep identifiers apart over billions of draws. */
export class SeededRandom {
  #a: number
  #b: number
  #c = 0x9e3779b9
  #counter = 1

  constructor(seed: number) {
    this.#a = seed | 0
    this.#b = Math.floor(seed / 2 ** 32) | 0
    // Neighbouring seeds start out alike; the first rounds drive them apart.
    for (let round = 0; round < 16; round++) this.uint32()
  }

  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return sum >>> 0
  }

  between(lowest: number, highest: number): number {
    return lowest + Math.floor((this.uint32() / 2 ** 32) * (Math.max(lowest, highest) - lowest + 1))
  }

  chance(percent: number): boolean {
    return this.uint32() < (percent / 100) * 2 ** 32
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)]
    if (item === undefined) throw new RangeError('nothing to pick from')
    return item
  }

  weighted<T>(items: Weighted<T>): T {
    const total = items.reduce((sum, [, weight]) => sum + weight, 0)
    let left = this.between(1, total)
    for (const [value, weight] of items) {
      left -= weight
      if (left <= 0) return value
    }
    throw new RangeError('nothing to pick from')
  }

  maybe<T>(percent: number, items: readonly T[]): T | null {
    return this.chance(percent) ? this.pick(items) : null
  }

  /** Sometimes unknown, as in records of long ago. */
  flag(percentTrue: number): boolean | null {
    return this.chance(3) ? null : this.chance(percentTrue)
  }

  /** Puts a digit for every `#`. */
  digits(pattern: string): string {
    return pattern.replaceAll('#', () => String(this.between(0, 9)))
  }

  uuidV7(milliseconds: number): string {
    const timeHigh = Math.floor(milliseconds / 2 ** 16)
    const middle = this.uint32()
    const version = hex16(0x7000 | (middle & 0xfff))
    const variant = hex16(0x8000 | ((middle >>> 12) & 0x3fff))
    const tail = hex32(this.uint32()) + hex16(this.uint32())
    return `${hex32(timeHigh)}-${hex16(milliseconds)}-${version}-${variant}-${tail}`
  }
}

const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

const hex32 = (value: number): string => hex16(value >>> 16) + hex16(value)

const hex16 = (value: number): string => `${hexBytes[(value >>> 8) & 0xff]}${hexBytes[value & 0xff]}`
