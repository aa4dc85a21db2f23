import { runFolder } from '../test/run-folder.ts'

await runFolder(new URL('../src/identity/', import.meta.url))
await runFolder(new URL('../src/audit/', import.meta.url))
