/**
 * Options of an LRU cache for so many entries. Its `max` makes room for all of them at once, 3 ms for 10,000, which every start would pay for
 * several caches; with `maxSize` it makes room as they come.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 })
