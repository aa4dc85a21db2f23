import type { Database } from './database.ts'
import { clock } from './revisions.ts'

const pollMilliseconds = 250

type Change = { tenant: string; resource: string; stamp: string }

/** Asks for what other processes wrote, and moves its revisions. One for each process. */
export class RevisionPoller {
  readonly #database: Database
  /** The stamps of the last answer, which the next may hold again. */
  #seen = new Map<string, string>()
  #since: string | null = null
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
    const { revisions, read } = this.#database
    const asked = clock()
    const since = this.#since ?? '0'
    const [answer] = await read<{ oldest: string; isBehind: boolean; changes: Change[] }>({
      text: poll,
      values: [since],
    })
    if (!answer) return
    const { oldest, isBehind, changes } = answer
    const seen = new Map<string, string>()
    for (const { tenant, resource, stamp } of changes) {
      const name = `${tenant} ${resource}`
      seen.set(name, stamp)
      if (this.#seen.get(name) !== stamp) revisions.move(tenant)
    }
    // Another database, whose transactions are counted anew: what it changed before cannot be told.
    if (isBehind) revisions.moveAll()
    this.#seen = seen
    this.#since = oldest
    revisions.noteKnown(asked)
  }
}

/** All of one moment. At the first time there is nothing to move, for nothing can have been kept. */
const poll = `
  select pg_snapshot_xmin(now.snapshot)::text as oldest, pg_snapshot_xmin(now.snapshot) < $1::xid8 as "isBehind",
    case when $1 = '0' then '[]'::json else (
      select coalesce(json_agg(json_build_object('tenant', tenant, 'resource', resource, 'stamp', stamp::text)), '[]')
      from changes_since($1::xid8)
    ) end as changes
  from (select pg_current_snapshot() as snapshot) as now`
