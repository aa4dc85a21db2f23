import { execFileSync } from 'node:child_process'

/** Runs a program of others, and answers what it printed. */
export const run = (
  program: string,
  args: readonly string[],
  options: { input?: string; env?: NodeJS.ProcessEnv } = {},
): string =>
  execFileSync(program, args, {
    ...(options.input !== undefined && { input: options.input }),
    env: { ...process.env, ...options.env },
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  })

/** What made.json notes of a file. */
export type Made = { program: string; version: string; command: string }
