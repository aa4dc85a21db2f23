import nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

// As in main.js: what was compiled is kept, and this file is no TypeScript.
nodeModule.enableCompileCache(fileURLToPath(new URL('../../../.compiled', import.meta.url)))
await import('./run-work.ts')
