import { runFolder } from './run-folder.ts'

await runFolder(new URL('portal/', import.meta.url))
