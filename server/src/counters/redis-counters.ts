import { hash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { type Budget, type Counters, type Demand, type Taken, type Window, windowMilliseconds } from './counters.ts'
import { scripts } from './redis-scripts.ts'

/** How long a request waits for Redis before it goes on without. */
const timeoutMilliseconds = 100
const connectMilliseconds = 1_000
const pauseMilliseconds = 500
/** A node that crashed never says that its requests are over. No request should take longer than this. */
const leaseMilliseconds = 30_000
const mostUnheard = 10_000

export type Warn = (message: string, error?: unknown) => void

type Lease = { key: string; name: string }

const newClient = (url: string) =>
  createClient({
    ...{ url, scripts, RESP: 2 },
    // Whoever loses a connection opens another, so that none is half alive.
    ...{ socket: { connectTimeout: connectMilliseconds, reconnectStrategy: false }, disableOfflineQueue: true },
  })
type Client = ReturnType<typeof newClient>

/**
 * Counts together with all nodes on one Redis. While it does not answer, each node counts on its own: that lets too much
 * through, but refuses nobody who may call.
 */
export class RedisCounters implements Counters {
  readonly #url: string
  readonly #local: Counters
  readonly #warn: Warn
  readonly #node = randomUUID()
  readonly #closing = new AbortController()
  #leases = 0
  #client: Client | null = null
  /** Ends of requests that Redis may not have heard of. */
  #unheard: Lease[] = []

  private constructor(url: string, local: Counters, warn: Warn) {
    this.#url = url
    this.#local = local
    this.#warn = warn
  }

  /** Waits for Redis a moment; serves without it when it is not there. */
  static async open(url: string, local: Counters, warn: Warn): Promise<RedisCounters> {
    const counters = new RedisCounters(url, local, warn)
    await counters.#connect().catch((error) => void counters.#goWithout(error))
    return counters
  }

  take(demand: Demand): Taken | Promise<Taken> {
    const client = this.#client
    return client ? this.#takeFrom(client, demand) : this.#local.take(demand)
  }

  look(from: Demand['from'], budget: Budget): Window | Promise<Window> {
    const client = this.#client
    return client ? this.#lookInto(client, from, budget) : this.#local.look(from, budget)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const client = this.#client
    this.#client = null
    if (client) await inTime(client.close(), connectMilliseconds).catch(() => client.destroy())
  }

  async #lookInto(client: Client, from: Demand['from'], budget: Budget): Promise<Window> {
    const key = windowKey(budget)
    try {
      const [used, left] = await inTime(Promise.all([client.get(key), client.pTTL(key)]), timeoutMilliseconds)
      return { used: Number(used ?? 0), millisecondsLeft: left > 0 ? left : windowMilliseconds }
    } catch (error) {
      this.#lose(client, error)
      return this.#local.look(from, budget)
    }
  }

  async #takeFrom(client: Client, demand: Demand): Promise<Taken> {
    const { budgets, atOnce } = demand
    const keys = budgets.map(windowKey)
    const lease =
      atOnce === undefined
        ? null
        : { key: `masthead:running:${digest(budgets[0].key)}`, name: `${this.#node}:${++this.#leases}` }
    try {
      const quotas = budgets.map(({ quota }) => String(quota))
      const [refused = 0, ...answer] = await inTime(
        client.take(
          [...keys, ...(lease ? [lease.key] : [])],
          [
            String(windowMilliseconds),
            ...quotas,
            ...(lease ? [String(atOnce), String(leaseMilliseconds), lease.name] : []),
          ],
        ),
        timeoutMilliseconds,
      )
      const answeredAt = performance.now()
      const windows = keys.map((_key, place) => ({
        used: answer[2 * place] ?? 0,
        millisecondsLeft: answer[2 * place + 1] ?? windowMilliseconds,
      }))
      if (refused !== 0)
        return { windows, refusedBy: refused < 0 ? 'atOnce' : refused - 1, refund: () => {}, leave: () => {} }
      return {
        ...{ windows, refusedBy: null },
        refund: () => {
          // Only in windows that last: in another one it would be a gift.
          const passed = performance.now() - answeredAt
          const lasting = keys.filter((_key, place) => passed < (windows[place]?.millisecondsLeft ?? 0))
          if (lasting.length > 0) client.refund(lasting).catch(() => {})
          for (const window of windows) window.used--
        },
        leave: () => {
          if (lease) this.#release([lease])
        },
      }
    } catch (error) {
      this.#lose(client, error)
      if (lease) this.#release([lease])
      return this.#local.take(demand)
    }
  }

  #release(leases: Lease[]): void {
    const client = this.#client
    for (const lease of leases) {
      const heard = client?.zRem(lease.key, lease.name) ?? Promise.reject(new Error('there is no Redis'))
      heard.catch(() => {
        if (this.#unheard.length < mostUnheard) this.#unheard.push(lease)
      })
    }
  }

  async #connect(): Promise<void> {
    const client = newClient(this.#url)
    client.on('error', (error) => this.#lose(client, error))
    try {
      await inTime(client.connect(), connectMilliseconds)
      await inTime(probe(client), timeoutMilliseconds)
    } catch (error) {
      client.destroy()
      throw error
    }
    if (this.#closing.signal.aborted) return client.destroy()
    this.#client = client
    this.#release(this.#unheard.splice(0))
  }

  #lose(client: Client, error: unknown): void {
    client.destroy()
    if (client !== this.#client) return
    this.#client = null
    void this.#goWithout(error)
  }

  async #goWithout(error: unknown): Promise<void> {
    const { signal } = this.#closing
    this.#warn('Redis does not answer: requests are counted on this node alone', error)
    while (!signal.aborted) {
      await delay(pauseMilliseconds, undefined, { ref: false, signal }).catch(() => {})
      if (signal.aborted) return
      const isBack = await this.#connect().then(
        () => true,
        () => false,
      )
      if (isBack) return this.#warn('Redis answers again: requests are counted with the other nodes')
    }
  }
}

/** One that is a replica by now, or full, answers too, but cannot count. And from now on it knows both scripts. */
const probe = async (client: Client): Promise<void> => {
  const key = 'masthead:probe'
  await client.take([key], [String(windowMilliseconds), String(Number.MAX_SAFE_INTEGER)])
  await client.refund([key])
}

const windowKey = ({ key }: Budget): string => `masthead:window:${digest(key)}`

/** Neither a token nor an address can be read from it. */
const digest = (key: string): string => hash('sha256', key, 'base64url').slice(0, 22)

/**
 * The time passes in steps, of which a process that is too busy to look at its sockets misses some: then it is not Redis
 * that is slow, and the command may not even have been sent.
 */
const inTime = <T>(answer: Promise<T>, milliseconds: number): Promise<T> =>
  new Promise((resolve, reject) => {
    let steps = 4
    const step = () => {
      if (steps-- === 0) reject(new Error(`there was no answer within ${milliseconds} ms`))
      else timer = setTimeout(step, milliseconds / 4)
    }
    let timer: NodeJS.Timeout | undefined
    step()
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
