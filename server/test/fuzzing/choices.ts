import fc from 'fast-check'

/** One of these, as often as their weights say. What fails with another is tried again with the first. */
export const among = <T>(...choices: [weight: number, arbitrary: fc.Arbitrary<T>][]): fc.Arbitrary<T> =>
  fc.oneof({ withCrossShrink: true }, ...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

/** The first, and now and then the other. */
export const mostly = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>, weight = 5): fc.Arbitrary<T> =>
  among([weight, usual], [1, other])

/** A list that reads better as a text. */
export const words = (text: string): string[] => text.trim().split(/\s+/)

export const joined = <A, B, C>(a: fc.Arbitrary<A>, b: fc.Arbitrary<B>, join: (a: A, b: B) => C): fc.Arbitrary<C> =>
  fc.tuple(a, b).map(([one, other]) => join(one, other))
