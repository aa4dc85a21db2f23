import { DatabaseError } from 'pg'
import { type Logger, pino, stdTimeFunctions } from 'pino'
import type { LogLevel } from './level.ts'
import { LogOutput } from './output.ts'

export type Log = Logger
export type LogOptions = { level: LogLevel /** which of several threads speaks */; worker?: number }

let output: LogOutput | null = null

/** Lines of this thread that could not be written. */
export const droppedLines = (): number => output?.dropped ?? 0

/** JSON lines on standard error, each in one write, so that those of several threads do not mix. */
export const openLog = ({ level, worker }: LogOptions): Log => {
  output ??= new LogOutput()
  const log = pino(
    {
      level,
      base: { pid: process.pid, ...(worker !== undefined && { worker }) },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: withoutValues },
    },
    output,
  )
  output.onFlow ??= (dropped) => log.error({ dropped }, 'lines of the log were dropped: nobody read them')
  return log
}

/** What went wrong and where, without what a caller sent. */
const withoutValues = (error: Error) => ({
  type: error.name,
  code: 'code' in error ? String(error.code) : undefined,
  ...(isOfDatabase(error) && { table: error.table, column: error.column, constraint: error.constraint }),
  message: messageWithoutValues(error),
  // It begins with the message, which may have several lines.
  stack: error.stack?.match(/^ {4}at .*$/gm)?.join('\n'),
})

/** Classes of SQLSTATE whose messages name tables, columns and limits, but no data; their details would. */
const tellingClasses = new Set(['08', '23', '25', '26', '28', '3D', '40', '42', '53', '54', '55', '57', '58'])

/** Also one that came from another thread, by which it has lost its class. Node's own codes begin with an E. */
const isOfDatabase = (error: Error): error is DatabaseError =>
  error instanceof DatabaseError || ('code' in error && /^(?!E)(?=.*\d)[0-9A-Z]{5}$/.test(String(error.code)))

const messageWithoutValues = (error: Error): string => {
  if (isOfDatabase(error) && !tellingClasses.has(error.code?.slice(0, 2) ?? '')) return 'the database refused a value'
  // Those of JSON.parse quote the text.
  return error instanceof SyntaxError ? 'a text could not be parsed' : error.message
}
