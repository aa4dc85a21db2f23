import { roles } from '@masthead/contract'
import type { CanaryToken } from './canary-tokens.ts'
import type { ServiceResponse } from './live-service.ts'
import type { TableReport } from './queries.ts'
import type { Plan } from './requests.ts'

/** Every kind of token that opens something: personal ones by the role of their user, and the others. */
export const kinds = [...roles, 'service', 'delegated'] as const

/** Something of one tenant that shows in another, or a table that would let it. */
type Leak = {
  operation: string | null
  table: string | null
  token: string | null
  seen: string
  /** The first request that showed it, by which the log can be searched. */
  requestId: string | null
  times: number
}

/** One column counts tokens that must be refused and those that lack a scope. */
const refused = 'refused'
export const columns: readonly string[] = [...kinds, refused]
const columnOf = ({ kind }: CanaryToken): string => (columns.includes(kind) ? kind : refused)

export type ProbeReport = ReturnType<Report['summary']>

export class Report {
  readonly leaks: Leak[] = []
  /** What the probe could not look at, although it should. */
  readonly notProbed: string[] = []
  /** What it did not look at for a good reason. */
  readonly notes: string[] = []
  readonly tables: string[] = []
  requests = 0
  /** How many requests were sent for each operation, by kind of token. */
  readonly #operations = new Map<string, Record<string, number>>()

  summary(url: string) {
    const { leaks, notProbed, notes, tables, requests } = this
    const operations = [...this.#operations].map(([operation, byToken]) => ({
      operation,
      requests: Object.values(byToken).reduce((sum, count) => sum + count, 0),
      byToken,
      leaks: leaks.filter((leak) => leak.operation === operation).length,
    }))
    return {
      url,
      isClean: leaks.length + notProbed.length === 0,
      requests,
      leaks,
      notProbed,
      notes,
      operations,
      tables,
    }
  }

  count({ operation }: Plan, token: CanaryToken): void {
    this.requests++
    const counts = this.#operations.get(operation.name) ?? {}
    counts[columnOf(token)] = (counts[columnOf(token)] ?? 0) + 1
    this.#operations.set(operation.name, counts)
  }

  addLeak({ operation }: Plan, { kind }: CanaryToken, { requestId }: ServiceResponse, seen: string): void {
    this.#add({ operation: operation.name, token: kind, requestId, seen })
  }

  addChange(place: { operation?: string; table?: string }): void {
    this.#add({ ...place, seen: 'changed by calls of the other tenant' })
  }

  addTables({ tables, leaks, notProbed }: TableReport): void {
    this.tables.push(...tables)
    for (const leak of leaks) this.#add(leak)
    for (const { table, seen } of notProbed) this.notProbed.push(`the table ${table}: ${seen}`)
  }

  /** Lists a leak once, however often it was seen. */
  #add(found: Partial<Leak> & { seen: string }): void {
    const leak = { operation: null, table: null, token: null, requestId: null, times: 1, ...found }
    const known = this.leaks.find(
      ({ operation, table, token, seen }) =>
        operation === leak.operation && table === leak.table && token === leak.token && seen === leak.seen,
    )
    if (known) known.times++
    else this.leaks.push(leak)
  }

  addNotProbed({ operation }: Plan, why: string): void {
    const line = `${operation.name}: ${why}`
    if (!this.notProbed.includes(line)) this.notProbed.push(line)
  }
}
