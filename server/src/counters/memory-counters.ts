import { hash } from 'node:crypto'
import { type Budget, type Counters, type Demand, type Taken, type Window, windowMilliseconds } from './counters.ts'

/** The counts of one process, which all its threads share. */
export type CounterMemory = {
  buffer: SharedArrayBuffer
  /** How many threads count in it. */
  threads: number
}

/** So many keys are remembered of callers, and so many of strangers. */
const entries = 65_536
/** A key has its place in one bucket, wherever it is free there. */
const bucketSize = 8
/** Of a key and a window; those of callers have what is under way in each thread besides. */
const bytesOfEntry = 16

export const newCounterMemory = (threads = 1): CounterMemory => ({
  buffer: new SharedArrayBuffer(entries * (2 * bytesOfEntry + 4 * threads)),
  threads,
})

/**
 * Counts in memory that the threads of a process share, without locks: a thread that dies leaves none behind. Its memory
 * is fixed. When more keys are in use than it holds, the oldest window of a bucket is forgotten and begins anew, and what
 * finds no place at all is not counted: too much is let through then, and nobody is refused for it.
 */
export class MemoryCounters implements Counters {
  readonly #tables: Record<Demand['from'], Table>
  readonly #now: () => number
  /** Of budgets that are asked for again and again. */
  readonly #keys = new WeakMap<Budget, bigint>()

