import type { Database } from './database.ts'
import { clock } from './revisions.ts'

const pollMilliseconds = 250

type Change = { tenant: string; resource: string; stamp: string }

/** Asks for what other processes wrote, and moves its revisions. One for each process. */
export class RevisionPoller {
  readonly #database: Database
  /** The stamps of the last answer, which the next may hold again. */
  #seen = new Map<string, string>()
  #since = '0'
  #counted = { at: clock(), requests: 0, eachSecond: 0 }
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(database: Database) {
    this.#database = database
    this.#pollInTurn()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#polling
  }

  #pollInTurn(): void {
    if (this.#isStopped) return
    // While the database does not answer nothing is known, and whoever reads it hears why.
    this.#polling = this.#poll().catch(() => {})
    void this.#polling.then(() => {
      this.#timer = setTimeout(() => this.#pollInTurn(), pollMilliseconds).unref()
      if (this.#isStopped) clearTimeout(this.#timer)
    })
  }

  async #poll(): Promise<void> {
    const { revisions, poll: ask } = this.#database
    const asked = clock()
    this.#countRequests(asked)
    const [answer] = await ask<{ oldest: string; isNew: boolean; changes: Change[] }>({
      text: poll,
      values: [this.#since, sessionName(this.#counted.eachSecond)],
    })
    if (!answer) return
    const { oldest, isNew, changes } = answer
    // Nobody can tell what was written before this connection was made, perhaps to a server that has taken the place of
    // another and counts its transactions anew.
    if (isNew) revisions.moveAll()
    const seen = new Map<string, string>()
    for (const { tenant, resource, stamp } of changes) {
      const name = `${tenant} ${resource}`
      seen.set(name, stamp)
      if (this.#seen.get(name) !== stamp) revisions.move(tenant)
    }
    this.#seen = seen
    this.#since = oldest
    revisions.noteKnown(asked)
  }

  #countRequests(now: number): void {
    const seconds = (now - this.#counted.at) / 1_000
    if (seconds >= 0 && seconds < 1) return
    const { requests } = this.#database.revisions
    const eachSecond = Math.max(0, Math.round((requests - this.#counted.requests) / seconds))
    this.#counted = { at: now, requests, eachSecond }
  }
}

const sessionName = (requestsEachSecond: number): string => `masthead, ${requestsEachSecond} requests/s`

/** How many requests all processes answer in a second: each names its session after those of its last second. */
export const requestsEachSecond = `
  select coalesce(sum(substring(application_name from '^masthead, ([0-9]+) requests/s$')::integer), 0) as requests
  from pg_stat_activity where datname = current_database()`

/**
 * All of one moment: what was stamped by a transaction that had not ended at the time of the last answer. Stamps of the
 * future came with the dump of another server.
 */
const poll = `
  select pg_snapshot_xmin(now.snapshot)::text as oldest,
    coalesce(current_setting('masthead.polled', true), '') = '' as "isNew",
    case when coalesce(current_setting('masthead.polled', true), '') = '' then '[]'::json else (
      select coalesce(json_agg(json_build_object('tenant', tenant, 'resource', resource, 'stamp', changed_in::text)), '[]')
      from (
        select tenant_id::text as tenant, resource, changed_in from stamps
        where changed_in >= $1::xid8 and changed_in < pg_snapshot_xmax(now.snapshot)
        union all
        select '', '', changed_in from identity_revision
        where changed_in >= $1::xid8 and changed_in < pg_snapshot_xmax(now.snapshot)
      ) as stamped
    ) end as changes,
    set_config('masthead.polled', 'yes', false), set_config('application_name', $2, false)
  from (select pg_current_snapshot() as snapshot) as now`
