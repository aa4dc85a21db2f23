import { runFolder } from './run-folder.ts'

await runFolder(new URL('records/', import.meta.url))
