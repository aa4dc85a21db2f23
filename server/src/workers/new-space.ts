import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** V8 looks at it when it makes the space larger; the limit itself can only be set before the program starts. */
const grows = (doesGrow: boolean): void => setFlagsFromString(`--semi-space-growth-factor=${doesGrow ? 2 : 1}`)

/**
 * In a busy thread V8 lets the space for new objects, nearly all of them garbage, grow to 64 MiB, which fits into no cache of the processor.
 * While little happens it shrinks to 2 MiB, where those of requests in flight soon count as old, and a hundred MiB of these pile up until they
 * are collected. From any size it may grow up to `mebibytes`.
 */
export const boundNewSpace = (mebibytes: number): void => {
  const bound = () => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    // It doubles, give or take a page.
    grows(space !== undefined && space.space_size < 0.75 * mebibytes * 1_048_576)
  }
  bound()
  new PerformanceObserver(bound).observe({ entryTypes: ['gc'] })
}
