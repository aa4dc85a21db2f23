import nodeModule from 'node:module'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'

// Whoever serves goes first, also while this starts. On Linux it is the priority of this thread and of those that it begins.
try {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
} catch {
  // A system that denies it, as a hardened service may, lets it work all the same.
}
// As in main.js: what was compiled is kept, and this file is no TypeScript.
nodeModule.enableCompileCache(fileURLToPath(new URL('../../../.compiled', import.meta.url)))
await import('./run-work.ts')
