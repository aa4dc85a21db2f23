#!/usr/bin/env node
import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { keepTick } from './http/node-internals/kept-tick.js'

await keepTick()

// Node 24.7 brought what hashes passwords.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major !== 24 || minor < 7) await (await import('./own-node.js')).continueInOwnNode()

// The compile cache lies beside the source, in a folder that only those can write to who can change the source too. Where
// it cannot be written, the start is only slower. Each thread enables it, and this file is JavaScript, because without the
// cache Node would load its compiler for the first TypeScript file.
nodeModule.enableCompileCache(fileURLToPath(new URL('../.compiled', import.meta.url)))
await (isMainThread ? import('./commands/command-line.ts') : import('./workers/worker-thread.ts'))
