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

// What was compiled is kept beside the source, in a folder that nobody can write to who could not change the source too.
// Where it cannot be written, everything only starts more slowly. Every thread says so for itself, and this file is no
// TypeScript, because without what was kept the first such file has Node load its compiler.
nodeModule.enableCompileCache(fileURLToPath(new URL('../.compiled', import.meta.url)))
await (isMainThread ? import('./commands/command-line.ts') : import('./workers/worker-thread.ts'))
