import type { FastifyBaseLogger } from 'fastify'
import { destination, pino } from 'pino'

export type Log = FastifyBaseLogger
export type LogOptions = { level: 'silent' | 'warn' /** which of several threads speaks */; worker?: number }

/** JSON lines on standard error, each in one write, so that those of several threads do not mix. */
export const openLog = ({ level, worker }: LogOptions): Log => {
  const stderr = destination({ fd: 2, sync: true })
  // Who reads the log may go; the service stays.
  stderr.on('error', () => {})
  const base = { pid: process.pid, ...(worker !== undefined && { worker }) }
  return pino({ level, base, serializers: { err: withoutValues } }, stderr)
}

/** Details of a database error can hold what a caller sent. */
const withoutValues = (error: Error) => ({
  type: error.name,
  code: 'code' in error ? String(error.code) : undefined,
  message: error.message,
  stack: error.stack ?? '',
})
