import { runFolder } from '../test/run-folder.ts'

await runFolder(new URL('../src/records/', import.meta.url))
