import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Of the space for new objects, nearly all of them garbage, both halves together: a larger one would not fit into the caches of the processor. */
export const newSpaceMebibytes = 8

/**
 * V8 collects old objects when they take so much more than after the last time. By its own choice it waits for up to 300, and for 10 to 100 where there
 * is little memory.
 */
const oldSpacePercent = 50

/** V8 reads this factor each time it enlarges the space. The maximum itself can only be set before the program starts. */
const growNewSpace = (doesGrow: boolean): void => setFlagsFromString(`--semi-space-growth-factor=${doesGrow ? 2 : 1}`)

const growOldSpace = (percent: number): void => setFlagsFromString(`--heap-growing-percent=${percent}`)

/**
 * Keeps memory from being filled with garbage only because there is room, in all threads. Modules are to be loaded before, because V8 does not take code
 * that was cached under another bound. Gives what lifts it.
 */
export const boundOldSpace = (): (() => void) => {
  growOldSpace(oldSpacePercent)
  return () => growOldSpace(0)
}

/**
 * The same, and in this thread the space for new objects grows to about its bound, which a long turn of the event loop may pass; V8 would let it grow to
 * 128 MiB in a busy thread. While little happens V8 shrinks it to 2, where what belongs to requests in flight soon counts as old, so it must be able to
 * grow again.
 */
export const boundHeap = (): (() => void) => {
  const boundNewSpace = () => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    // It doubles.
    growNewSpace(space !== undefined && space.space_size < 0.75 * newSpaceMebibytes * 1_048_576)
  }
  boundNewSpace()
  const liftFromOldSpace = boundOldSpace()
  const observer = new PerformanceObserver(boundNewSpace)
  observer.observe({ entryTypes: ['gc'] })
  return () => {
    observer.disconnect()
    growNewSpace(true)
    liftFromOldSpace()
  }
}
