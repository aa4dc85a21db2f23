import { runFolder } from '../test/run-folder.ts'

await runFolder(new URL('../src/resources/', import.meta.url))
await runFolder(new URL('../src/management/', import.meta.url))
await runFolder(new URL('../src/console/', import.meta.url))
