import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/** Loaded into a command by `--import`: making a key takes longer than PostgreSQL lets a transaction idle. */
const generate = crypto.generateKeyPair
const generateSlowly = (...given: unknown[]) => setTimeout(() => Reflect.apply(generate, crypto, given), 6_000)
// Among them what `promisify` looks for.
Object.defineProperties(generateSlowly, Object.getOwnPropertyDescriptors(generate))
Object.assign(crypto, { generateKeyPair: generateSlowly })
syncBuiltinESMExports()
