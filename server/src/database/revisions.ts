/** Scopes share slots by their hashes: one that moves makes some others look moved, never the other way round. */
const slots = 65_536
/** The first two words say whether and when the stamps were last known, the third counts requests; the slots follow. */
const firstSlot = 3
/** Who may do what, of all tenants. */
export const identity = ''

/** A write of another process is seen within this time, or nothing is served from memory. */
const knownForMilliseconds = 750

/** For all the threads of a process. */
const newMemory = (): SharedArrayBuffer => new SharedArrayBuffer((firstSlot + slots) * 4)

/** Numbers that move whenever something in their scope, a tenant or `identity`, was written. */
export class Revisions {
  readonly memory: SharedArrayBuffer
  readonly #words: Int32Array

  constructor(memory = newMemory()) {
    this.memory = memory
    this.#words = new Int32Array(memory)
  }

  of(scope: string): number {
    return Atomics.load(this.#words, placeOf(scope))
  }

  move(scope: string): void {
    Atomics.add(this.#words, placeOf(scope), 1)
  }

  moveAll(): void {
    for (let place = firstSlot; place < this.#words.length; place++) Atomics.add(this.#words, place, 1)
  }

  /** All writes that had committed at this moment have moved their revisions. */
  noteKnown(at: number): void {
    Atomics.store(this.#words, 0, at | 0)
    Atomics.store(this.#words, 1, 1)
  }

  /** Counts a request of any thread. */
  noteRequest(): void {
    Atomics.add(this.#words, 2, 1)
  }

  get requests(): number {
    return Atomics.load(this.#words, 2)
  }

  /** Whether the revisions are recent enough to go by. */
  get areKnown(): boolean {
    return (
      Atomics.load(this.#words, 1) === 1 && ((clock() - Atomics.load(this.#words, 0)) & longest) < knownForMilliseconds
    )
  }
}

const placeOf = (scope: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < scope.length; index++) hash = Math.imul(hash ^ scope.charCodeAt(index), 0x01000193)
  return firstSlot + ((hash >>> 0) % slots)
}

const longest = 0x7fffffff

/** Milliseconds that no change of the date moves, the same in all threads; after 24 days they begin again. */
export const clock = (): number => Number(process.hrtime.bigint() / 1_000_000n) & longest
