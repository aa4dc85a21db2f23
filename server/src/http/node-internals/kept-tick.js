import { executionAsyncResource } from 'node:async_hooks'

/**
 * One of the objects that `process.nextTick` queues, several for each response. When a garbage collection finds none of
 * them, V8 forgets their shape, and from then on makes them in a slow way; it remembers the shape of what is kept. That
 * gains a fifth of the rate of cached responses: 47,500 a second against 38,100 (docs/decisions/0008-one-tick-is-kept.md).
 *
 * @type {object | null}
 */
let kept = null

export const keepTick = async () => {
  kept = await new Promise((keep) => process.nextTick(() => keep(executionAsyncResource())))
  return kept
}

/** Turns it off. */
export const releaseTick = () => {
  kept = null
}
