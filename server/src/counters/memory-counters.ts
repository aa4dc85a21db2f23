import { hash } from 'node:crypto'
import type { Budget, Counters, Demand, Taken, Window } from './counters.ts'
import { refusal, windowMilliseconds } from './counters.ts'

export type CounterMemory = { buffer: SharedArrayBuffer; threads: number }

/** The number of keys of callers, and as many of strangers. */
const entries = 65_536
/** A key can be at any slot of its bucket. */
const bucketSize = 8
/** A key and a window; an entry of a caller also has the requests in flight of each thread. */
const bytesOfEntry = 16

export const newCounterMemory = (threads = 1): CounterMemory => ({
  buffer: new SharedArrayBuffer(entries * (2 * bytesOfEntry + 4 * threads)),
  threads,
})

/**
 * Counts in memory that the threads of a process share, without locks: a thread that dies leaves none behind. The memory is
 * fixed. When more keys are in use than fit, the oldest window of a bucket begins again, and a key without a slot is not
 * counted: too many requests pass then, and none is refused by mistake.
 */
export class MemoryCounters implements Counters {
  readonly #tables: Record<Demand['from'], Table>
  readonly #now: () => number
  readonly #keys = new WeakMap<Budget, bigint>()

  /** Threads are numbered from 0; the successor of a thread that died also ends its requests. */
  constructor({ buffer, threads } = newCounterMemory(), thread = 0, now = Date.now) {
    this.#now = now
    this.#tables = {
      strangers: new Table({ buffer, threads: 0 }, 0, thread),
      callers: new Table({ buffer, threads }, entries * bytesOfEntry, thread),
    }
  }

  take({ from, budgets, atOnce }: Demand): Taken {
    const table = this.#tables[from]
    const now = this.#now()
    const slots = budgets.map((budget) => table.find(this.#keyOf(budget), now))
    const spent = budgets.findIndex(({ quota }, index) => !table.charge(slots[index], quota, now))
    const giveBack = () => {
      for (const slot of spent < 0 ? slots : slots.slice(0, spent)) table.refund(slot)
    }
    const isFull = spent < 0 && atOnce !== undefined && !table.enter(slots[0], atOnce)
    if (spent >= 0 || isFull) giveBack()
    const windows = slots.map((slot) => table.window(slot, now))
    if (spent >= 0 || isFull) return refusal(windows, isFull ? 'atOnce' : spent)
    return {
      windows,
      refusedBy: null,
      refund: () => {
        giveBack()
        for (const window of windows) window.used--
      },
      leave: () => {
        if (atOnce !== undefined) table.leave(slots[0])
      },
    }
  }

  look(from: Demand['from'], { key }: Budget): Window {
    const table = this.#tables[from]
    return table.window(table.seek(keyOf(key)), this.#now())
  }

  #keyOf(budget: Budget): bigint {
    const known = this.#keys.get(budget)
    if (known !== undefined) return known
    const key = keyOf(budget.key)
    this.#keys.set(budget, key)
    return key
  }
}

/** A hash, because keys hold tokens and addresses. Zero marks an empty slot. */
const keyOf = (text: string): bigint => hash('sha256', text, 'buffer').readBigUInt64LE() || 1n

/** The slot of a key, valid while `key` is stored there; undefined when there was no room. */
type Slot = { index: number; key: bigint; endsAt: number } | undefined

/**
 * A window is one word, so that it changes atomically: its end in 34 bits of milliseconds, which wrap around after half a
 * year, and the requests in 30 bits, more than any quota.
 */
const usedBits = 30n
const usedMask = (1n << usedBits) - 1n
const instants = 2 ** 34
const packed = (endsAt: number, used: number): bigint => (BigInt(endsAt) << usedBits) | BigInt(used)
const endOf = (word: bigint): number => Number(word >> usedBits)
const usedOf = (word: bigint): number => Number(word & usedMask)
/** A thread may have read the clock a moment before another began the window. */
const toleranceMilliseconds = 1_000
/** Zero when the window has ended, or the clock was set back. */
const leftOf = (word: bigint, now: number): number => {
  const left = (endOf(word) - (now % instants) + instants) % instants
  return left <= windowMilliseconds + toleranceMilliseconds ? Math.min(left, windowMilliseconds) : 0
}

const mostTries = 16

const startOf = (key: bigint): number => Number(key % BigInt(entries / bucketSize)) * bucketSize

class Table {
  readonly #keys: BigUint64Array
  readonly #windows: BigUint64Array
  readonly #requests: Int32Array
  readonly #threads: number
  readonly #thread: number

  constructor({ buffer, threads }: CounterMemory, offset: number, thread: number) {
    this.#keys = new BigUint64Array(buffer, offset, entries)
    this.#windows = new BigUint64Array(buffer, offset + 8 * entries, entries)
    this.#requests = new Int32Array(buffer, offset + bytesOfEntry * entries, entries * threads)
    this.#threads = threads
    this.#thread = thread
    for (let index = this.#thread; index < this.#requests.length; index += threads) {
      // Reading does not allocate pages that were never written.
      if (Atomics.load(this.#requests, index) !== 0) Atomics.store(this.#requests, index, 0)
    }
  }

  /** Undefined when the key is not counted yet. */
  seek(key: bigint): Slot {
    const start = startOf(key)
    for (let index = start; index < start + bucketSize; index++)
      if (Atomics.load(this.#keys, index) === key) return { index, key, endsAt: 0 }
    return undefined
  }

  /**
   * Finds or makes a slot for the key. Two threads may disagree at the moment in which an entry gets another key; then a
   * request is not counted, or counts for the other key until it ends.
   */
  find(key: bigint, now: number): Slot {
    const start = startOf(key)
    for (let tries = 0; tries < mostTries; tries++) {
      let oldest: { index: number; key: bigint; left: number } | undefined
      for (let index = start; index < start + bucketSize; index++) {
        // This is read before the key: a thread that has just taken the entry is then seen by its key.
        const isIdle = this.#inFlight(index) === 0
        const known = Atomics.load(this.#keys, index)
        if (known === key) return { index, key, endsAt: 0 }
        const left = known === 0n ? -1 : leftOf(Atomics.load(this.#windows, index), now)
        if (isIdle && (!oldest || left < oldest.left)) oldest = { index, key: known, left }
      }
      if (!oldest) return undefined
      const { index } = oldest
      // The window is cleared before the key changes: afterwards other threads may count in it.
      if (oldest.left > 0) Atomics.store(this.#windows, index, 0n)
      if (Atomics.compareExchange(this.#keys, index, oldest.key, key) === oldest.key) return { index, key, endsAt: 0 }
    }
    return undefined
  }

  /** False when the quota is used up. */
  charge(slot: Slot, quota: number, now: number): boolean {
    if (!slot) return true
    for (;;) {
      const word = Atomics.load(this.#windows, slot.index)
      const hasEnded = leftOf(word, now) === 0
      if (!hasEnded && usedOf(word) >= quota) return false
      const next = hasEnded ? packed((now + windowMilliseconds) % instants, 1) : word + 1n
      slot.endsAt = endOf(next)
      if (Atomics.compareExchange(this.#windows, slot.index, word, next) === word) return true
    }
  }

  /** Refunds only in the window that was charged. */
  refund(slot: Slot): void {
    if (!slot) return
    for (;;) {
      const word = Atomics.load(this.#windows, slot.index)
      const isAnother = Atomics.load(this.#keys, slot.index) !== slot.key || endOf(word) !== slot.endsAt
      if (isAnother || usedOf(word) === 0) return
      if (Atomics.compareExchange(this.#windows, slot.index, word, word - 1n) === word) return
    }
  }

  window(slot: Slot, now: number): Window {
    const word = slot ? Atomics.load(this.#windows, slot.index) : 0n
    const left = leftOf(word, now)
    return { used: left === 0 ? 0 : usedOf(word), millisecondsLeft: left || windowMilliseconds }
  }

  /** False when too many are in flight. Counting comes first, so that concurrent threads do not let in too many. */
  enter(slot: Slot, most: number): boolean {
    if (!slot) return true
    Atomics.add(this.#requests, this.#own(slot.index), 1)
    if (this.#inFlight(slot.index) <= most) return true
    this.leave(slot)
    return false
  }

  leave(slot: Slot): void {
    if (slot) Atomics.sub(this.#requests, this.#own(slot.index), 1)
  }

  #inFlight(index: number): number {
    let sum = 0
    for (let thread = 0; thread < this.#threads; thread++)
      sum += Atomics.load(this.#requests, index * this.#threads + thread)
    return sum
  }

  #own(index: number): number {
    return index * this.#threads + this.#thread
  }
}
