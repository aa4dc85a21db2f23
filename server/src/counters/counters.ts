/** Requests are counted in windows of this length; a window begins with its first request. */
export const windowMilliseconds = 60_000

export type Budget = { key: string; quota: number }

export type Demand = {
  /**
   * Callers are known by their tokens. Strangers are counted by address and the like, of which anybody can have many: they
   * must not push the counts of callers out of a bounded memory.
   */
  from: 'callers' | 'strangers'
  budgets: readonly [Budget, ...Budget[]]
  /** The most requests in flight under the key of the first budget. */
  atOnce?: number
}

export type Window = { used: number; millisecondsLeft: number }

/** A demand is counted as a whole, or refused and not counted at all. */
export type Taken = {
  /** One for each budget, including this request when it was counted. */
  windows: Window[]
  /** The index of the first budget that is spent, or `atOnce` when too many requests are in flight. */
  refusedBy: number | 'atOnce' | null
  refund: () => void
  leave: () => void
}

export const refusal = (windows: Window[], refusedBy: number | 'atOnce'): Taken => ({
  windows,
  refusedBy,
  refund: () => {},
  leave: () => {},
})

export type Counters = {
  take: (demand: Demand) => Taken | Promise<Taken>
  /** Reads a window without counting, and without taking the place of another key. */
  look: (from: Demand['from'], budget: Budget) => Window | Promise<Window>
}
