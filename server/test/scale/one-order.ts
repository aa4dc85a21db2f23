/** What one caller did to a register, and when, by one clock. Every write has a value of its own. */
export type RegisterCall = { kind: 'read' | 'write'; value: string; began: number; ended: number }

type Zone = { value: string; from: number; to: number; isForward: boolean }

/**
 * Values that no single order of all calls explains, in which a read returns what was written last: nothing, if there is
 * such an order. All calls of a value stand together in it. Where they do not overlap in time, the value must have been
 * there from the first end to the last beginning of them (a forward zone); otherwise at some moment of the overlap. So two forward
 * zones must not overlap, and no other zone may lie within one.
 * (Gibbons and Korach, "Testing shared memories", 1997.)
 */
export const unexplained = (calls: readonly RegisterCall[]): string[] => {
  const byValue = Map.groupBy(calls, ({ value }) => value)
  const found = [...byValue.values()].flatMap((some) => {
    const write = some.find(({ kind }) => kind === 'write')
    if (!write) return [`"${some[0]?.value}" was read and never written`]
    const early = some.find(({ ended }) => ended < write.began)
    return early ? [`"${early.value}" was read before it was written`] : []
  })
  const zones = [...byValue].map(([value, some]): Zone => {
    const firstEnd = Math.min(...some.map(({ ended }) => ended))
    const lastBeginning = Math.max(...some.map(({ began }) => began))
    const isForward = firstEnd < lastBeginning
    return { value, isForward, from: Math.min(firstEnd, lastBeginning), to: Math.max(firstEnd, lastBeginning) }
  })
  const forward = zones.filter(({ isForward }) => isForward).sort((one, other) => one.from - other.from)
  forward.reduce(
    (before, zone) => {
      if (zone.from < before.to) found.push(`"${before.value}" and "${zone.value}" were there in turns`)
      return zone.to > before.to ? zone : before
    },
    { value: '', from: 0, to: Number.NEGATIVE_INFINITY, isForward: true } as Zone,
  )
  for (const { value, from, to } of zones.filter(({ isForward }) => !isForward)) {
    const around = forward.find((zone) => zone.from < from && to < zone.to)
    if (around) found.push(`"${value}" was there while "${around.value}" was`)
  }
  return found
}
