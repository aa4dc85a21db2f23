import { DatabaseError } from 'pg'
import { type Logger, pino, stdTimeFunctions } from 'pino'
import { codeOf } from '../error-message.ts'
import type { LogLevel } from './level.ts'
import { LogOutput } from './output.ts'

export type Log = Logger

let output: LogOutput | null = null

/** The lines of this thread that could not be written. */
export const droppedLines = (): number => output?.dropped ?? 0

/** Writes JSON lines to standard error, each in one write, so that those of several threads do not mix. */
export const openLog = ({ level, worker }: { level: LogLevel; worker?: number }): Log => {
  output ??= new LogOutput()
  const log = pino(
    {
      level,
      base: { pid: process.pid, ...(worker !== undefined && { worker }) },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
    },
    output,
  )
  output.onResume ??= (dropped) => log.error({ dropped }, 'lines of the log were dropped: nobody read them')
  return log
}

/** Leaves out everything that may contain data of a caller. */
const serializeError = (error: Error) => ({
  type: error.name,
  code: codeOf(error) || undefined,
  ...(isDatabaseError(error) && { table: error.table, column: error.column, constraint: error.constraint }),
  message: messageWithoutValues(error),
  // The stack begins with the message, which may have several lines.
  stack: error.stack?.match(/^ {4}at .*$/gm)?.join('\n'),
})

/** The messages of these SQLSTATE classes contain names of tables, columns and limits, but no data. */
const classesWithoutData = new Set(['08', '23', '25', '26', '28', '3D', '40', '42', '53', '54', '55', '57', '58'])

/** An error from another thread has lost its class, but not its code. The codes of Node begin with an E. */
const isDatabaseError = (error: Error): error is DatabaseError =>
  error instanceof DatabaseError || ('code' in error && /^(?!E)(?=.*\d)[0-9A-Z]{5}$/.test(String(error.code)))

const messageWithoutValues = (error: Error): string => {
  if (isDatabaseError(error) && !classesWithoutData.has(error.code?.slice(0, 2) ?? ''))
    return 'the database refused a value'
  // The messages of JSON.parse quote the text. An error of another process has its name, and not its class.
  return error.name === 'SyntaxError' ? 'a text could not be parsed' : error.message
}
