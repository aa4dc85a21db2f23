import { executionAsyncResource } from 'node:async_hooks'

/**
 * One of the objects that `process.nextTick` queues, several for each answer. When a collection finds none of them, V8
 * forgets their shape, and from then on they are made by a way that costs a fifth of what an answer from memory does. It
 * remembers the shape of what is kept. (docs/decisions/0008-one-tick-is-kept.md)
 *
 * @type {object}
 */
export const keptTick = await new Promise((keep) => process.nextTick(() => keep(executionAsyncResource())))