  /** `thread` tells the threads apart, from 0; who takes the place of one that died also ends its requests. */
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
    const places = budgets.map((budget) => table.find(this.#keyOf(budget), now))
    const spent = budgets.findIndex(({ quota }, index) => !table.charge(places[index], quota, now))
    const charged = spent < 0 ? places : places.slice(0, spent)
    const giveBack = () => {
      for (const place of charged) table.refund(place)
    }
    const isFull = spent < 0 && atOnce !== undefined && !table.enter(places[0], atOnce)
    if (spent >= 0 || isFull) giveBack()
    const windows = places.map((place) => table.window(place, now))
    if (spent >= 0 || isFull)
      return { windows, refusedBy: isFull ? 'atOnce' : spent, refund: () => {}, leave: () => {} }
    return {
      ...{ windows, refusedBy: null },
      refund: () => {
        giveBack()
        for (const window of windows) window.used--
      },
      leave: () => {
        if (atOnce !== undefined) table.leave(places[0])
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

/** What can be read of neither a token nor an address. Zero is an empty place. */
const keyOf = (text: string): bigint => hash('sha256', text, 'buffer').readBigUInt64LE() || 1n

/** Where a key is, as long as it is still that key's; undefined when there was no room for it. */
type Place = { index: number; key: bigint; endsAt: number } | undefined

/**
 * A window is one word, so that it changes as a whole: the instant of its end in 34 bits of milliseconds, which come round
 * after half a year, and above what any quota can be, 30 bits of requests.
 */
const usedBits = 30n
const usedMask = (1n << usedBits) - 1n
const instants = 2 ** 34
const packed = (endsAt: number, used: number): bigint => (BigInt(endsAt) << usedBits) | BigInt(used)
const endOf = (word: bigint): number => Number(word >> usedBits)
const usedOf = (word: bigint): number => Number(word & usedMask)
/** One thread may have looked at the clock a moment before another began the window. */
const toleranceMilliseconds = 1_000
/** Zero when it is over, also when somebody has set the clock back. */
const leftOf = (word: bigint, now: number): number => {
  const left = (endOf(word) - (now % instants) + instants) % instants
  return left <= windowMilliseconds + toleranceMilliseconds ? Math.min(left, windowMilliseconds) : 0
}

const mostTries = 16

/** Of the bucket in which a key has its place. */
const startOf = (key: bigint): number => Number(key % BigInt(entries / bucketSize)) * bucketSize

class Table {
  readonly #keys: BigUint64Array
  readonly #windows: BigUint64Array
  /** Of each entry, the requests under way in each thread. */
  readonly #running: Int32Array
  readonly #threads: number
  readonly #thread: number

  constructor({ buffer, threads }: CounterMemory, offset: number, thread: number) {
    this.#keys = new BigUint64Array(buffer, offset, entries)
    this.#windows = new BigUint64Array(buffer, offset + 8 * entries, entries)
    this.#running = new Int32Array(buffer, offset + bytesOfEntry * entries, entries * threads)
    this.#threads = threads
    this.#thread = thread
    for (let index = this.#thread; index < this.#running.length; index += threads) {
      // Memory that nobody has written to yet is not even there.
      if (Atomics.load(this.#running, index) !== 0) Atomics.store(this.#running, index, 0)
    }
  }

  /** Where the key is counted already. */
  seek(key: bigint): Place {
    const start = startOf(key)
    for (let index = start; index < start + bucketSize; index++)
      if (Atomics.load(this.#keys, index) === key) return { index, key, endsAt: 0 }
    return undefined
  }

  /**
   * Where the key is counted, or from now on will be. Two threads may disagree for the moment in which an entry changes
   * hands; then a request is missing in a count, or is in another's until it ends.
   */
  find(key: bigint, now: number): Place {
    const start = startOf(key)
    for (let tries = 0; tries < mostTries; tries++) {
      let oldest: { index: number; key: bigint; left: number } | undefined
      for (let index = start; index < start + bucketSize; index++) {
        // Before the key: whoever has just taken the entry for it and is under way there is seen by the key then.
        const isIdle = this.#underWay(index) === 0
        const known = Atomics.load(this.#keys, index)
        if (known === key) return { index, key, endsAt: 0 }
        const left = known === 0n ? -1 : leftOf(Atomics.load(this.#windows, index), now)
        if (isIdle && (!oldest || left < oldest.left)) oldest = { index, key: known, left }
      }
      if (!oldest) return undefined
      const { index } = oldest
      // Before the entry changes hands: afterwards others may have counted in it. A window that is over ends by itself.
      if (oldest.left > 0) Atomics.store(this.#windows, index, 0n)
      if (Atomics.compareExchange(this.#keys, index, oldest.key, key) === oldest.key) return { index, key, endsAt: 0 }
    }
    return undefined
  }

  /** False when the window is spent. */
  charge(place: Place, quota: number, now: number): boolean {
    if (!place) return true
    for (;;) {
      const word = Atomics.load(this.#windows, place.index)
      const isOver = leftOf(word, now) === 0
      if (!isOver && usedOf(word) >= quota) return false
      const next = isOver ? packed((now + windowMilliseconds) % instants, 1) : word + 1n
      place.endsAt = endOf(next)
      if (Atomics.compareExchange(this.#windows, place.index, word, next) === word) return true
    }
  }

  /** Only in the window that was charged. */
  refund(place: Place): void {
    if (!place) return
    for (;;) {
      const word = Atomics.load(this.#windows, place.index)
      const isAnother = Atomics.load(this.#keys, place.index) !== place.key || endOf(word) !== place.endsAt
      if (isAnother || usedOf(word) === 0) return
      if (Atomics.compareExchange(this.#windows, place.index, word, word - 1n) === word) return
    }
  }

  window(place: Place, now: number): Window {
    const word = place ? Atomics.load(this.#windows, place.index) : 0n
    const left = leftOf(word, now)
    return left === 0
      ? { used: 0, millisecondsLeft: windowMilliseconds }
      : { used: usedOf(word), millisecondsLeft: left }
  }

  /** False when too many are under way. Counted first, so that threads that come together are not let in too many. */
  enter(place: Place, most: number): boolean {
    if (!place) return true
    Atomics.add(this.#running, this.#own(place.index), 1)
    if (this.#underWay(place.index) <= most) return true
    this.leave(place)
    return false
  }

  leave(place: Place): void {
    if (place) Atomics.sub(this.#running, this.#own(place.index), 1)
  }

  #underWay(index: number): number {
    let sum = 0
    for (let thread = 0; thread < this.#threads; thread++)
      sum += Atomics.load(this.#running, index * this.#threads + thread)
    return sum
  }

  #own(index: number): number {
    return index * this.#threads + this.#thread
  }
}
