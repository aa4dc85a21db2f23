import { runFolder } from '../test/run-folder.ts'

await runFolder(new URL('../src/http/', import.meta.url))
