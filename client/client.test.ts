import { runFolder } from '../server/test/run-folder.ts'

await runFolder(new URL('test/', import.meta.url))
