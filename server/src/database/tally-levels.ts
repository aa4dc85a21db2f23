/** Tallies are kept in blocks of 2^level positions; the last level is one block, the total. */
export const tallyLevels = [10, 16, 22, 62] as const
export const totalLevel = tallyLevels[3]
