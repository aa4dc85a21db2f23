import { runFolder } from '../test/run-folder.ts'

const folder = new URL('../src/transfer/', import.meta.url)
// This one counts the processes of imports, which those after it use again.
await runFolder(folder, 'runs/sent-files.test.ts')
await runFolder(folder, '{import,runs}/**/!(sent-files).test.ts')
