#!/usr/bin/env node
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { keepTick } from './http/node-internals/kept-tick.js'

await keepTick()

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  process.stderr.write(
    `masthead: this is Node ${major}, and 24 is needed; \`npx masthead\`, in the folder of the project, finds the one that npm installed\n`,
  )
  process.exit(1)
}

// The compile cache lies beside the source, in a folder that only those can write to who can change the source too. Where
// it cannot be written, the start is only slower. Each thread enables it, and this file is JavaScript, because without the
// cache Node would load its compiler for the first TypeScript file.
nodeModule.enableCompileCache(fileURLToPath(new URL('../.compiled', import.meta.url)))
await (isMainThread ? import('./commands/command-line.ts') : import('./workers/worker-thread.ts'))
