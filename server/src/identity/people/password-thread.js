import { argon2Sync } from 'node:crypto'
import { parentPort } from 'node:worker_threads'

// In JavaScript, because for a thread that begins with TypeScript Node would load its compiler.
parentPort?.on('message', (given) => parentPort?.postMessage(argon2Sync('argon2id', given)))
