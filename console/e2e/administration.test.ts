import { runFolder } from './run-folder.ts'

await runFolder('administration')
