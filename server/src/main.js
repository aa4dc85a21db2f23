#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'

// What was compiled is kept beside the source, in a folder that nobody can write to who could not change the source too.
// Where it cannot be written, everything only starts more slowly. Every thread says so for itself, and this file is no
// TypeScript, because without what was kept the first such file has Node load its compiler.
enableCompileCache(fileURLToPath(new URL('../.compiled', import.meta.url)))
await (isMainThread ? import('./commands/command-line.ts') : import('./workers/worker-thread.ts'))
