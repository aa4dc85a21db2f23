import { runFolder } from './run-folder.ts'

await runFolder(new URL('administration/', import.meta.url))
