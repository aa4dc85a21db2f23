/** The numbers of `1.12.0`; what follows them, as in `1.12.0-rc.1`, is the same release to a database. */
const numbersOf = (version: string): number[] =>
  /^\d+\.\d+\.\d+(-|$)/.test(version) ? version.split(/[.-]/, 3).map(Number) : [Number.NaN]

export const compareVersions = (one: string, other: string): number => {
  const [left, right] = [numbersOf(one), numbersOf(other)]
  for (const [index, number] of left.entries()) {
    const difference = number - (right[index] ?? 0)
    if (difference !== 0) return Math.sign(difference)
  }
  return 0
}

/** True also where one of them is no version: what cannot be compared is refused. */
export const isOlder = (one: string, other: string): boolean => !(compareVersions(one, other) >= 0)
