import pg from 'pg'
import { version } from '../../version.ts'
import { connectionOf } from '../pg-internals/undeclared.ts'
import { noResponse, outcomeUnknown, Unavailable } from './unavailable.ts'

// int8 counts and positions stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export const openingMilliseconds = 2_000

/** What sessions are called, so that others see which versions use the database. */
export const sessionName = `masthead ${version}`

export const clientOptions = (connectionString: string): pg.ClientConfig => ({
  connectionString,
  pipeline: true,
  application_name: sessionName,
  connectionTimeoutMillis: openingMilliseconds,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
})

/** At once, whatever the server still says: all that waits for an answer fails with this error. */
export const breakOff = (client: pg.ClientBase, error: Error): void => {
  const connection = connectionOf(client)
  connection.emit('error', error)
  connection.stream.destroy()
}

/** The function of PostgreSQL in which a commit waits for its standby. Its messages are translated, its name is not. */
const waitForStandby = 'SyncRepWaitForLSN'

/** A connection that fails takes with it what is asked over it, and nothing else. */
export const watch = (client: pg.ClientBase): void => {
  // Without a listener a lost connection ends the process.
  client.on('error', () => {})
  // Of a commit whose wait was canceled PostgreSQL says this first, and then that it is done.
  client.on('notice', ({ routine }) => {
    if (routine !== waitForStandby) return
    breakOff(client, new Unavailable(outcomeUnknown, 'the wait for a standby was canceled'))
  })
}

export const newClient = (options: pg.ClientConfig): pg.Client => {
  const client = new pg.Client(options)
  watch(client)
  return client
}

/** Breaks the connection off when no answer comes. (`query_timeout` of pg does the same, but left callers waiting after a crash.) */
export const answered = async <T>(client: pg.ClientBase, answer: Promise<T>, milliseconds: number): Promise<T> => {
  const giveUp = () =>
    breakOff(client, new Unavailable(noResponse, `the database did not answer within ${milliseconds / 1_000} s`))
  let unread: NodeJS.Immediate | undefined
  // A thread that was busy for as long reads first what has arrived meanwhile.
  const tooLong = setTimeout(() => (unread = setImmediate(giveUp)), milliseconds)
  try {
    return await answer
  } catch (error) {
    // It was made where the answer was read, which does not say who asked.
    if (error instanceof Error) Error.captureStackTrace(error)
    throw error
  } finally {
    clearTimeout(tooLong)
    clearImmediate(unread)
  }
}

/** A server that does not answer the farewell is left without. */
export const end = async (client: pg.Client): Promise<void> => {
  const waited = setTimeout(() => connectionOf(client).stream.destroy(), openingMilliseconds)
  await client.end()
  clearTimeout(waited)
}

/** A connection for as long as the work takes. */
export const withClient = async <T>(
  connectionString: string,
  work: (client: pg.Client) => Promise<T>,
  options: pg.ClientConfig = {},
): Promise<T> => {
  const client = newClient({ ...clientOptions(connectionString), pipeline: false, ...options })
  try {
    await client.connect()
    return await work(client)
  } finally {
    await end(client).catch(() => {})
  }
}
