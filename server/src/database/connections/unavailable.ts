import pg from 'pg'
import { codeOf } from '../../error-message.ts'

/** Nothing is written: as a statement that writes fails on a standby, and as a transaction fails that is to write. */
const takesNoWrites = new Set(['25006', '25001'])

/** The connection or its server is gone, or is none that takes writes: who asks again may reach another. */
const lost = new Set([
  ...takesNoWrites,
  '25P03',
  '53300',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])
/** Errors of pg that have no code. */
const lostMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered|Client was closed)/
/** Another transaction was in the way: by what it changed, or by a lock. */
const contended = new Set(['40001', '40P01', '55P03'])
/** The server is there, but was hindered: by another transaction, a limit of time, a broken disk. */
const hindered = new Set([...contended, '57014', '58030'])

/** Whether the server did it was on its way to us when the connection was lost: transaction_resolution_unknown. */
export const outcomeUnknown = '08007'

/** Nothing was heard from the server for too long: connection_failure. */
export const noResponse = '08006'

/** What this program itself finds unavailable, under a code of PostgreSQL. */
export class Unavailable extends Error {
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Whether it was known only after a while that the server had gone. */
export const isWithoutResponse = (error: unknown): boolean =>
  error instanceof Unavailable && (error.code === noResponse || isWithoutResponse(error.cause))

/** Whether the server of a shard failed, and the one that we asked told us: others are served. */
export const isShardLost = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.severity === 'ERROR' && /^0800[136]$/.test(error.code ?? '')

/** Whether nothing can have been written. */
export const isWriteRefused = (error: unknown): boolean => error instanceof Error && takesNoWrites.has(codeOf(error))

/** Whether a connection failed, rather than what was asked over it. */
export const isConnectionLost = (error: unknown): boolean => {
  if (!(error instanceof Error) || isShardLost(error)) return false
  const code = codeOf(error)
  return lost.has(code) || code.startsWith('08') || code.startsWith('ECONN') || lostMessages.test(error.message)
}

/** Whether another transaction was in the way, which says nothing of the server. */
export const isContended = (error: unknown): boolean => contended.has(codeOf(error))

/** Whether the server is there, and ended a statement by itself. */
export const isHindered = (error: unknown): boolean => error instanceof Error && hindered.has(codeOf(error))

/** Whether nothing was done, and would be if it were asked for once more. */
export const isWorthRepeating = (error: unknown): boolean =>
  error instanceof Error &&
  codeOf(error) !== outcomeUnknown &&
  (isConnectionLost(error) || codeOf(error) === '40001' || codeOf(error) === '40P01')

/** Whether the same request may succeed later, without anybody's doing or after an operator's. */
export const isUnavailable = (error: unknown): error is Error =>
  isConnectionLost(error) ||
  isShardLost(error) ||
  // Class 53 is full disks, memory and connections.
  (error instanceof Error && (hindered.has(codeOf(error)) || codeOf(error).startsWith('53')))
