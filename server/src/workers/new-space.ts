import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Of the space for new objects, nearly all of them garbage, both halves together: a larger one would not fit into the caches of the processor. */
export const newSpaceMebibytes = 8

/** V8 reads this factor each time it enlarges the space. The maximum itself can only be set before the program starts. */
const grows = (doesGrow: boolean): void => setFlagsFromString(`--semi-space-growth-factor=${doesGrow ? 2 : 1}`)

/**
 * Lets the space for new objects grow to about its bound, which a long turn of the event loop may pass; V8 would let it grow to 128 MiB in a busy
 * thread. While little happens V8 shrinks it to 2, where what belongs to requests in flight soon counts as old, and a hundred MiB of that pile up until
 * they are collected: so it must be able to grow again. Modules are to be loaded before, because V8 does not take code that was cached under another
 * factor. Gives what lifts the bound.
 */
export const boundNewSpace = (): (() => void) => {
  const bound = () => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    // It doubles.
    grows(space !== undefined && space.space_size < 0.75 * newSpaceMebibytes * 1_048_576)
  }
  bound()
  const observer = new PerformanceObserver(bound)
  observer.observe({ entryTypes: ['gc'] })
  return () => {
    observer.disconnect()
    grows(true)
  }
}
