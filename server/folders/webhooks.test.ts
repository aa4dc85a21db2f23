import { runFolder } from '../test/run-folder.ts'

await runFolder(new URL('../src/webhooks/', import.meta.url))
