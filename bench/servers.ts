import { once } from 'node:events'
import type pg from 'pg'
import type { Kept } from './limits/memory.ts'
import { processorTimeOf } from './processor-time.ts'
import { connectAsSuperuser, postmasterOf, type Rival, type Served, serve, startRival } from './served.ts'
import type { HttpServer } from './workloads.ts'

/** Masthead, the limits and the peer, each one thread in a process of its own, on one PostgreSQL. */
export type Servers = {
  masthead: Served
  origins: Record<HttpServer, string>
  /** Seconds that the processor has worked for a server and for PostgreSQL. */
  processorTime: (server: HttpServer) => number
  database: pg.Client
  keep: (answers: Kept[]) => Promise<void>
  stop: () => Promise<void>
}

export const startServers = async (dataDirectory: string): Promise<Servers> => {
  const masthead = await serve(dataDirectory)
  const stops = [masthead.stop]
  const stop = async () => {
    for (const one of stops) await one()
  }
  const start = async (file: string): Promise<Rival> => {
    const rival = await startRival(dataDirectory, file)
    stops.unshift(rival.stop)
    return rival
  }
  try {
    const database = await connectAsSuperuser(dataDirectory)
    stops.unshift(() => database.end())
    await requireDurable(database)
    const memory = await start('./limits/memory.ts')
    const stored = await start('./limits/stored.ts')
    const peer = await start('./peers/express-typeorm.ts')
    const pids = { masthead: masthead.pid, memory: memory.pid, stored: stored.pid, peer: peer.pid }
    const postmaster = await postmasterOf(dataDirectory)
    return {
      masthead,
      processorTime: (server) => processorTimeOf(pids[server], postmaster),
      origins: { masthead: masthead.origin, memory: memory.origin, stored: stored.origin, peer: peer.origin },
      database,
      keep: async (answers) => {
        memory.child.send(answers)
        await once(memory.child, 'message')
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const requireDurable = async (database: pg.Client): Promise<void> => {
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const { rows } = await database.query(`show ${setting}`)
    if (rows[0]?.[setting] !== 'on') throw new Error(`writes say nothing with ${setting} = ${rows[0]?.[setting]}`)
  }
}
