import { runFolder } from '../test/run-folder.ts'

await runFolder(new URL('../src/authorization-server/', import.meta.url))
