import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/** Loaded into a service by `--import`: its threads never come to serve. */
if (!isMainThread) {
  setInterval(() => {}, 1_000)
  writeSync(2, 'stuck\n')
  await new Promise(() => {})
}
