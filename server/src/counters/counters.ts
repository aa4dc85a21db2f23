/** Requests are counted in windows of this length; one begins with the first request that falls into it. */
export const windowMilliseconds = 60_000

/** At most `quota` requests under `key` in a window. */
export type Budget = { key: string; quota: number }

/** What a request asks to be counted against. */
export type Demand = {
  /**
   * Callers are known by their tokens. What strangers are counted by, addresses and the like, anybody can have many of:
   * they must not push the counts of callers out of a bounded memory.
   */
  from: 'callers' | 'strangers'
  budgets: readonly [Budget, ...Budget[]]
  /** At most this many requests under the key of the first budget may be under way at once. */
  atOnce?: number
}

export type Window = { used: number; millisecondsLeft: number }

/** What became of a demand: all of it was counted, or, when it was refused, nothing. */
export type Taken = {
  /** One for each budget, this request included when it was counted. */
  windows: Window[]
  /** The place of the first budget that is spent, or that too many are under way. */
  refusedBy: number | 'atOnce' | null
  /** Gives back what was counted in the windows. */
  refund: () => void
  /** The request is no longer under way. */
  leave: () => void
}

/** Where requests are counted. */
export type Counters = {
  take: (demand: Demand) => Taken | Promise<Taken>
  /** The window of a budget as it stands; nothing is counted, and nobody's count makes room for it. */
  look: (from: Demand['from'], budget: Budget) => Window | Promise<Window>
}
