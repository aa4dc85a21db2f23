import { hash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@redis/client'
import type { Budget, Counters, Demand, Taken, Window } from './counters.ts'
import { refusal, windowMilliseconds } from './counters.ts'
import { scripts } from './redis-scripts.ts'

/** How long a request waits for Redis before it is counted on this node. */
const timeoutMilliseconds = 100
const connectTimeoutMilliseconds = 1_000
const reconnectMilliseconds = 500
/** A node that crashes does not release its requests. No request should take longer than this. */
const leaseMilliseconds = 30_000
const mostUnreleased = 10_000

type Warn = (message: string, error?: unknown) => void
type Lease = { key: string; name: string }
type Client = ReturnType<typeof newClient>

const newClient = (url: string) =>
  createClient({
    url,
    scripts,
    RESP: 2,
    // After a failure a new client is opened, so that none is half alive.
    socket: { connectTimeout: connectTimeoutMilliseconds, reconnectStrategy: false },
    disableOfflineQueue: true,
  })

/**
 * Counts together with all nodes on one Redis. While Redis does not respond, each node counts on its own: that lets too many
 * requests through, but refuses none that is allowed. Opening waits a moment for Redis, and goes on without it.
 */
export const openRedisCounters = async (url: string, local: Counters, warn: Warn) => {
  const node = randomUUID()
  const closing = new AbortController()
  const { signal } = closing
  let leases = 0
  let current: Client | null = null
  /** Leases of finished requests that Redis may still hold. */
  const unreleased: Lease[] = []

  const release = (lease: Lease): void => {
    const released = current?.zRem(lease.key, lease.name) ?? Promise.reject(new Error('there is no Redis'))
    released.catch(() => {
      if (unreleased.length < mostUnreleased) unreleased.push(lease)
    })
  }

  const connect = async (): Promise<void> => {
    const client = newClient(url)
    client.on('error', (error) => disconnect(client, error))
    try {
      await withTimeout(client.connect(), connectTimeoutMilliseconds)
      await withTimeout(probe(client), timeoutMilliseconds)
    } catch (error) {
      client.destroy()
      throw error
    }
    if (signal.aborted) return client.destroy()
    current = client
    for (const lease of unreleased.splice(0)) release(lease)
  }

  const reconnect = async (cause: unknown): Promise<void> => {
    warn('Redis does not answer: requests are counted on this node alone', cause)
    while (!signal.aborted) {
      await delay(reconnectMilliseconds, undefined, { ref: false, signal }).catch(() => {})
      if (signal.aborted) return
      const isBack = await connect().then(
        () => true,
        () => false,
      )
      if (isBack) return warn('Redis answers again: requests are counted with the other nodes')
    }
  }

  const disconnect = (client: Client, cause: unknown): void => {
    client.destroy()
    if (client !== current) return
    current = null
    void reconnect(cause)
  }

  const take = async (client: Client, demand: Demand): Promise<Taken> => {
    const { budgets, atOnce } = demand
    const keys = budgets.map(windowKey)
    const quotas = budgets.map(({ quota }) => String(quota))
    const lease =
      atOnce === undefined ? null : { key: `masthead:running:${digest(budgets[0].key)}`, name: `${node}:${++leases}` }
    const leaseValues = lease ? [String(atOnce), String(leaseMilliseconds), lease.name] : []
    try {
      const [refused = 0, ...reply] = await withTimeout(
        client.take(lease ? [...keys, lease.key] : keys, [String(windowMilliseconds), ...quotas, ...leaseValues]),
        timeoutMilliseconds,
      )
      const repliedAt = performance.now()
      const windows = keys.map((_key, index) => ({
        used: reply[2 * index] ?? 0,
        millisecondsLeft: reply[2 * index + 1] ?? windowMilliseconds,
      }))
      if (refused !== 0) return refusal(windows, refused < 0 ? 'atOnce' : refused - 1)
      return {
        windows,
        refusedBy: null,
        refund: () => {
          // A window that began since must not be credited.
          const passed = performance.now() - repliedAt
          const open = keys.filter((_key, index) => passed < (windows[index]?.millisecondsLeft ?? 0))
          if (open.length > 0) client.refund(open).catch(() => {})
          for (const window of windows) window.used--
        },
        leave: () => {
          if (lease) release(lease)
        },
      }
    } catch (error) {
      disconnect(client, error)
      if (lease) release(lease)
      return local.take(demand)
    }
  }

  const look = async (client: Client, from: Demand['from'], budget: Budget): Promise<Window> => {
    const key = windowKey(budget)
    try {
      const [used, left] = await withTimeout(Promise.all([client.get(key), client.pTTL(key)]), timeoutMilliseconds)
      return { used: Number(used ?? 0), millisecondsLeft: left > 0 ? left : windowMilliseconds }
    } catch (error) {
      disconnect(client, error)
      return local.look(from, budget)
    }
  }

  await connect().catch((error) => void reconnect(error))
  return {
    take: (demand: Demand) => (current ? take(current, demand) : local.take(demand)),
    look: (from: Demand['from'], budget: Budget) => (current ? look(current, from, budget) : local.look(from, budget)),
    close: async () => {
      closing.abort()
      const client = current
      current = null
      if (client) await withTimeout(client.close(), connectTimeoutMilliseconds).catch(() => client.destroy())
    },
  }
}

/** A Redis that is a replica by now, or full, responds too but cannot count. The probe also loads both scripts. */
const probe = async (client: Client): Promise<void> => {
  const key = 'masthead:probe'
  await client.take([key], [String(windowMilliseconds), String(Number.MAX_SAFE_INTEGER)])
  await client.refund([key])
}

const windowKey = ({ key }: Budget): string => `masthead:window:${digest(key)}`

/** Redis must not hold tokens or addresses. */
const digest = (key: string): string => hash('sha256', key, 'base64url').slice(0, 22)

/**
 * The timeout passes in steps, some of which a process that is too busy to read its sockets misses: then Redis is not slow,
 * and the command may not even have been sent.
 */
const withTimeout = <T>(reply: Promise<T>, milliseconds: number): Promise<T> =>
  new Promise((resolve, reject) => {
    let steps = 4
    const step = () => {
      if (steps-- === 0) reject(new Error(`there was no answer within ${milliseconds} ms`))
      else timer = setTimeout(step, milliseconds / 4)
    }
    let timer: NodeJS.Timeout | undefined
    step()
    reply.then(resolve, reject).finally(() => clearTimeout(timer))
  })
