import { runFolder } from '../test/run-folder.ts'

await runFolder(new URL('../src/database/', import.meta.url))
