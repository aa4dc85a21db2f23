import { runFolder } from '../test/run-folder.ts'

await runFolder(new URL('../src/transfer/', import.meta.url), '{*,!(import|runs)/**/*}.test.ts')
