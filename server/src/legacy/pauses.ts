const second = 1_000
const shortest = 5 * second
const longest = 3_600 * second

/** How long a delivery rests after its n-th attempt: twice as long each time, and never all at the same moment. */
export const pauseAfter = (attempt: number, random = Math.random): number =>
  Math.min(shortest * 2 ** Math.min(attempt - 1, 20), longest) * (0.75 + random() / 2)
