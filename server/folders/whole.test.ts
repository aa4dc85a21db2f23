import { runFolder } from '../test/run-folder.ts'

await runFolder(new URL('../test/whole/', import.meta.url))
