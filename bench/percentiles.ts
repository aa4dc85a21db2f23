/** Of sorted values, the one that the given share of them does not exceed. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor(sorted.length * share)] ?? Number.NaN

/** Of those that are numbers. */
export const median = (values: readonly number[]): number => {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
  return (percentile(sorted, 0.5) + (sorted[(sorted.length - 1) >> 1] ?? Number.NaN)) / 2
}
