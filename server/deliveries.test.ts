import { runFolder } from './test/run-folder.ts'

await runFolder(new URL('src/deliveries/', import.meta.url))
