import { once } from 'node:events'
import type pg from 'pg'
import type { Kept } from './limits/memory.ts'
import { buildGo } from './peers/go.ts'
import { processorTimeOf } from './processor-time.ts'
import { connectAsSuperuser, postmasterOf, type Rival, type Served, serve, startProgram, startRival } from './served.ts'
import type { HttpServer, Origins } from './workloads.ts'

/** Masthead, the limits and the peers, each in a process of its own, on one PostgreSQL. */
export type Servers = {
  masthead: Served
  origins: Origins
  /** Why there is no peer in Go, where there is none. */
  missing: string | null
  /** Seconds that the processor has worked for a server and for PostgreSQL. */
  processorTime: (server: HttpServer) => number
  database: pg.Client
  keep: (responses: Kept[]) => Promise<void>
  stop: () => Promise<void>
}

export const startServers = async (dataDirectory: string): Promise<Servers> => {
  const masthead = await serve(dataDirectory)
  const stops = [masthead.stop]
  const stop = async () => {
    for (const one of stops) await one()
  }
  const started = async (starting: Promise<Rival>): Promise<Rival> => {
    const rival = await starting
    stops.unshift(rival.stop)
    return rival
  }
  try {
    const database = await connectAsSuperuser(dataDirectory)
    stops.unshift(() => database.end())
    await requireDurable(database)
    const memory = await started(startRival(dataDirectory, './limits/memory.ts'))
    const stored = await started(startRival(dataDirectory, './limits/stored.ts'))
    const express = await started(startRival(dataDirectory, './peers/express-typeorm.ts'))
    const built = buildGo(dataDirectory)
    const inGo = 'program' in built && {
      go: await started(startProgram(dataDirectory, built.program, [])),
      tunedGo: await started(startProgram(dataDirectory, built.program, ['-tuned'])),
    }
    const all = { masthead, memory, stored, express, ...inGo }
    const postmaster = await postmasterOf(dataDirectory)
    return {
      masthead,
      processorTime: (server) => processorTimeOf(all[server]?.pid ?? 0, postmaster),
      origins: {
        masthead: masthead.origin,
        memory: memory.origin,
        stored: stored.origin,
        express: express.origin,
        ...(inGo && { go: inGo.go.origin, tunedGo: inGo.tunedGo.origin }),
      },
      missing: 'missing' in built ? built.missing : null,
      database,
      keep: async (responses) => {
        memory.child.send(responses)
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
