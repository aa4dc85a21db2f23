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
    const [answer] = await ask<{ oldest: string; isNew: boolean; changes: Change[] }>({
      text: poll,
      values: [this.#since],
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
}

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
    set_config('masthead.polled', 'yes', false)
  from (select pg_current_snapshot() as snapshot) as now`
