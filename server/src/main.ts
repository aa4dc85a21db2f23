#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// What was compiled is kept beside the source, in a folder that nobody can write to who could not change the source too.
// Where it cannot be written, everything only starts more slowly.
enableCompileCache(fileURLToPath(new URL('../.compiled', import.meta.url)))
await import('./commands/command-line.ts')
